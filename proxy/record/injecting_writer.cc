#include "proxy/record/injecting_writer.h"

namespace reprise {

Task<void> InjectingWriter::send_head(const ResponseHead& head) {
  if (script_ != nullptr && request_.method != "HEAD") {
    rewriter_.emplace(
        *script_, head.status, head.headers,
        inject::RewriteOptions{.destination = inject::destination_of(request_.headers)});
    if (rewriter_->decided()) rewriter_.reset();  // it passes unchanged
  }
  if (!rewriter_) co_return co_await client_.send_head(head);
  head_ = head;
  reason_ = head.reason;
  framed_by_length_ = find_header(head.headers, "Content-Length").has_value();
  head_held_ = true;
  co_return Result<void>{};
}

Task<void> InjectingWriter::write(Bytes bytes) {
  if (!rewriter_) co_return co_await client_.write(bytes);
  // Data from the origin must not wait for later data.
  co_return co_await pass(bytes, coding::Until::kFlush);
}

Task<void> InjectingWriter::finish(HeaderList trailers) {
  if (rewriter_) {
    if (auto const passed = co_await pass({}, coding::Until::kEnd); !passed) co_return passed;
    if (!broken_) co_return broken_;
  }
  co_return co_await client_.finish(trailers);
}

Task<void> InjectingWriter::abandon() {
  if (!head_held_) co_return Result<void>{};
  coding::Buffer held;
  rewriter_->give_up(held);
  if (auto const sent = co_await send_held_head(); !sent) co_return sent;
  if (held.empty()) co_return Result<void>{};
  co_return co_await client_.write(held);
}

Task<void> InjectingWriter::pass(Bytes bytes, coding::Until until) {
  if (!broken_) co_return Result<void>{};  // the recording continues
  coding::Buffer out;
  broken_ = rewriter_->write(bytes, until, out);
  if (!rewriter_->decided()) co_return Result<void>{};
  if (auto const sent = co_await send_held_head(); !sent) co_return sent;
  if (out.empty()) co_return Result<void>{};
  co_return co_await client_.write(out);
}

Task<void> InjectingWriter::send_held_head() {
  if (!std::exchange(head_held_, false)) co_return Result<void>{};
  auto const fields = rewriter_->headers().list();
  std::vector<HeaderView> framed(fields.begin(), fields.end());
  // An unknown length must not cost the connection.
  if (framed_by_length_ && head_.version == HttpVersion::kHttp11 &&
      !find_header(fields, "Content-Length")) {
    framed.push_back({.name = "Transfer-Encoding", .value = "chunked"});
  }
  head_.reason = reason_;
  head_.headers = framed;
  co_return co_await client_.send_head(head_);
}

}  // namespace reprise
