#include "proxy/http/h1_response.h"

#include <boost/asio/experimental/awaitable_operators.hpp>

namespace reprise {
namespace {

/// A client may be gone this long unnoticed, as watching it costs more than the wait itself.
constexpr std::chrono::milliseconds kUnwatchedPause{250};

}  // namespace

Task<void> H1Response::switch_protocols(const ResponseHead& head) {
  head_sent_ = true;
  switched_ = true;
  body_.begin_body({.kind = BodyFraming::Kind::kUntilClose});
  auto const text = response_head_text(head);
  co_return co_await stream_.write(bytes_of(text));
}

Task<void> H1Response::send_head(const ResponseHead& head) {
  if (head.status == 101 && !request_.protocol.empty()) {
    co_return co_await switch_protocols(head);
  }
  if (is_interim(head.status)) {
    if (head.status == 100 && std::exchange(continued_, true)) co_return Result<void>{};
    if (request_.version == HttpVersion::kHttp10) co_return Result<void>{};  // RFC 9110 15.2
    auto const text = response_head_text(head);
    co_return co_await stream_.write(bytes_of(text));
  }
  auto framing = response_framing(request_.method, head);
  if (!framing) co_return fail(framing.error());
  head_sent_ = true;
  std::vector<HeaderView> fields;
  ResponseHead fitted = head;
  if (framing->kind == BodyFraming::Kind::kChunked && request_.version == HttpVersion::kHttp10) {
    framing->kind = BodyFraming::Kind::kUntilClose;
    for (const HeaderView& field : head.headers) {
      if (!equals_ignoring_case(field.name, "Transfer-Encoding")) fields.push_back(field);
    }
    fitted.headers = fields;
  } else if (framing->kind == BodyFraming::Kind::kUntilClose && !is_http1(head.version) &&
             request_.version != HttpVersion::kHttp10) {
    // Other protocols have their own framing.
    framing->kind = BodyFraming::Kind::kChunked;
    fields.assign(head.headers.begin(), head.headers.end());
    fields.push_back({.name = "Transfer-Encoding", .value = "chunked"});
    fitted.headers = fields;
  }
  auto const text = response_head_text(fitted);
  until_close_ = framing->kind == BodyFraming::Kind::kUntilClose;
  keeps_alive_ = !until_close_ && goes_on(head);
  body_.begin_body(*framing);
  co_return co_await stream_.write(bytes_of(text));
}

Task<void> H1Response::write(Bytes bytes) {
  if (request_.method == "HEAD") co_return Result<void>{};
  co_return co_await body_.write(bytes);
}

Task<void> H1Response::finish(HeaderList trailers) {
  auto const done = co_await body_.finish(trailers);
  finished_ = done.has_value();
  co_return done;
}

Task<void> H1Response::send_stored(StoredResponsePtr response) {
  if (response->h1_wire().empty() || request_.version == HttpVersion::kHttp10) {
    co_return co_await send_in_steps(*response);
  }
  head_sent_ = true;
  auto const sent = co_await stream_.write(response->h1_wire());
  finished_ = sent.has_value();
  keeps_alive_ = response->h1_keeps_alive();
  co_return sent;
}

Task<void> H1Response::pause_until(std::chrono::steady_clock::time_point at) {
  using net::experimental::awaitable_operators::operator||;
  using Clock = std::chrono::steady_clock;
  while (!hurries_ && Clock::now() < at) {
    if (at - Clock::now() < kUnwatchedPause) {
      co_await pause_.wait_until(at);
    } else {
      auto const first = co_await (pause_.wait_until(at) || stream_.peer_gone());
      if (first.index() == 1) co_return fail(std::make_error_code(std::errc::connection_aborted));
    }
  }
  co_return Result<void>{};
}

bool H1Response::goes_on(const ResponseHead& head) const {
  if (request_.version == HttpVersion::kHttp10) {
    return header_has_token(head.headers, "Connection", "keep-alive");
  }
  return reprise::keeps_alive(head.version, head.headers);
}

Task<void> H1Response::send_in_steps(const StoredResponse& response) {
  auto const& parts = response.parts();
  for (const ResponseHead& interim : parts.interim) {
    if (auto const sent = co_await send_head(interim); !sent) co_return sent;
  }
  if (auto const sent = co_await send_head(parts.head); !sent) co_return sent;
  if (auto const sent = co_await write(parts.body.bytes); !sent) co_return sent;
  for (std::size_t i = 0; parts.pieces != nullptr && i < parts.pieces->pieces(); ++i) {
    auto const piece = parts.pieces->piece(i);
    if (!piece) co_return fail(piece.error());
    if (auto const sent = co_await write(*piece); !sent) co_return sent;
  }
  co_return co_await finish(parts.trailers);
}

}  // namespace reprise
