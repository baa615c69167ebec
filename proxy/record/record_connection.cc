#include "proxy/record/record_connection.h"

#include <spdlog/spdlog.h>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>

#include "proxy/http/fitted_fields.h"
#include "proxy/record/forwarded_headers.h"
#include "proxy/record/passing.h"
#include "proxy/record/send_again.h"
#include "proxy/record/web_socket_relay.h"

namespace reprise {
namespace {

/// How long to wait for an expected 100 before sending the content anyway (RFC 9110 10.1.1).
constexpr std::chrono::seconds kContinueTimeout{1};
/// The limit of a pause in the rest of a request that was answered early.
constexpr std::chrono::seconds kUploadStallTimeout{30};

bool agrees(const RequestHead& request, const ResponseHead& response) {
  return !request.protocol.empty() && agrees_to_web_socket(response.version, response.status);
}

FittedFields fields_for_client(const RequestHead& request, const ResponseHead& response) {
  auto const framing = response_framing(request.method, response, Tolerance::kAsBrowsers);
  return {request.method, response, framing.value_or(BodyFraming{})};
}

}  // namespace

RecordConnection::RecordConnection(RecordSession& session, const ConnectionInfo& connection)
    : session_(session), client_(connection), trace_fetcher_(session, connection) {}
RecordConnection::~RecordConnection() = default;

void RecordConnection::close() {
  closed_ = true;
  trace_fetcher_.close();
  for (dns::Ticket* const ticket : dialling_) ticket->cancel();
  for (auto& [target, connection] : connections_) connection->close();
}

awaitable<void> RecordConnection::ended() {
  while (running_ > 0) co_await all_ended_.wait();
  co_await trace_fetcher_.ended();
}

Task<void> RecordConnection::serve(const ExchangeContext& context, const RequestHead& received,
                                   BodyReader& body, ResponseWriter& writer) {
  TracedRequest const traced(received, session_.traces());
  const RequestHead& head = traced.head();
  ExchangeRecorder record(session_, context, head, body);
  if (auto const why = session_.why_blocked(head); !why.empty()) {
    co_await record.origin_failed(why);
    co_return co_await send_bad_gateway(writer, why);
  }
  auto const target = target_of(head);
  auto& reach = session_.reach();
  KeptContent content;
  KeptFacts tried;       // of a connection: what fails on it twice would fail again
  bool refused = false;  // by a connection that was dialled for it
  while (true) {
    auto const permitted = session_.dialer().has_rule(target) ? Reach::kAll : reach.of(head);
    auto const acquired = co_await acquire(target, permitted);
    record.sent_over(acquired.facts);
    if (closed_) co_return fail(std::make_error_code(std::errc::operation_canceled));
    if (acquired.private_refused) {
      session_.refuse_private(acquired.facts->failure);
      co_await record.origin_failed(acquired.facts->failure);
      co_return co_await send_text(writer, 403, "reprise: " + acquired.facts->failure + "\n");
    }
    if (acquired.connection == nullptr) {
      co_await record.origin_failed(acquired.facts->failure);
      co_return co_await send_bad_gateway(writer, acquired.facts->failure);
    }
    reach.reached(head, acquired.connection->is_private);
    auto const exchange = acquired.connection->begin();
    InjectingWriter injecting(writer, session_.script(), head);
    Passing passing{.head = head,
                    .body = body,
                    .writer = writer,
                    .injecting = injecting,
                    .record = record,
                    .exchange = *exchange,
                    .content = content,
                    .fresh = acquired.fresh || acquired.facts == tried,
                    .refused_before = refused,
                    .continue_timer = net::steady_timer(co_await net::this_coro::executor),
                    .upload_timer = net::steady_timer(co_await net::this_coro::executor)};
    tried = acquired.facts;
    auto const attempt = co_await pass(passing);
    if (!attempt) co_return fail(attempt.error());
    if (passing.switched) {
      WebSocketRelay relay(session_, record.archived_as(), body, writer, *exchange, closed_);
      co_return co_await relay.run();
    }
    if (*attempt == Attempt::kStale) {
      refused = refused || passing.fresh;
      continue;
    }
    if (session_.trace_limits() != nullptr) {
      trace_fetcher_.consider(head, passing.trace, permitted, co_await net::this_coro::executor);
    }
    co_return Result<void>{};
  }
}

Task<RecordConnection::Attempt> RecordConnection::pass(Passing& passing) {
  using net::experimental::awaitable_operators::operator||;
  // The response decides; the request's direction ends first only if the client has closed.
  auto const first = co_await (send_and_watch(passing) || answer(passing));
  if (first.index() == 0) {
    passing.exchange.abort();
    co_return fail(std::make_error_code(std::errc::connection_aborted));
  }
  auto const& returned = std::get<1>(first);
  if (returned) co_return Attempt::kDone;
  if (passing.answered || closed_) co_return fail(returned.error());
  FailedAttempt const failed{.method = passing.head.method,
                             .error = returned.error(),
                             .fresh = passing.fresh,
                             .refused_before = passing.refused_before};
  bool const again = !passing.exchange.response_started() && may_be_sent_again(failed);
  if (again && passing.content.complete()) co_return Attempt::kStale;
  auto const why = "the origin " + std::string(passing.head.host) +
                   " gave no valid response: " + returned.error().message();
  co_await passing.record.origin_failed(why);
  // The client has the content, and sends it again if its own connection ends.
  if (again && client_.alpn != "h2") co_return fail(returned.error());
  if (auto const told = co_await send_bad_gateway(passing.writer, why); !told) {
    co_return fail(told.error());
  }
  co_return Attempt::kDone;
}

Task<void> RecordConnection::send_and_watch(Passing& passing) {
  auto sending = send_request(passing);
  // Without content it soon returns.
  bool const has_content = !passing.body.finished() || !passing.content.bytes().empty();
  if (has_content) sending = passing.watch.run(std::move(sending));
  auto const sent = co_await std::move(sending);
  passing.upload_over = true;
  passing.upload_timer.cancel();
  // An origin that accepts no more may have answered: the other direction will find out.
  if (!sent) spdlog::debug("request to {}: {}", passing.head.host, sent.error().message());
  // Without its request the origin would not answer, and the client might wait forever.
  if ((passing.request_lost && !passing.answered) || passing.watch.client_left()) co_return sent;
  co_await passing.writer.client_gone();
  co_return sent;
}

Task<void> RecordConnection::send_request(Passing& passing) {
  ForwardedHeaders const headers(passing.head, &session_.rules());
  RequestHead head = passing.head;
  head.headers = headers.list();
  bool const switches = !head.protocol.empty();
  auto const read_before = passing.content.bytes();  // by an attempt that failed
  // Trailers follow content, be it empty.
  bool const has_content = !switches && (!read_before.empty() || !passing.body.finished() ||
                                         !passing.body.trailers().empty());
  if (auto const sent = co_await passing.exchange.send_head(head, has_content); !sent) {
    co_return sent;
  }
  if (switches) {
    passing.record.request_sent({});
    co_return Result<void>{};
  }
  if (has_content && header_has_token(head.headers, "Expect", "100-continue") &&
      !passing.continued) {
    passing.continue_timer.expires_after(kContinueTimeout);
    co_await passing.continue_timer.async_wait(kTuple);
    if (passing.answered) co_return Result<void>{};  // refused without reading it
  }
  if (!read_before.empty()) {
    if (auto const sent = co_await passing.exchange.write(read_before); !sent) co_return sent;
    passing.progressed();
  }
  while (!passing.body.finished()) {
    auto const piece = co_await passing.body.read();
    auto const kept = piece ? passing.record.request_bytes(*piece) : fail(piece.error());
    passing.request_lost = !kept;
    if (!kept) co_return kept;
    passing.content.add(*piece);
    if (auto const sent = co_await passing.exchange.write(*piece); !sent) co_return sent;
    passing.progressed();
  }
  auto const finished = co_await passing.exchange.finish(passing.body.trailers());
  if (finished) passing.record.request_sent(passing.body.trailers());
  co_return finished;
}

Task<void> RecordConnection::answer(Passing& passing) {
  auto const returned = co_await return_response(passing);
  if (!returned) co_return returned;
  // An origin may answer early and continue to read: it gets the rest, as long as that arrives.
  while (!passing.upload_over) {
    passing.upload_timer.expires_after(kUploadStallTimeout);
    auto const [interrupted] = co_await passing.upload_timer.async_wait(kTuple);
    if (!interrupted) break;
  }
  co_return returned;
}

Task<void> RecordConnection::return_response(Passing& passing) {
  while (true) {
    auto const head = co_await passing.exchange.read_head();
    if (!head) co_return fail(head.error());
    if (agrees(passing.head, *head)) co_return co_await open_web_socket(passing, *head);
    if (head->status == 101) co_return fail(h1_errc::not_http);  // it was not requested
    auto const fields = fields_for_client(passing.head, *head);
    ResponseHead for_client = *head;
    for_client.headers = fields.list();
    if (is_interim(head->status)) {
      passing.record.interim(*head);
      if (auto const sent = co_await passing.writer.send_head(for_client); !sent) co_return sent;
      if (head->status == 100) {
        passing.continued = true;
        passing.continue_timer.cancel();
      }
      continue;
    }
    passing.answered = true;
    passing.continue_timer.cancel();
    passing.record.response(*head, passing.exchange.sent_at());
    passing.trace.add(head->headers);
    if (passing.exchange.body().finished()) {
      // Nothing but trailers follows the head, so the head is held back.
      if (auto const kept = passing.complete(); !kept) co_return kept;
    }
    if (auto const sent = co_await passing.injecting.send_head(for_client); !sent) co_return sent;
    co_return co_await return_body(passing);
  }
}

Task<void> RecordConnection::open_web_socket(Passing& passing, const ResponseHead& head) {
  passing.answered = true;
  passing.switched = true;
  passing.exchange.switch_protocols();
  passing.record.response(head);
  if (auto const kept = passing.record.complete({}); !kept) co_return kept;
  auto const fields = fields_for_client(passing.head, head);
  ResponseHead for_client = head;
  for_client.status = 101;
  for_client.headers = fields.list();
  co_return co_await passing.writer.send_head(for_client);
}

Task<void> RecordConnection::return_body(Passing& passing) {
  auto& body = passing.exchange.body();
  while (!passing.kept) {
    auto const piece = co_await body.read();
    if (!piece) {
      // It is cancelled if the client closed.
      if (!closed_ && piece.error() != std::errc::operation_canceled) {
        passing.record.fail_with(Outcome::kCutByOrigin,
                                 "the origin broke off: " + piece.error().message());
        // The archive has these bytes, too.
        (void)co_await passing.injecting.abandon();
      }
      co_return fail(piece.error());
    }
    if (auto const taken = passing.record.response_bytes(*piece); !taken) co_return taken;
    if (body.finished()) {
      if (auto const done = passing.complete(); !done) co_return done;
    }
    if (auto const sent = co_await passing.injecting.write(*piece); !sent) co_return sent;
  }
  passing.watch.response_ends();
  auto const finished = co_await passing.injecting.finish(body.trailers());
  if (auto const* const report = passing.injecting.report();
      report != nullptr && report->verdict == inject::Verdict::kRewritten) {
    ++session_.counters().injected;
    session_.counters().injected_bytes += report->added_wire_bytes;
  }
  co_return finished;
}

}  // namespace reprise
