#include "pageload/browser/page_steps.h"

#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>
#include <optional>
#include <utility>

#include "base/text/json_fields.h"

namespace json = boost::json;
using namespace std::chrono_literals;

namespace reprise {
namespace {

/// How often to check whether an element exists.
constexpr std::chrono::milliseconds kAskAgain = 50ms;

struct Place {
  double x = 0;
  double y = 0;
};

/// Scrolls the element into view and returns its centre; "" if it does not exist yet.
std::string place_expression(const std::string& selector) {
  return "(() => { const found = document.querySelector(" +
         json::serialize(json::string(selector)) +
         R"();
  if (!found) return '';
  found.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
  const { x, y, width, height } = found.getBoundingClientRect();
  return width && height ? JSON.stringify({ x: x + width / 2, y: y + height / 2 }) : '';
})())";
}

/// Handles messages until `end`.
Result<void> rest(RemoteConnection& connection, RemoteConnection::TimePoint end) {
  for (;;) {
    auto const handled = connection.pump(end);
    if (!handled) return fail(handled.error());
    if (!*handled || std::chrono::steady_clock::now() >= end) return {};
  }
}

void give_up(PageLoad& load, LoadOutcome outcome, const Step& step, std::string_view why) {
  load.outcome = outcome;
  load.failure = "The step \"" + to_string(step) + "\" failed: " + std::string(why) + ".";
}

/// The place of the element, or nothing, with the reason in `load`.
Result<std::optional<Place>> find(RemoteConnection& connection, const PageInput& input,
                                  const Step& step, RemoteConnection::TimePoint deadline,
                                  PageLoad& load) {
  while (std::chrono::steady_clock::now() < deadline) {
    auto const reply = connection.call(input.evaluate(place_expression(step.selector)), deadline);
    if (!reply && reply.error() == std::errc::timed_out) break;
    if (!reply) return fail(reply.error());
    if (reply->result.contains("exceptionDetails")) {
      give_up(load, LoadOutcome::kNavigationFailed, step, "invalid CSS selector");
      return std::nullopt;
    }
    // A page that is navigating answers with an error, or with nothing.
    std::string const told(text_at(object_at(reply->result, "result"), "value"));
    auto const place = parse_remote_message(told);
    if (!told.empty() && place) return Place{number_at(*place, "x"), number_at(*place, "y")};
    if (auto const rested =
            rest(connection, std::min(deadline, std::chrono::steady_clock::now() + kAskAgain));
        !rested) {
      return fail(rested.error());
    }
  }
  give_up(load, LoadOutcome::kTimedOut, step, "the element did not appear in time");
  return std::nullopt;
}

/// Whether the browser accepted them; if not, `load` has the reason.
Result<bool> send(RemoteConnection& connection, std::vector<RemoteCommand> commands,
                  const Step& step, RemoteConnection::TimePoint deadline, PageLoad& load) {
  for (RemoteCommand& command : commands) {
    auto const reply = connection.call(std::move(command), deadline);
    if (!reply && reply.error() != std::errc::timed_out) return fail(reply.error());
    if (!reply || !reply->error.empty()) {
      give_up(load, LoadOutcome::kTimedOut, step,
              reply ? reply->error : "the page did not respond in time");
      return false;
    }
  }
  return true;
}

}  // namespace

std::vector<std::string> characters_of(std::string_view text) {
  std::vector<std::string> characters;
  for (char const each : text) {
    bool const continues = (static_cast<unsigned char>(each) & 0xC0U) == 0x80;
    if (!continues || characters.empty()) characters.emplace_back();
    characters.back() += each;
  }
  return characters;
}

Result<void> take_step(RemoteConnection& connection, const PageInput& input, const Step& step,
                       RemoteConnection::TimePoint deadline, PageLoad& load) {
  if (step.kind == Step::Kind::kPause)
    return rest(connection, std::chrono::steady_clock::now() + step.pause);
  auto const found = find(connection, input, step, deadline, load);
  if (!found) return fail(found.error());
  if (!*found || step.kind == Step::Kind::kAppear) return {};
  auto const& [x, y] = **found;
  auto const clicked = send(connection, input.click(x, y), step, deadline, load);
  if (!clicked) return fail(clicked.error());
  if (!*clicked || step.kind == Step::Kind::kClick) return {};
  auto const typed = send(connection, input.type(step.text), step, deadline, load);
  if (!typed) return fail(typed.error());
  return {};
}

}  // namespace reprise
