#pragma once

#include <span>
#include <vector>

#include "base/http/h1_parser.h"
#include "proxy/http/handler.h"

namespace reprise {

/// The reading side of an HTTP/1.x connection, server's or client's: heads and bodies in sequence,
/// including pipelined ones. A head stays valid while its body is read.
class H1Reader final : public BodyReader {
 public:
  /// `early`: bytes of the stream that were already read. `tolerance`: for an origin's responses.
  explicit H1Reader(ByteStream& stream, std::vector<std::byte> early = {},
                    Tolerance tolerance = Tolerance::kStrict);

  /// Returns once a byte of the next message, or the end, has arrived.
  Task<void> await_head();

  /// Reads up to the end of the next head, skipping empty lines before it (RFC 9112 section 2.2).
  /// The head may be parsed in place and is valid until the next call. Empty: the peer ended
  /// between messages. Errors: head_too_long, truncated, not_http, only_content (a body without a
  /// head), the stream's.
  Task<std::span<char>> read_head();

  /// Starts the body of the message whose head was read last.
  void begin_body(BodyFraming framing);

  Task<Bytes> read() override;
  bool finished() const override;
  HeaderList trailers() const override { return decoder_.trailers(); }

  /// Whether a byte of the next message has arrived.
  bool has_more() const { return !rest_.empty(); }
  /// Bytes that were read beyond the last message.
  std::vector<std::byte> take_rest();

 private:
  static constexpr std::size_t kHeadBufferBytes = 8 << 10;
  static constexpr std::size_t kBodyBufferBytes = 64 << 10;

  Bytes take(std::size_t count);

  ByteStream& stream_;
  Tolerance tolerance_;
  std::vector<std::byte> head_buffer_;
  std::vector<std::byte> body_buffer_;  // allocated by the first body that needs it
  Bytes rest_;                          // read, not yet consumed; in either buffer
  BodyFraming framing_;
  std::uint64_t left_bytes_ = 0;
  bool ended_early_ = false;  // before a head
  bool ended_ = false;        // for a body that lasts until the close
  ChunkedDecoder decoder_;
};

}  // namespace reprise
