#include "proxy/record/exchange_recorder.h"

#include <spdlog/spdlog.h>

#include <boost/asio/experimental/awaitable_operators.hpp>

#include "proxy/http/event.h"

namespace reprise {

ExchangeRecorder::ExchangeRecorder(RecordSession& session, const ExchangeContext& context,
                                   const RequestHead& head, BodyReader& body)
    : session_(session),
      body_(body),
      request_body_(session.archive()),
      response_body_(session.archive()) {
  exchange_.sequence = session.next_sequence();
  exchange_.client_connection_id = context.connection.id;
  exchange_.stream_id = context.stream_id;
  bool const switches = !head.protocol.empty();
  exchange_.request = {.method = std::string(switches ? "CONNECT" : head.method),
                       .scheme = head.scheme,
                       .host = std::string(head.host),
                       .port = head.port,
                       .target = std::string(head.target),
                       .version = head.version,
                       .protocol = std::string(head.protocol),
                       .headers = Headers(head.headers)};
  exchange_.timings.queued = session.time_of(context.arrived);
  ++session_.counters().in_flight;
}

ExchangeRecorder::~ExchangeRecorder() {
  if (!ended_) fail_with(Outcome::kCutByClient, "the client went away");
}

void ExchangeRecorder::sent_over(KeptFacts connection) {
  connection_ = std::move(connection);
  exchange_.origin_connection_id = connection_ ? connection_->id : 0;
}

Result<void> ExchangeRecorder::request_bytes(Bytes bytes) {
  if (ended_) return {};  // the origin answered without waiting for the rest
  return checked(request_body_.append(bytes));
}

void ExchangeRecorder::request_sent(HeaderList trailers) {
  if (ended_) return;
  exchange_.request.trailers = Headers(trailers);
  exchange_.timings.request_sent = session_.now();
}

void ExchangeRecorder::interim(const ResponseHead& head) {
  // An origin can send any number of them.
  if (exchange_.interim.size() == kInterimMax) {
    spdlog::debug("{}: more than {} interim responses; the rest is not recorded",
                  exchange_.request.host, kInterimMax);
    return;
  }
  exchange_.interim.push_back({.status = head.status,
                               .reason = std::string(head.reason),
                               .headers = Headers(head.headers),
                               .time = session_.now()});
}

void ExchangeRecorder::response(const ResponseHead& head,
                                std::optional<std::chrono::steady_clock::time_point> sent_at) {
  if (sent_at) exchange_.timings.request_sent = session_.time_of(*sent_at);
  exchange_.timings.first_byte = session_.now();
  exchange_.response.status = head.status;
  exchange_.response.reason = head.reason;
  exchange_.response.version = head.version;
  exchange_.response.headers = Headers(head.headers);
}

Result<void> ExchangeRecorder::response_bytes(Bytes bytes) {
  auto const end = response_body_.size_bytes() + bytes.size();
  chunk_times_.add({.end_bytes = end, .time = session_.now()});
  session_.counters().body_bytes += bytes.size();
  return checked(response_body_.append(bytes));
}

Result<void> ExchangeRecorder::complete(HeaderList trailers) {
  return end(Outcome::kComplete, {}, trailers);
}

void ExchangeRecorder::fail_with(Outcome outcome, std::string why) {
  if (ended_) return;
  spdlog::debug("{} {}://{}{}: {}: {}", exchange_.request.method,
                to_string(exchange_.request.scheme), exchange_.request.host,
                exchange_.request.target, to_string(outcome), why);
  (void)end(outcome, std::move(why), {});  // an archive's failure has already been reported
}

awaitable<void> ExchangeRecorder::origin_failed(const std::string& why) {
  using net::experimental::awaitable_operators::operator||;
  auto const& request = exchange_.request;
  bool const waits = request_body_.size_bytes() == 0 &&
                     header_has_token(request.headers.list(), "Expect", "100-continue");
  // The bytes of another protocol are not content.
  if (request.protocol.empty() && !waits && !body_.finished()) {
    Event limit;
    auto const until = std::chrono::steady_clock::now() + kRestTime;
    (void)co_await (read_rest() || limit.wait_until(until));
  }
  fail_with(Outcome::kOriginFailed, why);
}

Task<void> ExchangeRecorder::read_rest() {
  while (!body_.finished()) {
    auto const piece = co_await body_.read();
    auto const kept = piece ? request_bytes(*piece) : fail(piece.error());
    if (!kept) co_return kept;
  }
  co_return Result<void>{};
}

Result<void> ExchangeRecorder::end(Outcome outcome, std::string why, HeaderList trailers) {
  ended_ = true;
  auto& counters = session_.counters();
  --counters.in_flight;
  exchange_.outcome = outcome;
  exchange_.failure = std::move(why);
  exchange_.request.body_partial = exchange_.request.protocol.empty() && !body_.finished();
  exchange_.timings.end = session_.now();
  exchange_.response.trailers = Headers(trailers);
  exchange_.response.chunk_times = chunk_times_.take();
  auto request_body = request_body_.finish();
  if (!request_body) return checked(fail(request_body.error()));
  auto response_body = response_body_.finish();
  if (!response_body) return checked(fail(response_body.error()));
  exchange_.request.body = std::move(*request_body);
  exchange_.response.body = std::move(*response_body);
  archived_as_ = {.session = session_.archive().session().value_or(0),
                  .sequence = exchange_.sequence};
  auto const added = session_.add(std::move(exchange_));
  if (added == fail(archive_errc::too_large)) {
    ++counters.failed;
    spdlog::warn("skipped: the exchange exceeds the limits of the archive");
    return added;
  }
  if (!added) return checked(added);
  switch (outcome) {
    case Outcome::kComplete:
      ++counters.complete;
      break;
    case Outcome::kCutByClient:
    case Outcome::kCutByOrigin:
      ++counters.cut;
      break;
    case Outcome::kOriginFailed:
      ++counters.failed;
      break;
  }
  return {};
}

Result<void> ExchangeRecorder::checked(Result<void> written) {
  if (!written) session_.archive_failed(written.error());
  return written;
}

}  // namespace reprise
