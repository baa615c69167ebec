#include "proxy/http/h1_writer.h"

#include <array>
#include <charconv>

#include "proxy/http/handler.h"

namespace reprise {

void H1Writer::begin_body(BodyFraming framing) {
  framing_ = framing;
  left_bytes_ = framing.length_bytes;
}

Task<void> H1Writer::write(Bytes bytes) {
  if (bytes.empty()) co_return Result<void>{};
  switch (framing_.kind) {
    case BodyFraming::Kind::kNone:
      co_return fail(h1_errc::contradicts_length);
    case BodyFraming::Kind::kLength:
      if (bytes.size() > left_bytes_) co_return fail(h1_errc::contradicts_length);
      left_bytes_ -= bytes.size();
      co_return co_await stream_.write(bytes);
    case BodyFraming::Kind::kChunked: {
      auto const line = chunk_line(bytes.size());
      std::array<Piece, 3> const pieces{bytes_of(line), bytes, bytes_of("\r\n")};
      co_return co_await stream_.write(pieces);
    }
    case BodyFraming::Kind::kUntilClose:
      co_return co_await stream_.write(bytes);
  }
  co_return Result<void>{};
}

Task<void> H1Writer::finish(HeaderList trailers) {
  if (framing_.kind == BodyFraming::Kind::kLength && left_bytes_ > 0) {
    co_return fail(h1_errc::contradicts_length);
  }
  if (framing_.kind == BodyFraming::Kind::kChunked) {
    auto const tail = chunk_tail(trailers);
    co_return co_await stream_.write(bytes_of(tail));
  }
  co_return Result<void>{};
}

std::string response_head_text(const ResponseHead& head) {
  std::size_t size = 32 + head.reason.size();
  for (const HeaderView& field : head.headers) size += field.name.size() + field.value.size() + 4;
  std::string text;
  text.reserve(size);
  bool const old = head.version == HttpVersion::kHttp10;
  text.append(old ? "HTTP/1.0 " : "HTTP/1.1 ").append(status_text(head.status)).append(" ");
  bool const has_reason = is_http1(head.version);
  text.append(has_reason ? head.reason : reason_phrase(head.status)).append("\r\n");
  for (const HeaderView& field : head.headers) {
    text.append(field.name).append(": ").append(field.value).append("\r\n");
  }
  text.append("\r\n");
  return text;
}

std::string chunk_line(std::size_t size_bytes) {
  std::array<char, 20> digits;
  auto const end = std::to_chars(digits.data(), digits.data() + digits.size(), size_bytes, 16).ptr;
  return std::string(digits.data(), end).append("\r\n");
}

std::string chunk_tail(HeaderList trailers) {
  std::string tail = "0\r\n";
  for (const HeaderView& field : trailers) {
    tail.append(field.name).append(": ").append(field.value).append("\r\n");
  }
  tail.append("\r\n");
  return tail;
}

}  // namespace reprise
