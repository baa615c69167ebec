#pragma once

// The WebSocket protocol (RFC 6455), pure, both sides: frames in and out, and the proofs of a
// handshake. No extensions. Input is hostile; only the payload of a control frame is held.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "archive/web_socket.h"
#include "base/result.h"
#include "base/text/utf8.h"

namespace reprise {

enum class web_socket_errc {
  bad_frame = 1,  ///< reserved bits or opcodes, a long or fragmented control frame, a piece without
                  ///< a message, a length that is not in the shortest form
  bad_mask,       ///< a client did not mask, or a server did
  bad_text,       ///< text or a reason that is not UTF-8
  bad_close,      ///< a code that no endpoint may send
};
const std::error_category& web_socket_category();
std::error_code make_error_code(web_socket_errc error);

/// The close code for a connection that broke with this error (section 7.4.1).
std::uint16_t close_code_for(std::error_code error);

/// Parses frames as they arrive.
class WebSocketParser {
 public:
  /// Of the two sides, only the client masks (section 5.1).
  explicit WebSocketParser(MessageSender sender) : sender_(sender) {}

  /// A piece of a text or binary message, or a whole close, ping or pong.
  struct Piece {
    MessageKind kind = MessageKind::kText;
    bool ends = true;                    ///< the message ends with it
    std::span<const std::byte> payload;  ///< unmasked; valid until the next call
  };
  struct Step {
    std::size_t consumed = 0;  ///< bytes of the input that were used
    std::optional<Piece> piece;
  };
  /// Continues up to one piece, or the end of `input`. Errors: web_socket_errc; the parser is then
  /// unusable.
  Result<Step> next(std::span<const std::byte> input);

 private:
  static constexpr std::size_t kHeaderBytesMax = 14;
  static constexpr std::size_t kControlBytesMax = 125;

  bool header_is_whole() const;
  std::size_t header_bytes() const;
  Result<void> begin_frame();
  Result<std::optional<Piece>> take_payload(std::span<const std::byte> bytes);
  Result<std::optional<Piece>> end_control();
  Result<std::optional<Piece>> take_data(std::span<const std::byte> bytes);

  MessageSender sender_;
  std::array<std::byte, kHeaderBytesMax> header_{};
  std::size_t header_filled_ = 0;
  bool in_payload_ = false;
  MessageKind frame_kind_ = MessageKind::kText;  // for a continuation, its message's
  bool frame_is_last_ = true;
  std::uint64_t left_bytes_ = 0;  // of the frame's payload
  std::array<std::byte, 4> mask_{};
  std::size_t mask_at_ = 0;
  std::optional<MessageKind> message_;  // the unfinished text or binary message
  Utf8Check utf8_;
  std::vector<std::byte> payload_;
};

/// The bytes before the payload of a frame.
class FrameHeader {
 public:
  using Mask = std::array<std::byte, 4>;
  /// `mask`: a client's; the payload must be masked with it, too. `continues`: a message that an
  /// earlier frame began.
  FrameHeader(MessageKind kind, std::uint64_t payload_bytes, bool ends, bool continues,
              const std::optional<Mask>& mask = std::nullopt);
  std::span<const std::byte> bytes() const { return std::span(bytes_).first(size_); }

 private:
  void put(unsigned byte) { bytes_[size_++] = std::byte(byte); }
  std::array<std::byte, 14> bytes_{};
  std::size_t size_ = 0;
};

/// Masks or unmasks; `at` is the offset of `bytes` in the frame's payload.
void apply_mask(const FrameHeader::Mask& mask, std::size_t at, std::span<std::byte> bytes);

/// The payload of a close frame.
std::vector<std::byte> close_payload(std::uint16_t code, std::string_view reason = {});
/// Its code, or nullopt.
std::optional<std::uint16_t> close_code_of(std::span<const std::byte> payload);

/// A Sec-WebSocket-Key from 16 random bytes (section 4.1).
std::string web_socket_key(const std::array<std::byte, 16>& nonce);
/// The Sec-WebSocket-Accept for that key (section 4.2.2).
std::string web_socket_accept(std::string_view key);

}  // namespace reprise

template <>
struct std::is_error_code_enum<reprise::web_socket_errc> : std::true_type {};
