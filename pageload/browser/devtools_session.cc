#include "pageload/browser/devtools_session.h"

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <cstdlib>
#include <utility>

#include "base/text/base64.h"
#include "base/text/json_fields.h"

namespace json = boost::json;

namespace reprise {
namespace {

/// The browser's limit for the bodies of a page that it keeps until they are read.
constexpr std::int64_t kBodyBufferBytes = 1 << 30;
constexpr std::int64_t kPostDataBytes = 16 << 20;

BodyQuestion body_question(std::string_view method, std::string_view field) {
  return {.command = [method](const PageRecord::BodyName& name) -> RemoteCommand {
            return {name.session, std::string(method), {{"requestId", name.request_id}}};
          },
          .answer = [field](const json::object& result) -> std::optional<std::string> {
            auto const text = text_at(result, field);
            return flag_at(result, "base64Encoded") ? decode_base64(text) : std::string(text);
          }};
}

RemoteCommand devtools_evaluation(const std::string& session, std::string_view expression) {
  return {session, "Runtime.evaluate", {{"expression", expression}, {"returnByValue", true}}};
}

RemoteCommand mouse_event(const std::string& session, std::string_view type, double x, double y) {
  return {session,
          "Input.dispatchMouseEvent",
          {{"type", type},
           {"x", x},
           {"y", y},
           {"button", type == "mouseMoved" ? "none" : "left"},
           {"clickCount", type == "mouseMoved" ? 0 : 1}}};
}

RemoteCommand key_event(const std::string& session, std::string_view type,
                        const std::string& character) {
  bool const is_enter = character == "\n";
  json::object event{{"type", type}, {"key", is_enter ? "Enter" : character}};
  if (is_enter) event.insert({{"code", "Enter"}, {"windowsVirtualKeyCode", 13}});
  if (type == "keyDown") event["text"] = is_enter ? "\r" : character;
  return {session, "Input.dispatchKeyEvent", std::move(event)};
}

/// Emulation.setUserAgentOverride: the device's User-Agent, and its client hints if it has any.
json::object identity_of(const Device& device, const std::string& version) {
  json::object identity{{"userAgent", device.user_agent_of(version)}};
  if (device.platform.empty()) return identity;
  auto const brands = [](std::string_view chromium, std::string_view other) {
    return json::array{{{"brand", "Chromium"}, {"version", chromium}},
                       {{"brand", "Not_A Brand"}, {"version", other}}};
  };
  identity["platform"] = "Linux armv81";
  identity["userAgentMetadata"] = {{"brands", brands(version.substr(0, version.find('.')), "24")},
                                   {"fullVersionList", brands(version, "24.0.0.0")},
                                   {"platform", device.platform},
                                   {"platformVersion", device.platform_version},
                                   {"architecture", ""},
                                   {"model", device.model},
                                   {"mobile", device.is_mobile()}};
  return identity;
}

}  // namespace

DevtoolsSession::DevtoolsSession(RemoteConnection& connection, const PageOptions& options,
                                 Context context)
    : PageSession(connection, options),
      private_(context == Context::kPrivate),
      trace_(connection) {}

Result<void> DevtoolsSession::open(int width, int height, TimePoint deadline) {
  json::object page{{"url", "about:blank"}};
  if (private_) {
    auto const context = call_for("Target.createBrowserContext", {{"disposeOnDetach", true}},
                                  "browserContextId", deadline);
    if (!context) return fail(context.error());
    context_ = *context;
    if (context_.empty()) return {};
    page["browserContextId"] = context_;
  }
  set_downloads("deny");
  if (options_.device) {
    // "Chrome/156.0.8078.73"
    auto const product = call_for("Browser.getVersion", {}, "product", deadline);
    if (!product) return fail(product.error());
    browser_version_ = product->substr(product->find('/') + 1);
  }
  // An earlier page of this browser may have turned it on; our own page must not wait for us.
  connection_.post({}, "Target.setAutoAttach",
                   {{"autoAttach", false}, {"waitForDebuggerOnStart", false}, {"flatten", true}});
  auto const target = call_for("Target.createTarget", std::move(page), "targetId", deadline);
  if (!target) return fail(target.error());
  if (target->empty()) return {};
  target_ = *target;
  auto const session = call_for("Target.attachToTarget", {{"targetId", *target}, {"flatten", true}},
                                "sessionId", deadline);
  if (!session) return fail(session.error());
  if (session->empty()) return {};
  session_ = *session;
  // A page's target has the id of its main frame.
  frame_ = *target;
  start_record();
  // Shared workers and windows belong to no page, so they are children of the browser only. Windows
  // that a page opens wait whatever the filter says, and their opener's process with them.
  json::array types;
  for (auto const type : {"shared_worker", "page"}) types.push_back(json::object{{"type", type}});
  connection_.post({}, "Target.setAutoAttach",
                   {{"autoAttach", true},
                    {"waitForDebuggerOnStart", true},
                    {"flatten", true},
                    {"filter", std::move(types)}});
  auto const unanswered = watch_target(session_, true);
  connection_.post(session_, "Emulation.setDeviceMetricsOverride",
                   {{"width", width},
                    {"height", height},
                    {"deviceScaleFactor", options_.device ? options_.device->scale : 0},
                    {"mobile", options_.device.has_value()}},
                   [unanswered](const RemoteReply&) { --*unanswered; });
  ++*unanswered;
  // Some commands run in the browser and some in the page's process, so an answer does not mean
  // that earlier commands have finished.
  auto const answered = connection_.pump_until([&] { return *unanswered == 0; }, deadline);
  if (!answered) return fail(answered.error());
  if (!*answered) return fail(std::make_error_code(std::errc::timed_out));
  return {};
}

/// Requests the events of one target and of its children. Returns the number of unanswered
/// commands.
std::shared_ptr<std::size_t> DevtoolsSession::watch_target(const std::string& session,
                                                           bool is_page) {
  auto const unanswered = std::make_shared<std::size_t>(0);
  auto const ask = [&](std::string_view method, json::object params = {}) {
    ++*unanswered;
    connection_.post(session, method, std::move(params),
                     [unanswered](const RemoteReply&) { --*unanswered; });
  };
  if (is_page) {
    ask("Inspector.enable");
    ask("Page.enable");
    ask("Page.setLifecycleEventsEnabled", {{"enabled", true}});
    if (!options_.script.empty()) {
      // In the blank page, too, where it does nothing: the browser keeps it compiled.
      ask("Page.addScriptToEvaluateOnNewDocument",
          {{"source", options_.script}, {"runImmediately", session == session_}});
    }
    ask("PerformanceTimeline.enable",
        {{"eventTypes", {"largest-contentful-paint", "layout-shift"}}});
    if (options_.device) {
      ask("Emulation.setTouchEmulationEnabled", {{"enabled", true}, {"maxTouchPoints", 5}});
    }
    if (options_.cpu_throttle > 1) {
      ask("Emulation.setCPUThrottlingRate", {{"rate", options_.cpu_throttle}});
    }
  }
  if (options_.device) {
    ask("Emulation.setUserAgentOverride", identity_of(*options_.device, browser_version_));
  }
  ask("Network.enable", {{"maxTotalBufferSize", kBodyBufferBytes},
                         {"maxResourceBufferSize", kReadBackBytesMax},
                         {"maxPostDataSize", kPostDataBytes}});
  ask("Runtime.enable");
  ask("Log.enable");
  // A child waits until it is watched, so none of its requests is missed.
  ask("Target.setAutoAttach",
      {{"autoAttach", true}, {"waitForDebuggerOnStart", true}, {"flatten", true}});
  return unanswered;
}

void DevtoolsSession::on_event(std::string_view session, std::string_view method,
                               const json::object& params) {
  if (method == "Target.attachedToTarget") {
    on_attached(params);
  } else if (method == "Target.detachedFromTarget") {
    auto const gone = text_at(params, "sessionId");
    std::erase_if(watched_, [gone](const auto& each) { return each.second == gone; });
  } else if (method == "Page.javascriptDialogOpening" && !has_user_) {
    // A dialog blocks the page until it is closed.
    connection_.post(session, "Page.handleJavaScriptDialog", {{"accept", true}});
  }
  trace_.on_event(method, params);
  if (recording_) recorder_->on_event(session, method, params);
}

/// Watches a new child, and releases it if it waits.
void DevtoolsSession::on_attached(const json::object& params) {
  std::string const child(text_at(params, "sessionId"));
  auto const type = text_at(object_at(params, "targetInfo"), "type");
  bool const waits = flag_at(params, "waitingForDebugger");
  // Our own page, which has its session, and windows that were open before it. Workers that do not
  // wait are the page's all the same: a service worker that was already running.
  if (type == "page" && !waits) return;
  // A service worker is a child of each window of its site, and would be recorded more than once.
  std::string target(text_at(object_at(params, "targetInfo"), "targetId"));
  if (watched_.emplace(std::move(target), child).second) {
    watch_target(child, type == "iframe" || type == "page");
  }
  if (waits) connection_.post(child, "Runtime.runIfWaitingForDebugger");
}

Result<void> DevtoolsSession::stop_service_workers(TimePoint deadline) {
  connection_.post(session_, "ServiceWorker.enable");
  auto const stopped = connection_.call(session_, "ServiceWorker.stopAllWorkers", {}, deadline);
  if (!stopped) return fail(stopped.error());
  connection_.post(session_, "ServiceWorker.disable");
  return {};
}

void DevtoolsSession::navigate(const std::string& url) {
  connection_.post(
      session_, "Page.navigate", {{"url", url}}, [no_way = no_way_](RemoteReply reply) {
        *no_way = reply.error.empty() ? text_at(reply.result, "errorText") : reply.error;
      });
}

RemoteCommand DevtoolsSession::dom_command() const {
  return devtools_evaluation(session_, "document.documentElement.outerHTML");
}

void DevtoolsSession::take_dom(const json::object& result, PageLoad& load) const {
  auto const dom = text_at(object_at(result, "result"), "value");
  if (!dom.empty()) load.dom = dom;
}

RemoteCommand DevtoolsSession::screenshot_command() const {
  return {session_, "Page.captureScreenshot", {{"format", "png"}}};
}

RemoteCommand DevtoolsSession::close_command() const {
  if (!private_) return {{}, "Target.closeTarget", {{"targetId", target_}}};
  return {{}, "Target.disposeBrowserContext", {{"browserContextId", context_}}};
}

void DevtoolsSession::leave_to_user() {
  has_user_ = true;
  // Chromium's own HOME is a private folder that is removed with it.
  auto const* const home = std::getenv("HOME");
  if (home != nullptr && *home == '/') set_downloads("allow", std::string(home) + "/Downloads");
  if (!options_.device) connection_.post(session_, "Emulation.clearDeviceMetricsOverride");
}

void DevtoolsSession::set_downloads(std::string_view behavior, const std::string& folder) {
  json::object downloads{{"behavior", behavior}};
  if (!folder.empty()) downloads["downloadPath"] = folder;
  if (private_) downloads["browserContextId"] = context_;
  connection_.post({}, "Browser.setDownloadBehavior", std::move(downloads));
}

BodyQuestions DevtoolsSession::body_questions() const {
  return {.response = body_question("Network.getResponseBody", "body"),
          .request = body_question("Network.getRequestPostData", "postData")};
}

PageInput DevtoolsSession::input() const {
  return {.evaluate =
              [session = session_](std::string_view expression) {
                return devtools_evaluation(session, expression);
              },
          .click =
              [session = session_](double x, double y) {
                return std::vector{mouse_event(session, "mouseMoved", x, y),
                                   mouse_event(session, "mousePressed", x, y),
                                   mouse_event(session, "mouseReleased", x, y)};
              },
          .type =
              [session = session_](std::string_view text) {
                std::vector<RemoteCommand> commands;
                for (std::string const& character : characters_of(text)) {
                  commands.push_back(key_event(session, "keyDown", character));
                  commands.push_back(key_event(session, "keyUp", character));
                }
                return commands;
              }};
}

}  // namespace reprise
