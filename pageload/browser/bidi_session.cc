#include "pageload/browser/bidi_session.h"

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <cmath>
#include <optional>
#include <utility>

#include "base/text/base64.h"
#include "base/text/json_fields.h"

namespace json = boost::json;

namespace reprise {
namespace {

/// Runs in a sandbox, isolated from functions and prototypes of the page, injected or not. Times
/// are milliseconds since the epoch; null if unknown.
constexpr auto kReadOut = R"((() => {
  const since = performance.timeOrigin;
  const at = (ms) => ms > 0 ? since + ms : null;
  const [navigation] = performance.getEntriesByType('navigation');
  const [paint] = performance.getEntriesByName('first-contentful-paint');
  return JSON.stringify({
    dom: document.documentElement ? document.documentElement.outerHTML : '',
    parsed: at(navigation && navigation.domContentLoadedEventStart),
    loaded: at(navigation && navigation.loadEventStart),
    painted: at(paint && paint.startTime),
  });
})())";

/// Firefox shows its own exceptions without this prefix.
constexpr std::string_view kErrorPrefix = "Error: ";

BodyQuestion body_question(std::string_view type) {
  return {.command = [type](const PageRecord::BodyName& name) -> RemoteCommand {
            return {{}, "network.getData", {{"dataType", type}, {"request", name.request_id}}};
          },
          .answer = [](const json::object& result) -> std::optional<std::string> {
            auto const& bytes = object_at(result, "bytes");
            auto const text = text_at(bytes, "value");
            return text_at(bytes, "type") == "base64" ? decode_base64(text) : std::string(text);
          }};
}

RemoteCommand bidi_evaluation(const std::string& page, std::string_view expression) {
  return {{},
          "script.evaluate",
          {{"expression", expression},
           {"target", {{"context", page}, {"sandbox", "reprise"}}},
           {"awaitPromise", false}}};
}

/// The actions of one input device, event by event.
RemoteCommand actions(const std::string& page, std::string_view device, json::array events) {
  return {{},
          "input.performActions",
          {{"context", page},
           {"actions",
            json::array{{{"type", device}, {"id", device}, {"actions", std::move(events)}}}}}};
}

/// WebDriver section 17.4.2: the code point of the key Enter.
constexpr auto kEnter = "\uE007";

}  // namespace

BidiSession::BidiSession(RemoteConnection& connection, const PageOptions& options)
    : PageSession(connection, options) {}

Result<void> BidiSession::open(int width, int height, TimePoint deadline) {
  auto const context = call_for("browser.createUserContext", {}, "userContext", deadline);
  if (!context) return fail(context.error());
  user_context_ = *context;
  if (user_context_.empty()) return {};
  json::array const contexts{user_context_};
  auto const subscribed =
      call_for("session.subscribe",
               {{"events", {"browsingContext", "log", "network"}}, {"userContexts", contexts}},
               "subscription", deadline);
  if (!subscribed) return fail(subscribed.error());
  auto const collector = call_for("network.addDataCollector",
                                  {{"dataTypes", {"request", "response"}},
                                   {"maxEncodedDataSize", kReadBackBytesMax},
                                   {"userContexts", contexts}},
                                  "collector", deadline);
  if (!collector) return fail(collector.error());
  auto const page =
      call_for("browsingContext.create", {{"type", "tab"}, {"userContext", user_context_}},
               "context", deadline);
  if (!page) return fail(page.error());
  if (!refusal_.empty()) return {};
  page_ = *page;
  start_record();
  if (!options_.script.empty()) {
    auto const added = call_for(
        "script.addPreloadScript",
        {{"functionDeclaration", "() => {" + options_.script + "\n}"}, {"userContexts", contexts}},
        "script", deadline);
    if (!added) return fail(added.error());
    if (!refusal_.empty()) return {};
  }
  auto const sized = connection_.call(
      {}, "browsingContext.setViewport",
      {{"context", page_}, {"viewport", {{"width", width}, {"height", height}}}}, deadline);
  if (!sized) return fail(sized.error());
  refusal_ = sized->error;
  return {};
}

void BidiSession::navigate(const std::string& url) {
  connection_.post({}, "browsingContext.navigate",
                   {{"context", page_}, {"url", url}, {"wait", "none"}},
                   [no_way = no_way_](const RemoteReply& reply) {
                     std::string_view text = reply.error;
                     if (text.starts_with(kErrorPrefix)) text.remove_prefix(kErrorPrefix.size());
                     *no_way = text;
                   });
}

void BidiSession::on_event(std::string_view, std::string_view method, const json::object& params) {
  // A prompt blocks the page until it is closed. Without PageOptions::keep_open, Firefox does that.
  bool const is_left_to_us = method == "browsingContext.userPromptOpened" && options_.keep_open;
  if (is_left_to_us && !has_user_) {
    connection_.post({}, "browsingContext.handleUserPrompt",
                     {{"context", text_at(params, "context")}, {"accept", true}});
  }
  if (!recording_) return;
  recorder_->on_event(method, params);
}

RemoteCommand BidiSession::dom_command() const {
  return bidi_evaluation(page_, kReadOut);
}

void BidiSession::take_dom(const json::object& result, PageLoad& load) const {
  auto const read =
      parse_remote_message(std::string(text_at(object_at(result, "result"), "value")));
  if (!read) return;
  if (auto const dom = text_at(*read, "dom"); !dom.empty()) load.dom = dom;
  // More exact than the events, which a busy browser sends late.
  auto const since_start = [&](std::string_view name, std::optional<double>& ms) {
    double const at_ms = number_at(*read, name);
    if (at_ms <= 0 || recorder_->start_ms() < 0) return;
    ms = at_ms - recorder_->start_ms();
    if (*ms < 0) ms.reset();
  };
  since_start("parsed", load.dom_content_loaded_ms);
  since_start("loaded", load.load_event_ms);
  since_start("painted", load.first_contentful_paint_ms);
}

RemoteCommand BidiSession::screenshot_command() const {
  return {{}, "browsingContext.captureScreenshot", {{"context", page_}}};
}

RemoteCommand BidiSession::close_command() const {
  return {{}, "browser.removeUserContext", {{"userContext", user_context_}}};
}

void BidiSession::leave_to_user() {
  has_user_ = true;
  connection_.post({}, "browsingContext.setViewport", {{"context", page_}, {"viewport", nullptr}});
}

BodyQuestions BidiSession::body_questions() const {
  return {.response = body_question("response"), .request = body_question("request")};
}

PageInput BidiSession::input() const {
  return {
      .evaluate =
          [page = page_](std::string_view expression) { return bidi_evaluation(page, expression); },
      .click =
          [page = page_](double x, double y) {
            return std::vector{
                actions(page, "pointer",
                        {{{"type", "pointerMove"}, {"x", std::lround(x)}, {"y", std::lround(y)}},
                         {{"type", "pointerDown"}, {"button", 0}},
                         {{"type", "pointerUp"}, {"button", 0}}})};
          },
      .type =
          [page = page_](std::string_view text) {
            json::array events;
            for (std::string const& character : characters_of(text)) {
              auto const key = character == "\n" ? std::string(kEnter) : character;
              events.push_back({{"type", "keyDown"}, {"value", key}});
              events.push_back({{"type", "keyUp"}, {"value", key}});
            }
            return std::vector{actions(page, "key", std::move(events))};
          }};
}

}  // namespace reprise
