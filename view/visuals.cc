#include "view/visuals.h"

#include <boost/json/array.hpp>
#include <optional>
#include <vector>

#include "analysis/visual/visual_progress.h"
#include "base/text/printable.h"

namespace json = boost::json;

namespace reprise {
namespace {

/// More long tasks than these are not shown.
constexpr std::size_t kTasksMax = 1000;

json::value value_of(const std::optional<double>& number) {
  return number ? json::value(*number) : json::value();
}

json::array tasks_of(const TraceVisuals& visuals) {
  json::array tasks;
  for (const TraceVisuals::Task& task : visuals.long_tasks) {
    if (tasks.size() == kTasksMax) break;
    tasks.push_back(json::array{task.start_ms, task.end_ms});
  }
  return tasks;
}

json::value largest_paint_of(const TraceVisuals& visuals) {
  if (!visuals.largest_paint) return {};
  const TraceVisuals::LargestPaint& paint = *visuals.largest_paint;
  return json::object{{"at_ms", paint.at_ms},
                      {"node", as_utf8(paint.node)},
                      {"type", as_utf8(paint.type)},
                      {"pixels", paint.pixels}};
}

}  // namespace

json::object add_visuals(const TraceVisuals& visuals, ViewModel& model) {
  json::array blocking;
  for (const std::string& url : visuals.render_blocking) blocking.emplace_back(as_utf8(url));
  json::object made = {{"long_tasks", tasks_of(visuals)},
                       {"total_blocking_ms", value_of(visuals.total_blocking_ms)},
                       {"largest_paint", largest_paint_of(visuals)},
                       {"render_blocking", std::move(blocking)},
                       {"speed_index_ms", nullptr},
                       {"visually_complete_ms", nullptr}};
  std::vector<SeenFrame> seen;
  std::vector<const TraceVisuals::Frame*> frames;
  for (const TraceVisuals::Frame& frame : visuals.frames) {
    auto const histogram = histogram_of_jpeg(frame.jpeg);
    if (!histogram) continue;
    seen.push_back({frame.at_ms, *histogram});
    frames.push_back(&frame);
  }
  auto const progress = visual_progress(seen);
  if (!progress) return made;
  made["speed_index_ms"] = progress->speed_index_ms;
  made["visually_complete_ms"] = progress->visually_complete_ms;
  std::vector<ViewFrame> shown;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (i > 0 && frames[i]->jpeg == frames[i - 1]->jpeg) continue;
    shown.push_back(
        {.at_ms = frames[i]->at_ms, .percent = progress->percent[i], .jpeg = frames[i]->jpeg});
  }
  model.add_frames(shown);
  return made;
}

}  // namespace reprise
