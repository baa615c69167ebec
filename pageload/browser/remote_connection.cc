#include "pageload/browser/remote_connection.h"

#include <boost/json/error.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "base/text/json_fields.h"

namespace json = boost::json;

namespace reprise {
namespace {

constexpr std::size_t kNestingMax = 512;

/// The four hex digits of a \uXXXX escape that starts at `at`, or nullopt.
std::optional<unsigned> escape_at(std::string_view text, std::size_t at) {
  if (at + 6 > text.size() || text[at] != '\\' || text[at + 1] != 'u') return std::nullopt;
  unsigned value = 0;
  for (char const c : text.substr(at + 2, 4)) {
    unsigned digit = 0;
    if (c >= '0' && c <= '9') {
      digit = static_cast<unsigned>(c - '0');
    } else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') {
      digit = static_cast<unsigned>((c | 0x20) - 'a') + 10;
    } else {
      return std::nullopt;
    }
    value = value * 16 + digit;
  }
  return value;
}

/// Overwrites the escapes of lone surrogates. A backslash outside a string is a syntax error
/// anyway, so strings need no special treatment.
void replace_lone_surrogates(std::string& text) {
  auto const in = [](std::optional<unsigned> unit, unsigned from, unsigned to) {
    return unit && *unit >= from && *unit <= to;
  };
  for (std::size_t at = text.find('\\'); at != std::string::npos; at = text.find('\\', at)) {
    auto const unit = escape_at(text, at);
    if (!unit) {
      at += 2;
    } else if (in(unit, 0xD800, 0xDBFF) && in(escape_at(text, at + 6), 0xDC00, 0xDFFF)) {
      at += 12;
    } else {
      if (in(unit, 0xD800, 0xDFFF)) text.replace(at, 6, "\\ufffd");
      at += 6;
    }
  }
}

json::value parse(std::string_view text, json::error_code& error) {
  json::parse_options options;
  options.max_depth = kNestingMax;
  options.allow_invalid_utf8 = true;
  return json::parse(text, error, {}, options);
}

}  // namespace

Result<json::object> parse_remote_message(std::string message) {
  json::error_code error;
  json::value value = parse(message, error);
  if (error) {
    replace_lone_surrogates(message);
    error.clear();
    value = parse(message, error);
  }
  if (error == json::error::too_deep) {
    return fail(std::make_error_code(std::errc::value_too_large));
  }
  if (error || !value.is_object()) return fail(std::make_error_code(std::errc::bad_message));
  return std::move(value.get_object());
}

void RemoteConnection::post(std::string_view session, std::string_view method, json::object params,
                            ReplySink on_reply) {
  std::uint64_t const id = ++last_id_;
  json::object message;
  message["id"] = id;
  message["method"] = method;
  message["params"] = std::move(params);
  if (!session.empty()) message["sessionId"] = session;
  if (on_reply) waiting_.emplace(id, std::move(on_reply));
  stream_->send(json::serialize(message));
}

Result<RemoteReply> RemoteConnection::call(std::string_view session, std::string_view method,
                                           json::object params, TimePoint deadline) {
  // Shared with the sink, which outlives this call if the reply comes too late.
  auto const answer = std::make_shared<std::optional<RemoteReply>>();
  post(session, method, std::move(params),
       [answer](RemoteReply reply) { *answer = std::move(reply); });
  auto const answered = pump_until([&answer] { return answer->has_value(); }, deadline);
  if (!answered) return fail(answered.error());
  if (!*answered) return fail(std::make_error_code(std::errc::timed_out));
  return std::move(**answer);
}

Result<RemoteReply> RemoteConnection::call(RemoteCommand command, TimePoint deadline) {
  return call(command.session, command.method, std::move(command.params), deadline);
}

Result<bool> RemoteConnection::pump(TimePoint deadline) {
  auto received = stream_->receive(deadline);
  if (!received) return fail(received.error());
  if (!*received) return false;
  auto message = parse_remote_message(std::move(**received));
  if (!message && message.error() == std::errc::value_too_large) return true;
  if (!message) return fail(message.error());
  if (message->contains("id")) {
    auto const found = waiting_.find(static_cast<std::uint64_t>(integer_at(*message, "id")));
    if (found == waiting_.end()) return true;
    ReplySink const sink = std::move(found->second);
    waiting_.erase(found);
    RemoteReply reply;
    if (message->contains("error")) {
      // DevTools has an object here, BiDi a word, with the sentence beside it.
      reply.error = text_at(object_at(*message, "error"), "message");
      if (reply.error.empty()) reply.error = text_at(*message, "message");
      if (reply.error.empty()) reply.error = "refused without a reason";
    }
    if (auto* const result = message->if_contains("result"); result && result->is_object()) {
      reply.result = std::move(result->get_object());
    }
    sink(std::move(reply));
  } else if (message->contains("method")) {
    if (event_sink_) {
      event_sink_(text_at(*message, "sessionId"), text_at(*message, "method"),
                  object_at(*message, "params"));
    }
  } else {
    return fail(std::make_error_code(std::errc::bad_message));
  }
  return true;
}

Result<bool> RemoteConnection::pump_until(const std::function<bool()>& done, TimePoint deadline) {
  while (!done()) {
    auto const handled = pump(deadline);
    if (!handled) return fail(handled.error());
    if (!*handled || std::chrono::steady_clock::now() >= deadline) return done();
  }
  return true;
}

}  // namespace reprise
