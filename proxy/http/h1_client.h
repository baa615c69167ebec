#pragma once

#include <memory>
#include <vector>

#include "proxy/http/h1_reader.h"
#include "proxy/http/h1_writer.h"
#include "proxy/stream/byte_stream.h"

namespace reprise {

/// HTTP/1.1 towards an origin, one exchange at a time: send_head, write..., finish beside
/// read_head (interim heads first), then body(). Sending and receiving may be awaited at once.
class H1Client {
 public:
  explicit H1Client(std::unique_ptr<ByteStream> stream);

  /// Sends the request's head. `headers` are sent unchanged and determine the framing.
  Task<void> send_head(std::string_view method, std::string_view target, HttpVersion version,
                       HeaderList headers);
  Task<void> write(Bytes bytes) { return writer_.write(bytes); }
  Task<void> finish(HeaderList trailers) { return writer_.finish(trailers); }

  /// The next head, interim or final; valid until the next call. After a final one body() starts.
  /// Errors: not_http, truncated (the origin closed instead of answering), bad_framing, ...
  Task<ResponseHead> read_head();
  BodyReader& body() { return reader_; }
  /// After an expected head with status 101: body() and write() now carry the other protocol.
  void switch_protocols();

  /// Whether another exchange can follow, once both sides of the last are finished.
  bool reusable() const { return keeps_alive_ && reader_.finished() && !reader_.has_more(); }
  /// Whether a byte of the current response has arrived; until then the request may be sent again
  /// (proxy/record/send_again.h).
  bool response_started() const { return stream_->bytes_read() > exchange_start_; }

  ByteStream& stream() { return *stream_; }

 private:
  std::unique_ptr<ByteStream> stream_;
  H1Reader reader_;
  H1Writer writer_;
  std::vector<HeaderView> fields_;
  std::string method_;
  std::uint64_t exchange_start_ = 0;
  bool keeps_alive_ = false;
};

}  // namespace reprise
