#include "tools/browser/page_session.h"

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <fstream>
#include <system_error>
#include <utility>

#include "tools/browser/digest.h"
#include "tools/browser/json_fields.h"
#include "tools/browser/page_bodies.h"

namespace json = boost::json;
using namespace std::chrono_literals;

namespace reprise {
namespace {

/// The load's own time does not cover what comes before and after it: these are for a browser that
/// is slow, on a busy machine, and still well.
constexpr auto kOpenTime = 30s;
constexpr auto kAnswerTime = 10s;
/// And this for one that has timed out already and may never answer again.
constexpr auto kLastAnswerTime = 5s;
constexpr auto kBodiesTime = 60s;
/// What the browser may keep of a page's bodies until they are read.
constexpr std::int64_t kBodyBufferBytes = 1 << 30;
constexpr std::int64_t kPostDataBytes = 16 << 20;

auto now() {
  return std::chrono::steady_clock::now();
}

auto answer_deadline(const PageLoad& load) {
  return now() + (load.outcome == LoadOutcome::kTimedOut ? kLastAnswerTime : kAnswerTime);
}

std::string seconds_text(std::chrono::milliseconds time) {
  auto text = std::to_string(static_cast<double>(time.count()) / 1000);
  return text.substr(0, text.find('.') + 2) + " s";
}

}  // namespace

PageSession::PageSession(DevtoolsConnection& connection, const PageOptions& options)
    : connection_(connection), options_(options) {}

Result<void> PageSession::run(const std::string& url, int width, int height, PageLoad& load) {
  connection_.set_event_sink([this](auto session, auto method, const json::object& params) {
    on_event(session, method, params);
  });
  struct SinkReset {
    DevtoolsConnection& connection;
    ~SinkReset() { connection.set_event_sink({}); }
  } const reset{connection_};

  if (auto done = open(width, height, now() + kOpenTime); !done) return done;
  if (!refusal_.empty()) {
    load.outcome = LoadOutcome::kNavigationFailed;
    load.failure = "The browser could not open a page: " + refusal_ + ".";
    return {};
  }
  if (auto done = settle(); !done) return done;
  recording_ = true;
  auto const navigated = navigate(url, load);
  recording_ = false;
  PageLoad recorded = recorder_->page_load();
  recorded.outcome = load.outcome;
  recorded.failure = std::move(load.failure);
  recorded.url = url;
  load = std::move(recorded);
  if (!navigated) return navigated;
  if (auto done = read_out(load); !done) return done;
  return close(load);
}

/// Calls a method of the browser itself and returns one text field of the answer; when the browser
/// refuses, the field is empty and refusal_ says why.
Result<std::string> PageSession::call_for(std::string_view method, json::object params,
                                          std::string_view field, TimePoint deadline) {
  auto reply = connection_.call({}, method, std::move(params), deadline);
  if (!reply) return fail(reply.error());
  std::string text(text_at(reply->result, field));
  if (text.empty()) refusal_ = reply->error.empty() ? "no " + std::string(field) : reply->error;
  return text;
}

Result<void> PageSession::open(int width, int height, TimePoint deadline) {
  auto const context = call_for("Target.createBrowserContext", {{"disposeOnDetach", true}},
                                "browserContextId", deadline);
  if (!context) return fail(context.error());
  context_ = *context;
  if (context_.empty()) return {};
  connection_.post({}, "Browser.setDownloadBehavior",
                   {{"behavior", "deny"}, {"browserContextId", context_}});
  auto const target =
      call_for("Target.createTarget", {{"url", "about:blank"}, {"browserContextId", context_}},
               "targetId", deadline);
  if (!target) return fail(target.error());
  if (target->empty()) return {};
  auto const session = call_for("Target.attachToTarget", {{"targetId", *target}, {"flatten", true}},
                                "sessionId", deadline);
  if (!session) return fail(session.error());
  if (session->empty()) return {};
  session_ = *session;
  // A page's target has the id of its main frame.
  recorder_ = std::make_unique<PageRecorder>(session_, *target);
  // Shared workers belong to no page, so they are children of the browser only.
  connection_.post({}, "Target.setAutoAttach",
                   {{"autoAttach", true},
                    {"waitForDebuggerOnStart", true},
                    {"flatten", true},
                    {"filter", json::array{{{"type", "shared_worker"}}}}});
  auto const unanswered = watch_target(session_, true);
  connection_.post(
      session_, "Emulation.setDeviceMetricsOverride",
      {{"width", width}, {"height", height}, {"deviceScaleFactor", 0}, {"mobile", false}},
      [unanswered](const DevtoolsReply&) { --*unanswered; });
  ++*unanswered;
  // Some commands are done by the browser and some by the page's process, so one that is answered
  // does not mean that those before it are.
  while (*unanswered > 0) {
    auto const handled = connection_.pump(deadline);
    if (!handled) return fail(handled.error());
    if (!*handled) return fail(std::make_error_code(std::errc::timed_out));
  }
  return {};
}

/// Asks one target for its events, and for its own children's. Returns the number of commands that
/// are not answered yet.
std::shared_ptr<std::size_t> PageSession::watch_target(const std::string& session, bool is_page) {
  auto const unanswered = std::make_shared<std::size_t>(0);
  auto const ask = [&](std::string_view method, json::object params = {}) {
    ++*unanswered;
    connection_.post(session, method, std::move(params),
                     [unanswered](const DevtoolsReply&) { --*unanswered; });
  };
  if (is_page) {
    ask("Inspector.enable");
    ask("Page.enable");
    ask("Page.setLifecycleEventsEnabled", {{"enabled", true}});
  }
  ask("Network.enable", {{"maxTotalBufferSize", kBodyBufferBytes},
                         {"maxResourceBufferSize", kReadBackBytesMax},
                         {"maxPostDataSize", kPostDataBytes}});
  ask("Runtime.enable");
  ask("Log.enable");
  // A child waits until it is watched, so that none of its requests is missed.
  ask("Target.setAutoAttach",
      {{"autoAttach", true}, {"waitForDebuggerOnStart", true}, {"flatten", true}});
  return unanswered;
}

Result<void> PageSession::settle() {
  auto const deadline = now() + options_.settle;
  for (;;) {
    auto const handled = connection_.pump(deadline);
    if (!handled) return fail(handled.error());
    if (!*handled || now() >= deadline) return {};
  }
}

void PageSession::on_event(std::string_view session, std::string_view method,
                           const json::object& params) {
  if (method == "Target.attachedToTarget" && flag_at(params, "waitingForDebugger")) {
    std::string const child(text_at(params, "sessionId"));
    auto const type = text_at(object_at(params, "targetInfo"), "type");
    watch_target(child, type == "iframe" || type == "page");
    connection_.post(child, "Runtime.runIfWaitingForDebugger");
  } else if (method == "Page.javascriptDialogOpening") {
    // Nobody is there to answer, and the page stands still until somebody does.
    connection_.post(session, "Page.handleJavaScriptDialog", {{"accept", true}});
  }
  if (recording_) recorder_->on_event(session, method, params);
}

Result<void> PageSession::navigate(const std::string& url, PageLoad& load) {
  auto const deadline = now() + options_.timeout;
  // Shared, since the answer may come after the time is over.
  auto const refused = std::make_shared<std::string>();
  connection_.post(session_, "Page.navigate", {{"url", url}}, [refused](DevtoolsReply reply) {
    *refused = reply.error.empty() ? text_at(reply.result, "errorText") : reply.error;
  });
  auto quiet_since = now();
  std::uint64_t activity = 0;
  while (now() < deadline) {
    bool const quiet = has_ended() && recorder_->in_flight() == 0;
    if (activity != recorder_->activity() || !quiet) quiet_since = now();
    activity = recorder_->activity();
    if (quiet && now() >= quiet_since + options_.quiet) {
      judge_ending(load);
      return {};
    }
    auto const handled =
        connection_.pump(quiet ? std::min(deadline, quiet_since + options_.quiet) : deadline);
    if (!handled) return fail(handled.error());
    if (recorder_->crashed()) {
      load.outcome = LoadOutcome::kBrowserDied;
      load.failure = "The browser process that showed the page crashed.";
      return {};
    }
    if (!refused->empty()) {
      load.outcome = LoadOutcome::kNavigationFailed;
      load.failure = "The page could not be loaded: " + *refused + ".";
      return {};
    }
  }
  load.outcome = LoadOutcome::kTimedOut;
  load.failure = "After " + seconds_text(options_.timeout) + " the page " +
                 (recorder_->loaded() ? "was not quiet" : "had not loaded") + "; " +
                 std::to_string(recorder_->in_flight()) + " requests in flight";
  if (auto const first = recorder_->first_in_flight(); !first.empty()) {
    load.failure += ", the first " + first;
  }
  load.failure += ".";
  return {};
}

/// Whether nothing more is to come of the page but requests of its scripts.
bool PageSession::has_ended() const {
  return recorder_->loaded() || (recorder_->committed() && !recorder_->document_failure().empty());
}

void PageSession::judge_ending(PageLoad& load) const {
  if (auto const& url = recorder_->unreachable_url(); !url.empty()) {
    load.outcome = LoadOutcome::kNavigationFailed;
    load.failure = "The page went on to " + url +
                   ", which could not be loaded: " + recorder_->document_failure() + ".";
  } else if (!recorder_->loaded()) {
    load.outcome = LoadOutcome::kNavigationFailed;
    load.failure = "The page broke off: " + recorder_->document_failure() + ".";
  }
}

Result<void> PageSession::read_out(PageLoad& load) {
  bool const shows_a_page = load.outcome == LoadOutcome::kLoaded ||
                            (load.outcome == LoadOutcome::kTimedOut && recorder_->committed());
  if (!shows_a_page) return {};
  auto const readable = read_dom(load);
  if (!readable) return fail(readable.error());
  if (!*readable) return {};
  if (options_.fetch_bodies) {
    if (auto done = read_bodies(connection_, *recorder_, now() + kBodiesTime, load); !done) {
      return done;
    }
  }
  if (!options_.screenshot.empty()) return take_screenshot(load);
  return {};
}

/// Returns whether the page answers; one that does not has no bodies and paints nothing either.
Result<bool> PageSession::read_dom(PageLoad& load) {
  auto reply = connection_.call(
      session_, "Runtime.evaluate",
      {{"expression", "document.documentElement.outerHTML"}, {"returnByValue", true}},
      answer_deadline(load));
  if (!reply && reply.error() == std::errc::timed_out) {
    load.remarks.emplace_back(
        "DOM, bodies and screenshot could not be read: the page's scripts do not yield.");
    return false;
  }
  if (!reply) return fail(reply.error());
  load.dom = text_at(object_at(reply->result, "result"), "value");
  if (load.dom.empty()) {
    load.remarks.push_back("The DOM could not be read: " +
                           (reply->error.empty() ? "the document is empty" : reply->error) + ".");
  }
  return true;
}

Result<void> PageSession::take_screenshot(PageLoad& load) {
  auto const remark = [&](const std::string& why) {
    load.remarks.push_back("No screenshot was taken: " + why + ".");
    return Result<void>{};
  };
  auto reply = connection_.call(session_, "Page.captureScreenshot", {{"format", "png"}},
                                answer_deadline(load));
  if (!reply && reply.error() == std::errc::timed_out) return remark("the page does not paint");
  if (!reply) return fail(reply.error());
  auto const png = decode_base64(text_at(reply->result, "data"));
  if (!reply->error.empty() || !png) return remark(reply->error);
  std::ofstream file(options_.screenshot, std::ios::binary);
  file << *png << std::flush;
  if (!file) return remark(options_.screenshot.string() + " cannot be written");
  return {};
}

Result<void> PageSession::close(const PageLoad& load) {
  auto const reply = connection_.call({}, "Target.disposeBrowserContext",
                                      {{"browserContextId", context_}}, answer_deadline(load));
  if (!reply) return fail(reply.error());
  return {};
}

}  // namespace reprise
