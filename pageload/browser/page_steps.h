#pragma once

// Does the actions of a user on a page.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "pageload/browser/browser.h"
#include "pageload/browser/remote_connection.h"
#include "pageload/browser/steps.h"

namespace reprise {

/// The browser's commands for a user's input.
struct PageInput {
  /// Runs an expression in the page; the answer has its text at result.value.
  std::function<RemoteCommand(std::string_view expression)> evaluate;
  /// A click at a point in the window, in CSS pixels.
  std::function<std::vector<RemoteCommand>(double x, double y)> click;
  /// Keys for each character of `text`, which is UTF-8; \n is Enter.
  std::function<std::vector<RemoteCommand>(std::string_view text)> type;
};

/// The characters of UTF-8 text.
std::vector<std::string> characters_of(std::string_view text);

/// Runs one step: waits for its element, if it has one, until `deadline`. On failure sets the
/// outcome of `load`: kTimedOut, or kNavigationFailed if no page could have such an element.
/// Errors: those of RemoteConnection except timed_out, which is kTimedOut, too.
Result<void> take_step(RemoteConnection& connection, const PageInput& input, const Step& step,
                       RemoteConnection::TimePoint deadline, PageLoad& load);

}  // namespace reprise
