#pragma once

// The command layer that both protocols have: numbered commands, their replies, and events.
// - The Chrome DevTools Protocol in its flat form: every message of a target carries the sessionId
//   that Target.attachToTarget gave. https://chromedevtools.github.io
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

/// What the browser is told.
struct RemoteCommand {
  std::string session;  ///< empty for the browser itself
  std::string method;
  boost::json::object params;
};

/// What the browser answered to one command.
struct RemoteReply {
  boost::json::object result;
  std::string error;  ///< the browser's words when it refused; empty otherwise
};

/// Sends commands and hands out replies and events, both from inside call() and pump() only.
/// Blocking with deadlines; one thread. After any error the connection is of no more use.
class RemoteConnection {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using EventSink = std::function<void(std::string_view session, std::string_view method,
                                       const boost::json::object& params)>;
  using ReplySink = std::function<void(RemoteReply reply)>;

  explicit RemoteConnection(std::unique_ptr<MessageStream> stream) : stream_(std::move(stream)) {}

  /// Every event from now on goes to `sink`; it may post().
  void set_event_sink(EventSink sink) { event_sink_ = std::move(sink); }

  /// Sends a command and does not wait. `session` is empty for the browser itself. `on_reply` may
  /// be empty; it may post().
  void post(std::string_view session, std::string_view method, boost::json::object params = {},
            ReplySink on_reply = {});

  /// Sends a command and waits for its reply; events meanwhile go to the sink.
  /// Errors: timed_out, and those of pump().
  Result<RemoteReply> call(std::string_view session, std::string_view method,
                           boost::json::object params, TimePoint deadline);
  Result<RemoteReply> call(RemoteCommand command, TimePoint deadline);

  /// Handles the next message, or returns false when none came until `deadline`.
  /// Errors: broken_pipe (the browser is gone), message_size, bad_message (not the protocol).
  Result<bool> pump(TimePoint deadline);

 private:
  std::unique_ptr<MessageStream> stream_;
  EventSink event_sink_;
  std::uint64_t last_id_ = 0;
  std::unordered_map<std::uint64_t, ReplySink> waiting_;
};

/// Parses one message of the protocol. A lone UTF-16 surrogate, which a page may put into any of
/// its strings and which JSON has no room for, becomes U+FFFD. Pure. Errors: bad_message.
Result<boost::json::object> parse_remote_message(std::string message);

}  // namespace reprise
