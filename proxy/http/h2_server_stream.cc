#include "proxy/http/h2_server_stream.h"

namespace reprise {

void H2ServerStream::begin(std::int32_t id) {
  reuse(id);
  method_.clear();
  let_go();
  head_sent_ = has_content_ = finished_ = expects_continue_ = asks_protocol_ = false;
  switched_ = false;
  stand_still_ = {};
  interim_limit_ = {};
  active = running = false;
  head_bytes = 0;
}

bool H2ServerStream::window_is_closed() const {
  return nghttp2_session_get_stream_remote_window_size(session_.raw(), id()) <= 0;
}

bool H2ServerStream::stalls_over(std::chrono::seconds patience,
                                 std::chrono::steady_clock::time_point now) {
  // Another protocol may be silent for any time.
  bool const to_send = awaits_content() && !switched_;
  bool const to_take = content_waits() && window_is_closed();
  return stand_still_.lasts_over(
      patience, to_send || to_take ? std::optional(moved_bytes()) : std::nullopt, now);
}

std::unexpected<std::error_code> H2ServerStream::gone() const {
  return fail(std::error_code(NGHTTP2_STREAM_CLOSED, h2_category()));
}

void H2ServerStream::submit_interim(const ResponseHead& head) {
  if (head.status == 101) return;
  if (head.status == 100) expects_continue_ = false;
  H2Fields const made(head);
  auto const fields = made.copied();
  nghttp2_submit_headers(session_.raw(), NGHTTP2_FLAG_NONE, id(), nullptr, fields.data(),
                         fields.size(), nullptr);
  session_.wake();
}

void H2ServerStream::respond(const nghttp2_nv* fields, std::size_t count) {
  auto const content = provider();
  nghttp2_submit_response(session_.raw(), id(), fields, count, has_content_ ? &content : nullptr);
  session_.wake();
}

void H2ServerStream::switch_protocols(const ResponseHead& head) {
  // RFC 8441 section 5: a success status accepts, and there is no key to answer.
  std::vector<HeaderView> fields;
  for (const HeaderView& field : head.headers) {
    if (!equals_ignoring_case(field.name, "Sec-WebSocket-Accept")) fields.push_back(field);
  }
  ResponseHead agreed = head;
  agreed.status = 200;
  agreed.headers = fields;
  H2Fields const made(agreed);
  auto const copied = made.copied();
  head_sent_ = has_content_ = switched_ = true;
  respond(copied.data(), copied.size());
}

Task<void> H2ServerStream::send_head(const ResponseHead& head) {
  if (closed()) co_return gone();
  if (head.status == 101 && asks_protocol_) {
    switch_protocols(head);
    co_return Result<void>{};
  }
  if (is_interim(head.status)) {
    if (!interim_limit_.takes(head.headers)) {
      co_return fail(std::error_code(NGHTTP2_ENHANCE_YOUR_CALM, h2_category()));
    }
    submit_interim(head);
    co_return Result<void>{};
  }
  H2Fields const made(head);
  auto const fields = made.copied();
  head_sent_ = true;
  has_content_ = may_have_body(method_, head.status);
  respond(fields.data(), fields.size());
  co_return Result<void>{};
}

Task<Bytes> H2ServerStream::read() {
  if (expects_continue_ && !head_sent_ && !anything_arrived()) {
    if (auto const asked = co_await send_head({.status = 100}); !asked) {
      co_return fail(asked.error());
    }
  }
  expects_continue_ = false;
  co_return co_await H2Content::read();
}

Task<void> H2ServerStream::write(Bytes bytes) {
  if (!has_content_) co_return Result<void>{};
  if (bytes.empty()) co_return co_await flush_head();
  co_return co_await H2Content::write(bytes);
}

Task<void> H2ServerStream::finish(HeaderList trailers) {
  finished_ = true;
  if (!has_content_) co_return Result<void>{};
  co_return co_await H2Content::finish(trailers);
}

Task<void> H2ServerStream::send_stored(StoredResponsePtr response) {
  if (closed()) co_return gone();
  answer(std::move(response));
  co_return Result<void>{};
}

void H2ServerStream::answer(StoredResponsePtr stored) {
  answered_ = std::move(stored);
  const StoredResponse& response = *answered_;
  auto const& parts = response.parts();
  for (const ResponseHead& interim : parts.interim) submit_interim(interim);
  head_sent_ = true;
  finished_ = true;
  has_content_ = may_have_body(method_, parts.head.status) &&
                 (!parts.body.bytes.empty() || parts.pieces != nullptr || !parts.trailers.empty());
  if (has_content_) send_whole(answered_);
  respond(response.h2_fields().data(), response.h2_fields().size());
}

}  // namespace reprise
