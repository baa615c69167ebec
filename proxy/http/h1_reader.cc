#include "proxy/http/h1_reader.h"

#include <algorithm>
#include <cstring>

namespace reprise {
namespace {

constexpr std::size_t kEmptyLinesMax = 16;

/// Whether `text` can still become a request or status line: detects other protocols at their first
/// bytes, not after a megabyte without an empty line.
bool could_be_http(std::string_view text) {
  auto const line = text.substr(0, std::min<std::size_t>(text.find('\n'), 16));
  // A reason phrase can be in any language (RFC 9112 section 4).
  bool const is_status = line.starts_with("HTTP/");
  return std::ranges::all_of(line, [is_status](char c) {
    auto const byte = static_cast<unsigned char>(c);
    return c == '\r' || (byte >= ' ' && byte < 127) || (is_status && (c == '\t' || byte > 127));
  });
}

enum class Start : std::uint8_t { kHead, kContent, kUnknown, kNotHttp };

struct Found {
  Start start = Start::kHead;
  std::size_t junk_bytes = 0;  ///< before the head
};

/// The start of a peer's bytes. Browsers accept content without a head from old audio streams.
Found start_of(std::string_view text, Tolerance tolerance) {
  constexpr std::size_t kEnough = 8;
  if (tolerance == Tolerance::kStrict) {
    return {.start = could_be_http(text) ? Start::kHead : Start::kNotHttp};
  }
  if (auto const at = find_status_line(text)) return {.junk_bytes = *at};
  if (equals_ignoring_case(text.substr(0, 4), "ICY ")) return {.start = Start::kContent};
  return {.start = text.size() < kEnough ? Start::kUnknown : Start::kNotHttp};
}

}  // namespace

H1Reader::H1Reader(ByteStream& stream, std::vector<std::byte> early, Tolerance tolerance)
    : stream_(stream), tolerance_(tolerance), head_buffer_(std::move(early)), rest_(head_buffer_) {}

Task<void> H1Reader::await_head() {
  if (!rest_.empty()) co_return Result<void>{};
  if (head_buffer_.size() < kHeadBufferBytes) head_buffer_.resize(kHeadBufferBytes);
  auto const count = co_await stream_.read_some(head_buffer_);
  if (!count) co_return fail(count.error());
  ended_early_ = *count == 0;
  rest_ = Bytes(head_buffer_).first(*count);
  co_return Result<void>{};
}

Task<std::span<char>> H1Reader::read_head() {
  if (ended_early_) co_return std::span<char>{};
  // The rest may be in the head buffer itself: grow it first, then move the rest to the front.
  std::size_t used = rest_.size();
  if (head_buffer_.size() < std::max(kHeadBufferBytes, used)) {
    std::vector<std::byte> grown(std::max(kHeadBufferBytes, used));
    std::ranges::copy(rest_, grown.begin());
    head_buffer_ = std::move(grown);
  } else if (used > 0) {
    std::memmove(head_buffer_.data(), rest_.data(), used);
  }
  rest_ = {};

  std::size_t skipped = 0;
  std::size_t scanned = 0;
  while (true) {
    auto const filled = text_of(Bytes(head_buffer_).first(used));
    while (skipped < used && (filled[skipped] == '\r' || filled[skipped] == '\n')) {
      if (++skipped > kEmptyLinesMax) co_return fail(h1_errc::not_http);
      scanned = 0;
    }
    auto const found = start_of(filled.substr(skipped), tolerance_);
    if (found.start == Start::kNotHttp) co_return fail(h1_errc::not_http);
    if (found.start == Start::kContent) {
      rest_ = Bytes(head_buffer_).first(used).subspan(skipped);
      co_return fail(h1_errc::only_content);
    }
    skipped += found.junk_bytes;
    if (found.start == Start::kHead) {
      if (auto const end = find_head_end(filled.substr(skipped), scanned)) {
        rest_ = Bytes(head_buffer_).subspan(skipped + *end, used - skipped - *end);
        co_return std::span(reinterpret_cast<char*>(head_buffer_.data()) + skipped, *end);
      }
    }
    if (used >= kHeadBytesMax) co_return fail(h1_errc::head_too_long);
    if (used == head_buffer_.size()) head_buffer_.resize(used * 2);
    auto const count = co_await stream_.read_some(std::span(head_buffer_).subspan(used));
    if (!count) co_return fail(count.error());
    if (*count == 0) {
      if (used == skipped) co_return std::span<char>{};
      co_return fail(h1_errc::truncated);
    }
    used += *count;
  }
}

void H1Reader::begin_body(BodyFraming framing) {
  framing_ = framing;
  left_bytes_ = framing.length_bytes;
  ended_ = false;
  decoder_ = ChunkedDecoder(tolerance_);  // also without chunks: it has the last message's trailers
}

Bytes H1Reader::take(std::size_t count) {
  auto const taken = rest_.first(count);
  rest_ = rest_.subspan(count);
  return taken;
}

bool H1Reader::finished() const {
  switch (framing_.kind) {
    case BodyFraming::Kind::kNone:
      return true;
    case BodyFraming::Kind::kLength:
      return left_bytes_ == 0;
    case BodyFraming::Kind::kChunked:
      return decoder_.done();
    case BodyFraming::Kind::kUntilClose:
      return ended_;
  }
  return true;
}

Task<Bytes> H1Reader::read() {
  while (!finished()) {
    if (rest_.empty()) {
      if (body_buffer_.empty()) body_buffer_.resize(kBodyBufferBytes);
      auto const count = co_await stream_.read_some(body_buffer_);
      if (!count) co_return fail(count.error());
      if (*count == 0) {
        if (framing_.kind != BodyFraming::Kind::kUntilClose) co_return fail(h1_errc::truncated);
        ended_ = true;
        break;
      }
      rest_ = Bytes(body_buffer_).first(*count);
    }
    if (framing_.kind == BodyFraming::Kind::kChunked) {
      auto const step = decoder_.next(rest_);
      if (!step) co_return fail(step.error());
      take(step->consumed);
      if (step->data.empty()) continue;
      co_return step->data;
    }
    if (framing_.kind == BodyFraming::Kind::kUntilClose) co_return take(rest_.size());
    auto const count = static_cast<std::size_t>(std::min<std::uint64_t>(left_bytes_, rest_.size()));
    left_bytes_ -= count;
    co_return take(count);
  }
  co_return Bytes{};
}

std::vector<std::byte> H1Reader::take_rest() {
  std::vector<std::byte> rest(rest_.begin(), rest_.end());
  rest_ = {};
  return rest;
}

}  // namespace reprise
