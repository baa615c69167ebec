#include "proxy/replay/sender.h"

#include <string>
#include <vector>

#include "proxy/replay/broken_exchange.h"
#include "proxy/replay/empty_miss.h"
#include "proxy/replay/timed_response.h"

namespace reprise {
namespace {

Task<void> send_made_up(const MadeUp& answer, ResponseWriter& writer) {
  auto const length = std::to_string(answer.body.size());
  std::vector<HeaderView> fields(answer.headers.list().begin(), answer.headers.list().end());
  if (answer.status != 204) fields.push_back({.name = "Content-Length", .value = length});
  ResponseHead const head{
      .status = answer.status, .reason = reason_phrase(answer.status), .headers = fields};
  if (auto const sent = co_await writer.send_head(head); !sent) co_return sent;
  if (auto const sent = co_await writer.write(bytes_of(answer.body)); !sent) co_return sent;
  co_return co_await writer.finish({});
}

Task<void> send_misdirected(const Answer& answer, const RequestHead& head, ResponseWriter& writer) {
  auto const text = "reprise: " + std::string(head.host) +
                    " cannot be requested on a connection to " + answer.connection_host + "\n";
  co_return co_await send_text(writer, 421, text);
}

/// Answers with the request and its nearest candidates.
Task<void> send_miss(const Miss& miss, ResponseWriter& writer) {
  auto text = "reprise: " + miss.reason + ": " + miss.method + " " + miss.url + "\n";
  for (const NearMiss& near : miss.nearest) text += "near: " + near.url + " (" + near.why + ")\n";
  co_return co_await send_text(writer, 404, text);
}

Task<void> send_head_alone(const StoredResponse& response, ResponseWriter& writer) {
  if (auto const sent = co_await writer.send_head(response.parts().head); !sent) co_return sent;
  co_return co_await writer.finish({});
}

/// The existing part of the response, without its end.
Task<void> send_unfinished(const Answer& answer, TimedResponse timed, Sender::Time whole_at,
                           ResponseWriter& writer) {
  auto const until = whole_at + patience_of(answer.exchange->exchange());
  if (answer.form.response != nullptr) {
    auto const whole = answer.whole();
    if (auto const sent = co_await timed.send_unfinished(whole); !sent) co_return sent;
  }
  co_return co_await break_off(until, writer);
}

}  // namespace

Task<void> Sender::send(const Answer& answer, const RequestHead& head, Time whole_at,
                        BodyReader& body, ResponseWriter& writer) const {
  using enum Answer::Kind;
  switch (answer.kind) {
    case kStored:
    case kHead:
    case kSelected:
    case kStitched:
    case kBroken:
    case kBrokenHead:
    case kWebSocket:
      break;
    case kMadeUp:
      return send_made_up(answer.made_up, writer);
    case kMisdirected:
      return send_misdirected(answer, head, writer);
    case kDamaged:
    case kMiss:
      return empty_misses_ ? send_empty_miss(answer.miss, writer) : send_miss(answer.miss, writer);
  }
  return send_recorded(answer, head, whole_at, body, writer);
}

Task<void> Sender::send_recorded(const Answer& answer, const RequestHead& head, Time whole_at,
                                 BodyReader& body, ResponseWriter& writer) const {
  using enum Answer::Kind;
  TimedResponse timed(answer.exchange->schedule(), whole_at, writer, ledger_);
  if (answer.kind == kStored) {
    auto const whole = answer.whole();
    co_return co_await timed.send(whole);
  }
  if (answer.kind == kBroken) {
    co_return co_await send_unfinished(answer, timed, whole_at, writer);
  }
  if (auto const waited = co_await timed.think(); !waited) co_return waited;
  if (answer.kind == kHead || answer.kind == kBrokenHead) {
    co_return co_await send_head_alone(*answer.form.response, writer);
  }
  if (answer.kind == kWebSocket) {
    co_return co_await web_sockets_.serve(answer.exchange->exchange(),
                                          answer.form.response->parts().head, head, body, writer);
  }
  auto const whole = answer.whole();
  co_return co_await send_selected(answer.selected, whole, writer);
}

}  // namespace reprise
