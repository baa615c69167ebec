#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/http/message.h"
#include "proxy/http/h2_fields.h"
#include "proxy/stream/byte_stream.h"

namespace reprise {

/// A body too large for one piece, returned piece by piece. Thread-safe.
class PiecewiseBody {
 public:
  virtual ~PiecewiseBody() = default;
  virtual std::size_t pieces() const = 0;
  /// Valid as long as the archive is open. Errors: the archive's, if the piece is damaged.
  virtual Result<Bytes> piece(std::size_t index) const = 0;
};

/// A response prepared once, served many times, by any thread: immutable. Borrows the texts of
/// heads and trailers and the bytes of the body; its maker keeps them alive as long as it is held
/// (StoredResponsePtr).
class StoredResponse {
 public:
  struct Parts {
    std::vector<ResponseHead> interim;  ///< sent before the head
    ResponseHead head;
    HeaderList trailers;
    Piece body;                             ///< in one piece, or
    std::unique_ptr<PiecewiseBody> pieces;  ///< null if it is one piece
  };
  StoredResponse(std::string_view request_method, Parts parts);
  StoredResponse(const StoredResponse&) = delete;
  StoredResponse& operator=(const StoredResponse&) = delete;

  const Parts& parts() const { return parts_; }

  /// All bytes for an HTTP/1.1 client, including framing; empty if the body is in pieces or the
  /// stored framing contradicts the stored body.
  std::span<const Piece> h1_wire() const { return h1_wire_; }
  /// The head for an HTTP/2 client.
  const H2Fields& h2_fields() const { return h2_fields_; }
  /// Whether the connection can continue after h1_wire().
  bool h1_keeps_alive() const { return h1_keeps_alive_; }
  /// Its own memory, without borrowed texts and bytes.
  std::size_t memory_bytes() const;

 private:
  void build_h1(std::string_view request_method);

  Parts parts_;
  H2Fields h2_fields_;
  std::string h1_head_;  // after the interim heads, and before the chunk's size line
  std::string h1_tail_;
  std::vector<Piece> h1_wire_;
  bool h1_keeps_alive_ = false;
};

/// Shared because it may still be sent on a connection when its maker no longer needs it.
using StoredResponsePtr = std::shared_ptr<const StoredResponse>;

}  // namespace reprise
