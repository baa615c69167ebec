#include "proxy/http/h2_frame_check.h"

#include <algorithm>

namespace reprise {
namespace {

using FrameHead = std::array<std::byte, 9>;

std::uint32_t number_at(const FrameHead& head, std::size_t at, std::size_t size_bytes) {
  std::uint32_t number = 0;
  for (std::size_t i = at; i < at + size_bytes; ++i) {
    number = number << 8 | std::to_integer<std::uint32_t>(head[i]);
  }
  return number;
}

/// RFC 9113 section 4.1.
nghttp2_frame_hd parse(const FrameHead& head) {
  constexpr std::uint32_t kIdMask = 0x7fffffff;
  return {.length = number_at(head, 0, 3),
          .stream_id = static_cast<std::int32_t>(number_at(head, 5, 4) & kIdMask),
          .type = static_cast<std::uint8_t>(number_at(head, 3, 1)),
          .flags = static_cast<std::uint8_t>(number_at(head, 4, 1)),
          .reserved = 0};
}

}  // namespace

std::optional<H2FrameCheck::Refusal> H2FrameCheck::next(Bytes bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    auto const skipped = std::min(left_bytes_, bytes.size() - at);
    left_bytes_ -= skipped;
    at += skipped;
    auto const taken = std::min(head_.size() - held_bytes_, bytes.size() - at);
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), taken,
                head_.begin() + static_cast<std::ptrdiff_t>(held_bytes_));
    held_bytes_ += taken;
    if (held_bytes_ < head_.size()) return std::nullopt;
    held_bytes_ = 0;
    auto const head = parse(head_);
    if (auto const error = error_of(head); error != NGHTTP2_NO_ERROR) {
      return Refusal{.before_bytes = at, .error = error};
    }
    left_bytes_ = head.length;
    at += taken;
  }
  return std::nullopt;
}

std::uint32_t H2FrameCheck::error_of(const nghttp2_frame_hd& head) {
  constexpr std::size_t kFrameBytesMax = 16 << 10;  // the default of SETTINGS_MAX_FRAME_SIZE
  // Any other frame inside a head is an error, which nghttp2 detects.
  if (in_head_ && head.type != NGHTTP2_CONTINUATION) return NGHTTP2_NO_ERROR;
  frame_of_head_ = head.type == NGHTTP2_HEADERS || head.type == NGHTTP2_CONTINUATION;
  if (head.type == NGHTTP2_HEADERS) ++heads_;
  if (frame_of_head_) {
    in_head_ = (head.flags & NGHTTP2_FLAG_END_HEADERS) == 0;
  }
  switch (head.type) {
    case NGHTTP2_DATA:
    case NGHTTP2_HEADERS:
      return error_of_message(head);
    case NGHTTP2_RST_STREAM:
      ended_[next_ended_++ % kEndedMax] = head.stream_id;
      return NGHTTP2_NO_ERROR;
    case NGHTTP2_CONTINUATION:
      return head.length > kFrameBytesMax ? NGHTTP2_FRAME_SIZE_ERROR : NGHTTP2_NO_ERROR;
    case NGHTTP2_PRIORITY:
      return head.stream_id == 0 ? NGHTTP2_PROTOCOL_ERROR : NGHTTP2_NO_ERROR;
    default:
      return NGHTTP2_NO_ERROR;
  }
}

std::uint32_t H2FrameCheck::error_of_message(const nghttp2_frame_hd& head) {
  auto const id = head.stream_id;
  if (head.type != NGHTTP2_HEADERS || !begins(id)) {
    // A client must not return to a stream after it began a later one (section 5.1.1),
    if (head.type == NGHTTP2_HEADERS && passed_over(id)) return NGHTTP2_PROTOCOL_ERROR;
    // or to one that it has ended (section 5.1).
    if (std::ranges::find(ended_, id) != ended_.end()) return NGHTTP2_STREAM_CLOSED;
  }
  if ((head.flags & NGHTTP2_FLAG_END_STREAM) != 0) ended_[next_ended_++ % kEndedMax] = id;
  return NGHTTP2_NO_ERROR;
}

bool H2FrameCheck::begins(std::int32_t id) {
  if (id <= last_) return false;
  // The ids between them are at most 2^31 - 1, so the sum does not overflow if there are any.
  bool const skips = std::int64_t{id} - last_ > 2;
  if (skips && gaps_.size() < kGapsMax) gaps_.emplace_back(last_ + 2, id);
  last_ = id;
  return true;
}

bool H2FrameCheck::passed_over(std::int32_t id) const {
  return std::ranges::any_of(gaps_,
                             [id](auto const& gap) { return id >= gap.first && id < gap.second; });
}

}  // namespace reprise
