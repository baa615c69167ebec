#pragma once

#include <nghttp2/nghttp2.h>

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "proxy/stream/byte_stream.h"

namespace reprise {

/// Finds what a client must not send (RFC 9113) and nghttp2 lets pass, or answers with another
/// error: it is told by the heads of frames alone. In bounded memory: what is forgotten is left to
/// nghttp2, which ignores it. Pure.
class H2FrameCheck {
 public:
  /// Gaps between streams that are remembered. Clients leave none.
  static constexpr std::size_t kGapsMax = 64;
  /// Streams that the client has ended and that are remembered, the latest.
  static constexpr std::size_t kEndedMax = 64;

  struct Refusal {
    std::size_t before_bytes;  ///< come before the frame
    std::uint32_t error;       ///< of the connection
  };

  H2FrameCheck() { ended_.fill(-1); }

  /// The first refused frame whose head becomes whole in `bytes`, which follow those of the call
  /// before; the client's preface comes first. What comes behind a refusal means nothing.
  std::optional<Refusal> next(Bytes bytes);

  /// The number of the head that has begun and not ended, if any, from 1 on.
  std::optional<std::uint64_t> head_under_way() const {
    bool const under_way = in_head_ || (frame_of_head_ && left_bytes_ > 0);
    return under_way ? std::optional(heads_) : std::nullopt;
  }

 private:
  std::uint32_t error_of(const nghttp2_frame_hd& head);
  std::uint32_t error_of_message(const nghttp2_frame_hd& head);
  /// Whether a HEADERS frame begins the stream `id`.
  bool begins(std::int32_t id);
  bool passed_over(std::int32_t id) const;

  std::size_t left_bytes_ = NGHTTP2_CLIENT_MAGIC_LEN;  // of the preface or the frame's payload
  std::array<std::byte, 9> head_{};
  std::size_t held_bytes_ = 0;  // of head_, while it is not whole

  bool in_head_ = false;        // CONTINUATION is due
  bool frame_of_head_ = false;  // the latest frame
  std::uint64_t heads_ = 0;

  std::int32_t last_ = -1;                                   // so that 1 is the next
  std::vector<std::pair<std::int32_t, std::int32_t>> gaps_;  // from, and up to without
  std::array<std::int32_t, kEndedMax> ended_;
  std::size_t next_ended_ = 0;
};

}  // namespace reprise
