#include "analysis/sources/trace_calls.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "analysis/sources/json_walk.h"
#include "analysis/sources/trace_navigation.h"
#include "analysis/sources/trace_requests.h"
#include "archive/import/source/opened_file.h"

namespace reprise {
namespace {

using importing::JsonReader;

/// The names of the Performance panel. Of those not here, RunTask shows the sum.
constexpr std::pair<std::string_view, std::string_view> kWork[] = {
    {"RunTask", "task"},
    {"EvaluateScript", "script"},
    {"FunctionCall", "script"},
    {"v8.compile", "script"},
    {"v8.compileModule", "script"},
    {"v8.evaluateModule", "script"},
    {"RunMicrotasks", "script"},
    {"TimerFire", "script"},
    {"EventDispatch", "script"},
    {"FireAnimationFrame", "script"},
    {"FireIdleCallback", "script"},
    {"XHRReadyStateChange", "script"},
    {"ParseHTML", "parse"},
    {"ParseAuthorStyleSheet", "parse"},
    {"UpdateLayoutTree", "style"},
    {"Layout", "layout"},
    {"HitTest", "layout"},
    {"PrePaint", "paint"},
    {"Paint", "paint"},
    {"Layerize", "paint"},
    {"Commit", "paint"},
    {"Decode Image", "paint"},
    {"MinorGC", "garbage collection"},
    {"MajorGC", "garbage collection"},
    {"BlinkGC.AtomicPhase", "garbage collection"},
};

std::string_view work_called(std::string_view name) {
  for (auto const& [known, work] : kWork) {
    if (known == name) return work;
  }
  return {};
}

/// Whether the URL of such work is that of the script that runs. Of XHRReadyStateChange it is the
/// URL that the script requested.
bool names_script(std::string_view name) {
  return name == "EvaluateScript" || name == "FunctionCall" || name.starts_with("v8.");
}

/// As far as it is needed.
struct Event {
  std::string name;
  std::string phase;
  std::string categories;
  std::string id;  ///< of asynchronous events
  double at_us = 0;
  double length_us = 0;
  double processor_us = -1;  ///< of the length; below 0: unknown
  double process = 0;
  double thread = 0;
  std::string frame;
  std::string url;  ///< of the script that runs, or of a navigation's document
  std::string function;
  std::string type;             ///< of the event whose listeners are called
  std::string render_blocking;  ///< of a request that is sent
  double line = -1;
  bool outermost = false;
  bool is_preload = false;
  bool is_cut = false;  ///< one of its texts
};

class TraceReader {
 public:
  TraceReader(importing::ByteReader& from, std::span<const std::string> urls, CallTree& tree,
              TraceUntil until)
      : from_(from), json_(from), urls_(urls), tree_(tree), until_(until) {}

  std::expected<void, std::string> run() {
    if (json_.peek() == importing::JsonKind::kArray) {
      read_events();
    } else {
      for_members(json_, [this](std::string_view name) {
        name == "traceEvents" ? read_events() : json_.skip();
      });
    }
    json_.end();
    if (from_.failed()) return std::unexpected(from_.fault()->what);
    if (!find_page()) return std::unexpected("it has no load of " + tree_.page);
    add_work();
    add_measures();
    name_running_scripts(tree_);
    name_requests();
    if (events_lost_ > 0) tree_.lose("events of the trace beyond 2 million", events_lost_);
    if (events_cut_ > 0) tree_.lose("events of the trace with a text above 1 MiB", events_cut_);
    normalize(tree_);
    return {};
  }

 private:
  std::string text(Event& event) { return limited_text(json_, event.is_cut); }
  double number() { return json_.number().value_or(0); }

  void read_events() {
    if (!json_.enter_array()) return;
    while (json_.next_element()) {
      Event event;
      for_members(json_, [&](std::string_view name) { read_member(name, event); });
      keep(std::move(event));
    }
  }

  void read_member(std::string_view name, Event& event) {
    if (name == "name") {
      event.name = text(event);
    } else if (name == "ph") {
      event.phase = text(event);
    } else if (name == "cat") {
      event.categories = text(event);
    } else if (name == "id") {
      event.id = text(event);
    } else if (name == "ts") {
      event.at_us = number();
    } else if (name == "dur") {
      event.length_us = number();
    } else if (name == "tdur") {
      event.processor_us = number();
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

  void read_argument(std::string_view name, Event& event) {
    if (name == "frame") {
      event.frame = text(event);
    } else if (name == "data" && json_.peek() == importing::JsonKind::kObject) {
      for_members(json_, [&](std::string_view member) { read_argument(member, event); });
    } else if (name == "url" || name == "documentLoaderURL") {
      event.url = limited_url(json_, event.is_cut);
    } else if (name == "functionName") {
      event.function = text(event);
    } else if (name == "type" && json_.peek() == importing::JsonKind::kString) {
      event.type = text(event);
    } else if (name == "renderBlocking") {
      event.render_blocking = text(event);
    } else if (name == "isLinkPreload") {
      event.is_preload = text(event) == "true";
    } else if (name == "lineNumber") {
      event.line = number();
    } else if (name == "isOutermostMainFrame") {
      event.outermost = text(event) == "true";
    } else {
      json_.skip();
    }
  }

  void keep(Event event) {
    bool const is_long = event.length_us >= static_cast<double>(kTaskMinUs);
    bool const work = event.phase == "X" && (is_long || event.name == "EvaluateScript") &&
                      !work_called(event.name).empty();
    bool const timing = event.categories.contains("blink.user_timing");
    bool const sends = event.name == "ResourceSendRequest";
    if (!work && !timing && !sends) return;
    if (work_.size() + timing_.size() + sent_.size() >= kTraceEventsMax) {
      ++events_lost_;
      return;
    }
    // Not the run of a whole script, which has no name either. DevTools writes it so.
    if (event.name == "FunctionCall" && event.function.empty()) event.function = "(anonymous)";
    if (sends) return sent_.push_back(std::move(event));
    if (work && !names_script(event.name)) event.url.clear();
    (work ? work_ : timing_).push_back(std::move(event));
  }

  /// The last navigation to the page, and the start of its first request: a navigation starts a
  /// little earlier, in another process.
  bool find_page() {
    std::ranges::sort(timing_, {}, &Event::at_us);
    auto const* const first = find_navigation(timing_, urls_);
    if (first == nullptr) return false;
    page_ = find_last_navigation(timing_, urls_);
    frames_ = {first->frame, page_->frame};
    start_us_ = first->at_us;
    for (Event const& event : timing_) {
      if (event.name != "fetchStart" || event.frame != first->frame) continue;
      if (event.at_us < first->at_us) continue;
      start_us_ = event.at_us;
      break;
    }
    return true;
  }

  bool in_page(const Event& event) const {
    return event.process == page_->process && event.thread == page_->thread;
  }
  std::int64_t time_of(double at_us) const {
    return std::llround(std::clamp(at_us - start_us_, 0.0, 1e12));
  }

  std::int64_t end_of_work() const {
    auto end_us = tree_.window_us;
    if (until_ == TraceUntil::kWindow) return end_us;
    for (Call const& call : tree_.calls) {
      if (call.kind == CallKind::kRequest) end_us = std::max(end_us, call.end_us);
    }
    return end_us;
  }

  void add_work() {
    std::erase_if(work_, [this](const Event& event) {
      return !in_page(event) || event.at_us + event.length_us <= start_us_;
    });
    // What surrounds something comes before it.
    std::vector<std::size_t> order(work_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, {}, [this](std::size_t i) {
      return std::tuple(work_[i].at_us, -work_[i].length_us, i);
    });
    std::vector<std::uint32_t> around;
    auto const until_us = end_of_work();
    for (auto const place : order) {
      Event const& event = work_[place];
      Call call{.kind = CallKind::kTask,
                .name = std::string(work_called(event.name)),
                .start_us = time_of(event.at_us),
                .end_us = time_of(event.at_us + event.length_us)};
      if (call.start_us >= until_us) break;
      while (!around.empty() && tree_.calls[around.back()].end_us <= call.start_us) {
        around.pop_back();
      }
      if (!around.empty()) call.parent = around.back();
      if (event.processor_us >= 0 && event.processor_us < event.length_us) {
        call.set("processor_us", std::to_string(std::llround(event.processor_us)));
      }
      if (!event.url.empty()) call.set("url", event.url);
      if (!event.function.empty()) call.set("function", event.function);
      if (event.name == "EventDispatch" && !event.type.empty()) call.set("event", event.type);
      if (event.line >= 0 && event.line < 1e9)
        call.set("line", std::to_string(std::llround(event.line)));
      if (event.is_cut) ++events_cut_;
      around.push_back(static_cast<std::uint32_t>(tree_.calls.size()));
      tree_.calls.push_back(std::move(call));
    }
  }

  void add_measures() {
    std::map<std::pair<std::string, std::string>, double> open;
    for (Event const& event : timing_) {
      if (event.process != page_->process) continue;
      std::pair const key(event.name, event.id);
      if (event.phase == "b") {
        open[key] = event.at_us;
      } else if (auto const begin = open.find(key); event.phase == "e" && begin != open.end()) {
        if (event.at_us > start_us_) {
          if (event.is_cut) ++events_cut_;
          tree_.calls.push_back({.kind = CallKind::kMeasure,
                                 .name = event.name,
                                 .start_us = time_of(begin->second),
                                 .end_us = time_of(event.at_us)});
        }
        open.erase(begin);
      }
    }
  }

  void name_requests() {
    std::vector<SentRequest> sent;
    for (Event& event : sent_) {
      if (event.at_us < start_us_) continue;
      sent.push_back({.at_us = event.at_us,
                      .url = std::move(event.url),
                      .render_blocking = std::move(event.render_blocking),
                      .counts = !event.is_preload && frames_.contains(event.frame)});
    }
    name_render_blocking(std::move(sent), tree_);
  }

  importing::ByteReader& from_;
  JsonReader json_;
  std::span<const std::string> urls_;
  CallTree& tree_;
  TraceUntil until_;
  std::vector<Event> work_;
  std::vector<Event> timing_;
  std::vector<Event> sent_;
  std::uint64_t events_lost_ = 0;
  std::uint64_t events_cut_ = 0;
  const Event* page_ = nullptr;
  std::set<std::string> frames_;  ///< that the page itself was in
  double start_us_ = 0;
};

}  // namespace

std::expected<void, std::string> add_trace(importing::ByteReader& from,
                                           std::span<const std::string> urls, CallTree& tree,
                                           TraceUntil until) {
  return TraceReader(from, urls, tree, until).run();
}

std::expected<void, std::string> add_trace_file(const std::filesystem::path& path,
                                                std::span<const std::string> urls, CallTree& tree,
                                                TraceUntil until) {
  auto file = importing::OpenedFile::open(path);
  if (!file) return std::unexpected(file.error());
  auto const source = file->source();
  importing::ByteReader reader(*source);
  return add_trace(reader, urls, tree, until);
}

}  // namespace reprise
