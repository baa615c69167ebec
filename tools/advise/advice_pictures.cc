#include "tools/advise/advice_pictures.h"

#include <algorithm>
#include <optional>
#include <ranges>
#include <string_view>

#include "analysis/visual/histogram.h"
#include "base/text/formatted.h"
#include "base/text/markdown.h"

namespace reprise {
namespace {

/// The browser takes the frame that shows a paint within this time of it.
constexpr double kFrameLateMs = 50;

struct SeenMoment {
  double paint_ms = 0;
  double at_ms = 0;  ///< of the frame that shows it
  std::string_view what;
};

std::optional<SeenMoment> moment_of(const TraceVisuals& visuals) {
  if (visuals.frames.empty()) return std::nullopt;
  SeenMoment moment{.paint_ms = visuals.frames.back().at_ms, .what = "last frame"};
  if (visuals.largest_paint) {
    moment = {.paint_ms = visuals.largest_paint->at_ms, .what = "largest paint"};
  } else if (visuals.first_contentful_paint_ms) {
    moment = {.paint_ms = *visuals.first_contentful_paint_ms, .what = "first contentful paint"};
  }
  auto const latest_ms = moment.paint_ms + kFrameLateMs;
  moment.at_ms = moment.paint_ms;
  for (const TraceVisuals::Frame& frame : visuals.frames) {
    if (frame.at_ms <= latest_ms) moment.at_ms = std::max(moment.at_ms, frame.at_ms);
  }
  // On a busy machine, the first frame can be later than that.
  if (visuals.frames.front().at_ms > latest_ms) moment.at_ms = visuals.frames.front().at_ms;
  return moment;
}

std::string jpeg_at(const TraceVisuals& visuals, double at_ms) {
  for (const TraceVisuals::Frame& frame : visuals.frames | std::views::reverse) {
    if (frame.at_ms <= at_ms && histogram_of_jpeg(frame.jpeg)) return frame.jpeg;
  }
  return {};
}

std::string picture_name(std::size_t side, std::size_t pair, const char* which) {
  return "picture-" + std::to_string(side) + "-" + std::to_string(pair) + "-" + which + ".jpg";
}

/// A cell of the table.
std::string picture_cell(const std::string& jpeg, const std::string& alternative,
                         const std::string& name) {
  return jpeg.empty() ? "nothing yet" : "![" + alternative + "](" + name + ")";
}

std::string table_of(const ChangePictures& change) {
  std::string text =
      "| after | as recorded | changed |\n"
      "|---|---|---|\n";
  for (std::size_t i = 0; i < change.pairs.size(); ++i) {
    auto const& pair = change.pairs[i];
    auto const side = change.changed.side;
    auto const time = ms_text(pair.at_ms);
    text += "| " + time + ", " + pair.moment + " | " +
            picture_cell(pair.recorded, "as recorded after " + time,
                         recorded_picture_name(side, i + 1)) +
            " | " +
            picture_cell(pair.changed, "changed after " + time, changed_picture_name(side, i + 1)) +
            " |\n";
  }
  return text;
}

}  // namespace

std::vector<PicturePair> picture_pairs(const TraceVisuals& recorded, const TraceVisuals& changed) {
  std::vector<PicturePair> pairs;
  auto const add = [&](const SeenMoment& moment, const char* whose) {
    pairs.push_back({.at_ms = moment.at_ms,
                     .moment = std::string(moment.what) + " of the " + whose,
                     .recorded = jpeg_at(recorded, moment.at_ms),
                     .changed = jpeg_at(changed, moment.at_ms)});
  };
  auto const after = moment_of(changed);
  if (!after) return pairs;
  add(*after, "changed page");
  auto const before = moment_of(recorded);
  if (before && before->paint_ms > after->at_ms) add(*before, "page as recorded");
  return pairs;
}

std::string recorded_picture_name(std::size_t side, std::size_t pair) {
  return picture_name(side, pair, "recorded");
}

std::string changed_picture_name(std::size_t side, std::size_t pair) {
  return picture_name(side, pair, "changed");
}

std::string pictures_markdown(std::span<const ChangePictures> changes,
                              const AdvicePictures& pictures, bool has_view) {
  std::string text;
  if (has_view) {
    text += std::string("\n[view.html](view.html) shows the loads") +
            (pictures.seen.empty() ? "" : ", and all frames of the traced ones") + ".\n";
  }
  if (!changes.empty()) {
    text +=
        "\n## Before and after\n\nThe pictures are of one load each, made after the measuring. A "
        "trace slowed it, and it does not count.\n";
  }
  for (const ChangePictures& each : changes) {
    text += "\n### " + safe_text(each.changed.title, true) + "\n\n" + table_of(each);
  }
  for (const std::string& each : pictures.missing) {
    text += "\nNote: " + safe_text(each, true) + ".\n";
  }
  return text;
}

}  // namespace reprise
