#include "analysis/visual/trace_visuals.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include "analysis/sources/json_walk.h"
#include "analysis/sources/trace_navigation.h"
#include "archive/import/source/opened_file.h"
#include "base/text/base64.h"

namespace reprise {
namespace {

using importing::JsonKind;
using importing::JsonReader;

constexpr std::size_t kVisualEventsMax = 1'000'000;
/// Later times are invalid: 30 years.
constexpr double kVisualMsMax = 1e12;
constexpr double kPixelsMax = 1e12;

/// As far as it is needed here.
struct VisualEvent {
  std::size_t index = 0;  ///< in the trace
  std::string name;
  double at_us = 0;
  double length_us = 0;
  double process = 0;
  double thread = 0;
  std::string frame;
  std::string url;
  std::string blocking;  ///< of a request: how it blocks rendering
  std::string node;
  std::string type;
  std::string snapshot;  ///< base64
  double pixels = 0;
  bool outermost = false;
};

bool is_wanted(const VisualEvent& event) {
  if (event.name == "RunTask") return event.length_us >= kLongTaskMs * 1000;
  if (event.name == "ResourceSendRequest") return !event.blocking.empty();
  return event.name == "Screenshot" || event.name == "navigationStart" ||
         event.name == "fetchStart" || event.name == "firstContentfulPaint" ||
         event.name.starts_with("largestContentfulPaint::");
}

class VisualReader {
 public:
  explicit VisualReader(importing::ByteReader& from) : from_(from), json_(from) {}

  std::expected<TraceVisuals, std::string> run(std::span<const std::string> urls) {
    if (json_.peek() == JsonKind::kArray) {
      read_events();
    } else {
      for_members(json_, [this](std::string_view name) {
        name == "traceEvents" ? read_events() : json_.skip();
      });
    }
    json_.end();
    if (from_.failed()) return std::unexpected(from_.fault()->what);
    std::ranges::sort(events_, {},
                      [](const VisualEvent& event) { return std::pair(event.at_us, event.index); });
    if (!find_page(urls)) {
      return std::unexpected("it has no load of " +
                             (urls.empty() ? std::string("the page") : urls.front()));
    }
    for (VisualEvent& event : events_) take(event);
    if (visuals_.first_contentful_paint_ms) {
      visuals_.total_blocking_ms =
          blocking_ms(visuals_.long_tasks, *visuals_.first_contentful_paint_ms);
    }
    return std::move(visuals_);
  }

 private:
  std::string text() {
    bool is_cut = false;
    return limited_text(json_, is_cut);
  }
  /// Empty if it is too long: a part of a picture is damaged.
  std::string whole_text() {
    bool is_cut = false;
    auto whole = limited_text(json_, is_cut);
    return is_cut ? std::string() : whole;
  }
  std::string url() {
    bool is_cut = false;
    return limited_url(json_, is_cut);
  }
  double number() { return json_.number().value_or(0); }

  void read_events() {
    for_elements(json_, [this] {
      VisualEvent event;
      for_members(json_, [&](std::string_view name) { read_member(name, event); });
      frame_bytes_ += event.snapshot.size();
      if (frame_bytes_ > kSnapshotBytesMax / 3 * 4) event.snapshot.clear();
      if (is_wanted(event) && events_.size() < kVisualEventsMax) {
        event.index = events_.size();
        events_.push_back(std::move(event));
      }
    });
  }

  void read_member(std::string_view name, VisualEvent& event) {
    if (name == "name") {
      event.name = text();
    } else if (name == "ts") {
      event.at_us = number();
    } else if (name == "dur") {
      event.length_us = number();
    } else if (name == "pid") {
      event.process = number();
    } else if (name == "tid") {
      event.thread = number();
    } else if (name == "args") {
      for_members(json_, [&](std::string_view member) { read_argument(member, event); });
    } else {
      json_.skip();
    }
  }

  void read_argument(std::string_view name, VisualEvent& event) {
    if (name == "data" && json_.peek() == JsonKind::kObject) {
      for_members(json_, [&](std::string_view member) { read_argument(member, event); });
    } else if (name == "frame") {
      event.frame = text();
    } else if (name == "url" || name == "documentLoaderURL") {
      event.url = url();
    } else if (name == "renderBlocking") {
      event.blocking = text();
    } else if (name == "nodeName") {
      event.node = text();
    } else if (name == "type") {
      event.type = text();
    } else if (name == "snapshot") {
      event.snapshot = whole_text();
    } else if (name == "size") {
      event.pixels = number();
    } else if (name == "isOutermostMainFrame") {
      event.outermost = text() == "true";
    } else {
      json_.skip();
    }
  }

  /// The last navigation to the page, and the start of its first request.
  bool find_page(std::span<const std::string> urls) {
    auto const* const first = find_navigation(events_, urls);
    if (first == nullptr) return false;
    page_ = *find_last_navigation(events_, urls);
    start_us_ = first->at_us;
    auto const* const end = events_.data() + events_.size();
    auto const* const fetch = std::find_if(first, end, [&](const VisualEvent& event) {
      return event.name == "fetchStart" && event.frame == first->frame;
    });
    if (fetch != end) start_us_ = fetch->at_us;
    return true;
  }

  double ms_of(double at_us) const { return (at_us - start_us_) / 1000; }

  void take(VisualEvent& event) {
    double const at_ms = ms_of(event.at_us);
    if (!(std::abs(at_ms) <= kVisualMsMax) || !(event.length_us / 1000 <= kVisualMsMax)) return;
    if (event.name == "Screenshot") return take_frame(event, at_ms);
    if (event.process != page_.process || at_ms + event.length_us / 1000 <= 0) return;
    if (event.name == "RunTask") {
      if (event.thread != page_.thread) return;
      visuals_.long_tasks.push_back({at_ms, at_ms + event.length_us / 1000});
    } else if (event.frame != page_.frame) {
      return;
    } else if (event.name == "firstContentfulPaint") {
      visuals_.first_contentful_paint_ms = at_ms;
    } else if (event.name == "largestContentfulPaint::Candidate") {
      visuals_.largest_paint = {at_ms, std::move(event.node), std::move(event.type),
                                std::clamp(event.pixels, 0.0, kPixelsMax)};
    } else if (event.name == "largestContentfulPaint::Invalidate") {
      visuals_.largest_paint.reset();
    } else if (event.blocking == "blocking" || event.blocking == "in_body_parser_blocking") {
      if (event.url.empty() || !blocking_.insert(event.url).second) return;
      visuals_.render_blocking.push_back(event.url);
    }
  }

  void take_frame(const VisualEvent& event, double at_ms) {
    if (at_ms < 0 || visuals_.frames.size() >= kSnapshotsMax) return;
    auto jpeg = decode_base64(event.snapshot);
    if (!jpeg || jpeg->empty()) return;
    visuals_.frames.push_back({at_ms, std::move(*jpeg)});
  }

  importing::ByteReader& from_;
  JsonReader json_;
  std::vector<VisualEvent> events_;
  std::size_t frame_bytes_ = 0;
  VisualEvent page_;
  double start_us_ = 0;
  std::set<std::string> blocking_;
  TraceVisuals visuals_;
};

}  // namespace

std::expected<TraceVisuals, std::string> trace_visuals(importing::ByteReader& from,
                                                       std::span<const std::string> urls) {
  return VisualReader(from).run(urls);
}

std::expected<TraceVisuals, std::string> trace_visuals_of(const std::filesystem::path& path,
                                                          std::span<const std::string> urls) {
  auto file = importing::OpenedFile::open(path);
  if (!file) return std::unexpected(file.error());
  auto const source = file->source();
  importing::ByteReader reader(*source);
  return trace_visuals(reader, urls);
}

double blocking_ms(const std::vector<TraceVisuals::Task>& tasks, double from_ms) {
  double sum_ms = 0;
  for (const TraceVisuals::Task& task : tasks) {
    sum_ms += std::max(0.0, task.end_ms - std::max(task.start_ms, from_ms) - kLongTaskMs);
  }
  return sum_ms;
}

}  // namespace reprise
