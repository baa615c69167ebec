#include "proxy/record/recorder.h"

#include <spdlog/spdlog.h>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>

namespace reprise {
namespace {

/// How long an expected 100 is waited for before the content is sent anyway (RFC 9110 10.1.1).
constexpr std::chrono::seconds kContinueTimeout{1};

bool wants_websocket(HeaderList headers) {
  return header_has_token(headers, "Upgrade", "websocket") &&
         header_has_token(headers, "Connection", "upgrade");
}

/// Fields that are between the client and us (RFC 9110 section 7.6.1) stay here, an offer to upgrade
/// with them; all else goes on untouched, order and case kept. A plain `Connection: keep-alive` or
/// `close` is kept: it is true of the next hop, too, and origins look at it.
std::vector<HeaderView> headers_to_origin(HeaderList headers) {
  std::vector<HeaderView> kept;
  kept.reserve(headers.size());
  for (const HeaderView& field : headers) {
    auto const is = [&field](std::string_view name) {
      return equals_ignoring_case(field.name, name);
    };
    if (is("Proxy-Connection") || is("Proxy-Authorization") || is("Upgrade")) continue;
    if (is("Connection")) {
      if (!equals_ignoring_case(field.value, "keep-alive") &&
          !equals_ignoring_case(field.value, "close")) {
        continue;
      }
    } else if (header_has_token(headers, "Connection", field.name)) {
      continue;
    }
    kept.push_back(field);
  }
  return kept;
}

/// Alt-Svc would lead the client past this proxy.
std::vector<HeaderView> headers_to_client(HeaderList headers) {
  std::vector<HeaderView> kept;
  kept.reserve(headers.size());
  for (const HeaderView& field : headers) {
    if (!equals_ignoring_case(field.name, "Alt-Svc")) kept.push_back(field);
  }
  return kept;
}

bool is_idempotent(std::string_view method) {
  return method == "GET" || method == "HEAD" || method == "OPTIONS" || method == "TRACE" ||
         method == "PUT" || method == "DELETE";
}

}  // namespace

struct Recorder::Passing {
  const RequestHead& head;
  BodyReader& body;
  ResponseWriter& writer;
  ExchangeRecorder& record;
  Origin& origin;
  net::steady_timer continue_timer;  ///< cancelled by the 100, or by a final head
  bool continued = false;            ///< the origin asked for the content
  bool answered = false;             ///< a final head came
  bool client_broke_off = false;     ///< inside its request
  bool request_whole = false;
};

Recorder::Recorder(Recording& recording) : recording_(recording) {}
Recorder::~Recorder() = default;

void Recorder::close() {
  if (dialling_ != nullptr) {
    boost::system::error_code ignored;  // it is being given up
    dialling_->close(ignored);
  }
  if (active_ != nullptr) active_->stream().abort();
}

awaitable<Recorder::Dialled> Recorder::dial(const Target& target) {
  std::function<SessionTime()> const now = [this] { return recording_.now(); };
  auto dialled = co_await recording_.dialer().dial(target, hello_ ? &*hello_ : nullptr, dialling_,
                                                   now);
  Dialled result{.origin = nullptr, .facts = dialled.facts};
  auto const id = recording_.keep(std::move(dialled.facts));
  result.facts.id = id;
  if (!dialled.stream) {
    spdlog::warn("{}", result.facts.failure);
    co_return result;
  }
  result.origin = std::make_unique<Origin>();
  result.origin->id = id;
  result.origin->client = std::make_unique<H1Client>(std::move(dialled.stream));
  co_return result;
}

awaitable<TlsPlan> Recorder::plan_tls(const ConnectionInfo& connection, const ClientHello& hello) {
  hello_ = hello;
  Target target{.scheme = Scheme::kHttps, .host = hello.server_name, .port = 443};
  if (!connection.tunnel_host.empty()) {
    if (target.host.empty()) target.host = connection.tunnel_host;
    target.port = connection.tunnel_port;
  }
  TlsPlan plan;
  if (std::ranges::find(hello.alpn, "http/1.1") != hello.alpn.end()) plan.alpn = "http/1.1";
  if (target.host.empty()) {
    plan.names.names = {connection.local.address().to_string()};
    co_return plan;
  }
  plan.names.names = {target.host};
  auto dialled = co_await dial(target);
  if (!dialled.origin) {
    failed_.insert_or_assign(target, std::move(dialled.facts));
    co_return plan;
  }
  plan.tls_version = dialled.facts.tls_version;
  plan.names.chain_bytes = dialled.facts.chain_bytes;
  plan.names.names = dialled.facts.certificate_names;
  cover(plan.names, target.host);  // the user may have waived the origin's
  idle_.insert_or_assign(target, std::move(dialled.origin));
  co_return plan;
}

Task<void> Recorder::serve(const ExchangeContext& context, const RequestHead& head,
                           BodyReader& body, ResponseWriter& writer) {
  ExchangeRecorder record(recording_, context, head);
  if (wants_websocket(head.headers)) {
    record.fail_with(Outcome::kOriginFailed, "WebSocket is not recorded");
    co_return co_await send_text(writer, 501, "reprise: WebSocket is not recorded yet\n");
  }
  Target const target{
      .scheme = head.scheme, .host = std::string(head.host), .port = head.port};
  while (true) {
    std::unique_ptr<Origin> origin;
    if (auto const kept = idle_.extract(target)) {
      origin = std::move(kept.mapped());
    } else {
      ConnectionFacts facts;
      if (auto const known = failed_.extract(target)) {
        facts = std::move(known.mapped());
      } else {
        auto dialled = co_await dial(target);
        origin = std::move(dialled.origin);
        facts = std::move(dialled.facts);
      }
      if (!origin) {
        record.sent_over(facts.id);
        record.fail_with(Outcome::kOriginFailed, facts.failure);
        co_return co_await send_text(writer, 502, "reprise: " + facts.failure + "\n");
      }
    }
    record.sent_over(origin->id);
    Passing passing{.head = head,
                    .body = body,
                    .writer = writer,
                    .record = record,
                    .origin = *origin,
                    .continue_timer = net::steady_timer(co_await net::this_coro::executor)};
    active_ = origin->client.get();
    auto const attempt = co_await pass(passing);
    active_ = nullptr;
    if (!attempt) co_return fail(attempt.error());
    if (*attempt == Attempt::kStale) continue;
    if (passing.request_whole && origin->client->reusable()) {
      origin->used = true;
      idle_.insert_or_assign(target, std::move(origin));
    }
    co_return Result<void>{};
  }
}

Task<Recorder::Attempt> Recorder::pass(Passing& passing) {
  using net::experimental::awaitable_operators::operator&&;
  bool const has_body = !passing.body.finished();
  auto& client = *passing.origin.client;
  Result<void> returned;
  if (has_body) {
    // Even an origin that stopped reading may have answered: what counts is what came back.
    returned = std::get<1>(co_await (send_request(passing) && return_response(passing)));
  } else {
    (void)co_await send_request(passing);
    returned = co_await return_response(passing);
  }
  if (returned) co_return Attempt::kDone;
  if (passing.answered || passing.client_broke_off) co_return fail(returned.error());
  if (passing.origin.used && !client.response_started() && !has_body &&
      is_idempotent(passing.head.method)) {
    co_return Attempt::kStale;
  }
  auto const why = "the origin " + std::string(passing.head.host) +
                   " gave no valid response: " + returned.error().message();
  passing.record.fail_with(Outcome::kOriginFailed, why);
  if (passing.writer.head_sent()) co_return fail(returned.error());
  auto const told = co_await send_text(passing.writer, 502, "reprise: " + why + "\n");
  if (!told) co_return fail(told.error());
  co_return Attempt::kDone;
}

Task<void> Recorder::send_request(Passing& passing) {
  auto& client = *passing.origin.client;
  auto const headers = headers_to_origin(passing.head.headers);
  auto const sent = co_await client.send_head(passing.head.method, passing.head.target,
                                              passing.head.version, headers);
  if (!sent) co_return sent;
  auto const body_sent = co_await send_request_body(passing);
  // A response to half a request would never come: end the other direction too.
  if (!body_sent && !passing.answered) client.stream().abort();
  co_return body_sent;
}

Task<void> Recorder::send_request_body(Passing& passing) {
  auto& client = *passing.origin.client;
  if (!passing.body.finished()) {
    if (header_has_token(passing.head.headers, "Expect", "100-continue") && !passing.continued) {
      passing.continue_timer.expires_after(kContinueTimeout);
      co_await passing.continue_timer.async_wait(kTuple);
      if (passing.answered) co_return Result<void>{};  // refused unseen
    }
    while (!passing.body.finished()) {
      auto const piece = co_await passing.body.read();
      if (!piece) {
        passing.client_broke_off = true;
        co_return fail(piece.error());
      }
      if (auto const kept = passing.record.request_bytes(*piece); !kept) co_return kept;
      if (auto const sent = co_await client.write(*piece); !sent) co_return sent;
    }
  }
  auto const finished = co_await client.finish(passing.body.trailers());
  if (!finished) co_return finished;
  passing.record.request_sent(passing.body.trailers());
  passing.request_whole = true;
  co_return Result<void>{};
}

Task<void> Recorder::return_response(Passing& passing) {
  auto& client = *passing.origin.client;
  while (true) {
    auto const head = co_await client.read_head();
    if (!head) {
      passing.continue_timer.cancel();
      co_return fail(head.error());
    }
    if (head->status == 101) co_return fail(h1_errc::not_http);  // nobody asked for it
    auto const headers = headers_to_client(head->headers);
    ResponseHead for_client = *head;
    for_client.headers = headers;
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
    passing.record.response(*head);
    if (client.body().finished()) {
      // There is nothing behind the head, so the head is what is held back.
      if (auto const kept = passing.record.complete({}); !kept) co_return kept;
    }
    if (auto const sent = co_await passing.writer.send_head(for_client); !sent) co_return sent;
    co_return co_await return_body(passing);
  }
}

Task<void> Recorder::return_body(Passing& passing) {
  auto& body = passing.origin.client->body();
  bool kept = body.finished();
  while (!body.finished()) {
    auto const piece = co_await body.read();
    if (!piece) {
      passing.record.fail_with(Outcome::kCutByOrigin,
                               "the origin broke off: " + piece.error().message());
      co_return fail(piece.error());
    }
    if (!piece->empty()) {
      if (auto const taken = passing.record.response_bytes(*piece); !taken) co_return taken;
    }
    if (body.finished()) {
      if (auto const done = passing.record.complete(body.trailers()); !done) co_return done;
      kept = true;
    }
    if (auto const sent = co_await passing.writer.write(*piece); !sent) co_return sent;
  }
  if (!kept) {
    if (auto const done = passing.record.complete(body.trailers()); !done) co_return done;
  }
  co_return co_await passing.writer.finish(body.trailers());
}

}  // namespace reprise
