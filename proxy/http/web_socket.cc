#include "proxy/http/web_socket.h"

#include <openssl/evp.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/text/base64.h"

namespace reprise {
namespace {

constexpr unsigned kFinal = 0x80;
constexpr unsigned kReserved = 0x70;
constexpr unsigned kOpcode = 0x0f;
constexpr unsigned kMasked = 0x80;
constexpr unsigned kLength = 0x7f;
constexpr unsigned kLength16 = 126;
constexpr unsigned kLength64 = 127;
constexpr unsigned kContinuation = 0;

class Category final : public std::error_category {
  const char* name() const noexcept override { return "websocket"; }
  std::string message(int code) const override {
    switch (static_cast<web_socket_errc>(code)) {
      case web_socket_errc::bad_frame:
        return "an unknown WebSocket frame type";
      case web_socket_errc::bad_mask:
        return "a frame with wrong masking: client frames must be masked, server frames must not";
      case web_socket_errc::bad_text:
        return "a text message is not UTF-8";
      case web_socket_errc::bad_close:
        return "a close frame with a reserved code";
    }
    return "unknown";
  }
};

unsigned number(std::byte byte) {
  return std::to_integer<unsigned>(byte);
}

bool is_control(MessageKind kind) {
  return kind >= MessageKind::kClose;
}

/// Section 7.4: the codes of the protocol, of its registry, and of applications.
bool may_be_sent(unsigned code) {
  bool const known = code >= 1000 && code <= 1014 && code != 1004 && code != 1005 && code != 1006;
  return known || (code >= 3000 && code <= 4999);
}

}  // namespace

const std::error_category& web_socket_category() {
  static const Category category;
  return category;
}

std::error_code make_error_code(web_socket_errc error) {
  return {static_cast<int>(error), web_socket_category()};
}

std::uint16_t close_code_for(std::error_code error) {
  constexpr std::uint16_t kProtocolError = 1002;
  constexpr std::uint16_t kBadText = 1007;
  return error == web_socket_errc::bad_text ? kBadText : kProtocolError;
}

std::size_t WebSocketParser::header_bytes() const {
  auto const second = number(header_[1]);
  auto const length = second & kLength;
  return 2 +
         (length == kLength16   ? 2
          : length == kLength64 ? 8
                                : 0) +
         ((second & kMasked) != 0 ? 4 : 0);
}

bool WebSocketParser::header_is_whole() const {
  return header_filled_ >= 2 && header_filled_ == header_bytes();
}

Result<WebSocketParser::Step> WebSocketParser::next(std::span<const std::byte> input) {
  Step step;
  while (true) {
    while (!in_payload_) {
      if (step.consumed == input.size()) return step;
      header_[header_filled_++] = input[step.consumed++];
      if (!header_is_whole()) continue;
      if (auto begun = begin_frame(); !begun) return fail(begun.error());
    }
    auto const rest = input.subspan(step.consumed);
    if (rest.empty() && left_bytes_ > 0) return step;
    auto const count = static_cast<std::size_t>(std::min<std::uint64_t>(left_bytes_, rest.size()));
    step.consumed += count;
    auto piece = take_payload(rest.first(count));
    if (!piece) return fail(piece.error());
    step.piece = *piece;
    if (step.piece) return step;
  }
}

Result<void> WebSocketParser::begin_frame() {
  auto const first = number(header_[0]);
  auto const opcode = first & kOpcode;
  bool const masked = (number(header_[1]) & kMasked) != 0;
  if ((first & kReserved) != 0) return fail(web_socket_errc::bad_frame);
  if (masked != (sender_ == MessageSender::kClient)) return fail(web_socket_errc::bad_mask);
  auto const size = header_filled_ - (masked ? 4 : 0);
  left_bytes_ = number(header_[1]) & kLength;
  if (size > 2) {
    left_bytes_ = 0;
    for (std::size_t i = 2; i < size; ++i) left_bytes_ = left_bytes_ << 8 | number(header_[i]);
    bool const shortest = size == 4 ? left_bytes_ >= kLength16 : left_bytes_ > 0xffff;
    if (!shortest || left_bytes_ >> 63 != 0) return fail(web_socket_errc::bad_frame);
  }
  std::ranges::copy(std::span(header_).subspan(size, masked ? 4 : 0), mask_.begin());
  if (!masked) mask_ = {};
  mask_at_ = 0;
  frame_is_last_ = (first & kFinal) != 0;
  bool const control = opcode >= 8;
  bool const known = opcode <= 2 || (control && opcode <= 10);
  bool const in_order = control || (opcode == kContinuation) == message_.has_value();
  bool const fits = !control || (frame_is_last_ && left_bytes_ <= kControlBytesMax);
  if (!known || !in_order || !fits) return fail(web_socket_errc::bad_frame);
  frame_kind_ = opcode == kContinuation ? *message_ : static_cast<MessageKind>(opcode);
  if (!control && opcode != kContinuation) {
    message_ = frame_kind_;
    utf8_ = {};
  }
  header_filled_ = 0;
  in_payload_ = true;
  payload_.clear();
  return {};
}

Result<std::optional<WebSocketParser::Piece>> WebSocketParser::take_payload(
    std::span<const std::byte> bytes) {
  if (!is_control(frame_kind_)) payload_.clear();
  auto const before = payload_.size();
  payload_.insert(payload_.end(), bytes.begin(), bytes.end());
  apply_mask(mask_, mask_at_, std::span(payload_).subspan(before));
  mask_at_ += bytes.size();
  left_bytes_ -= bytes.size();
  in_payload_ = left_bytes_ > 0;
  return is_control(frame_kind_) ? end_control() : take_data(payload_);
}

Result<std::optional<WebSocketParser::Piece>> WebSocketParser::end_control() {
  if (in_payload_) return std::nullopt;
  if (frame_kind_ == MessageKind::kClose && !payload_.empty()) {
    auto const code = close_code_of(payload_);
    if (!code || !may_be_sent(*code)) return fail(web_socket_errc::bad_close);
    if (!is_utf8(text_of(payload_).substr(2))) return fail(web_socket_errc::bad_text);
  }
  return Piece{.kind = frame_kind_, .ends = true, .payload = payload_};
}

Result<std::optional<WebSocketParser::Piece>> WebSocketParser::take_data(
    std::span<const std::byte> bytes) {
  bool const ends = !in_payload_ && frame_is_last_;
  if (frame_kind_ == MessageKind::kText) {
    utf8_.append(text_of(bytes));
    if (!utf8_.good() || (ends && !utf8_.finish())) return fail(web_socket_errc::bad_text);
  }
  if (ends) message_.reset();
  if (bytes.empty() && !ends) return std::nullopt;
  return Piece{.kind = frame_kind_, .ends = ends, .payload = bytes};
}

FrameHeader::FrameHeader(MessageKind kind, std::uint64_t payload_bytes, bool ends, bool continues,
                         const std::optional<Mask>& mask) {
  put((ends ? kFinal : 0) | (continues ? kContinuation : static_cast<unsigned>(kind)));
  unsigned const masked = mask ? kMasked : 0;
  unsigned length_bytes = 0;
  if (payload_bytes < kLength16) {
    put(masked | static_cast<unsigned>(payload_bytes));
  } else if (payload_bytes <= 0xffff) {
    put(masked | kLength16);
    length_bytes = 2;
  } else {
    put(masked | kLength64);
    length_bytes = 8;
  }
  for (unsigned i = length_bytes; i > 0; --i) {
    put(static_cast<unsigned>(payload_bytes >> (8 * (i - 1)) & 0xff));
  }
  if (mask) {
    for (const std::byte each : *mask) put(number(each));
  }
}

void apply_mask(const FrameHeader::Mask& mask, std::size_t at, std::span<std::byte> bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] ^= mask[(at + i) % mask.size()];
}

std::vector<std::byte> close_payload(std::uint16_t code, std::string_view reason) {
  std::vector<std::byte> payload{std::byte(code >> 8), std::byte(code & 0xff)};
  auto const text = std::as_bytes(std::span(reason));
  payload.insert(payload.end(), text.begin(), text.end());
  return payload;
}

std::optional<std::uint16_t> close_code_of(std::span<const std::byte> payload) {
  if (payload.size() < 2) return std::nullopt;
  return static_cast<std::uint16_t>(number(payload[0]) << 8 | number(payload[1]));
}

std::string web_socket_key(const std::array<std::byte, 16>& nonce) {
  return base64(nonce);
}

std::string web_socket_accept(std::string_view key) {
  auto const text = std::string(key) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr);
  return base64(std::as_bytes(std::span(digest)).first(size));
}

}  // namespace reprise
