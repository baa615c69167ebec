#pragma once

// The command layer of both protocols: numbered commands, their replies, and events.
// - The Chrome DevTools Protocol in its flat form: every message of a target has the sessionId from
//   Target.attachToTarget. https://chromedevtools.github.io
// - WebDriver BiDi, which has no such ids. https://w3c.github.io/webdriver-bidi

#include <boost/json/object.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "pageload/browser/message_stream.h"

namespace reprise {

/// A command to the browser.
struct RemoteCommand {
  std::string session;  ///< empty for the browser itself
  std::string method;
  boost::json::object params;
};

/// The browser's answer to one command.
struct RemoteReply {
  boost::json::object result;
  std::string error;  ///< the browser's message if it refused; otherwise empty
};

/// Sends commands and delivers replies and events, both only inside call() and pump(). Blocking
/// with deadlines; one thread. After an error the connection is unusable.
class RemoteConnection {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using EventSink = std::function<void(std::string_view session, std::string_view method,
                                       const boost::json::object& params)>;
  using ReplySink = std::function<void(RemoteReply reply)>;

  explicit RemoteConnection(std::unique_ptr<MessageStream> stream) : stream_(std::move(stream)) {}

  /// Sends every event from now on to `sink`, which may call post().
  void set_event_sink(EventSink sink) { event_sink_ = std::move(sink); }

  /// Sends a command and does not wait. `session` is empty for the browser itself. `on_reply` can
  /// be empty, and may call post().
  void post(std::string_view session, std::string_view method, boost::json::object params = {},
            ReplySink on_reply = {});

  /// Sends a command and waits for its reply; meanwhile events go to the sink. Errors: timed_out,
  /// and those of pump().
  Result<RemoteReply> call(std::string_view session, std::string_view method,
                           boost::json::object params, TimePoint deadline);
  Result<RemoteReply> call(RemoteCommand command, TimePoint deadline);

  /// Handles the next message, or returns false if none came until `deadline`. Errors: broken_pipe
  /// (the browser is gone), message_size, bad_message (not the protocol). A message that is nested
  /// too deeply is skipped: a page can make one by what it logs. So a call whose reply is one times
  /// out.
  Result<bool> pump(TimePoint deadline);

  /// Handles messages until `done()` is true, and returns true; or until `deadline`, also if
  /// messages still come, and returns false: a page can send events without end. Errors: those of
  /// pump().
  Result<bool> pump_until(const std::function<bool()>& done, TimePoint deadline);

 private:
  std::unique_ptr<MessageStream> stream_;
  EventSink event_sink_;
  std::uint64_t last_id_ = 0;
  std::unordered_map<std::uint64_t, ReplySink> waiting_;
};

/// Parses one message of the protocol. A lone UTF-16 surrogate, which a page can put into any of
/// its strings but JSON cannot hold, becomes U+FFFD. Pure. Errors: bad_message; value_too_large:
/// nested more than 512 levels deep.
Result<boost::json::object> parse_remote_message(std::string message);

}  // namespace reprise
