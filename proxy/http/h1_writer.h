#pragma once

#include <string>

#include "base/http/h1_parser.h"
#include "proxy/stream/byte_stream.h"

namespace reprise {

/// The writing side of an HTTP/1.x connection, server's or client's: heads as text, bodies in the
/// framing that the head announced.
class H1Writer {
 public:
  explicit H1Writer(ByteStream& stream) : stream_(stream) {}

  Task<void> send_head(std::string_view head) { return stream_.write(bytes_of(head)); }

  /// Starts the body of the message whose head is sent.
  void begin_body(BodyFraming framing);
  /// Errors: contradicts_length; the stream's.
  Task<void> write(Bytes bytes);
  Task<void> finish(HeaderList trailers);

 private:
  ByteStream& stream_;
  BodyFraming framing_;
  std::uint64_t left_bytes_ = 0;
};

/// The status line and the fields in order, with an empty line at the end. The version is the
/// recorded one; protocols other than HTTP/1.x become 1.1.
std::string response_head_text(const ResponseHead& head);

/// The line before a chunk of `size_bytes`.
std::string chunk_line(std::size_t size_bytes);
/// The end of a chunked body.
std::string chunk_tail(HeaderList trailers);

}  // namespace reprise
