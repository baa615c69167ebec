#pragma once

#include <nghttp2/nghttp2.h>

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "proxy/stream/byte_stream.h"

namespace reprise {

/// Finds invalid frames of clients (RFC 9113) that nghttp2 accepts, or answers with another error;
/// they are recognised by frame headers alone. Uses bounded memory: forgotten streams are left to
/// nghttp2, which ignores them. Pure.
class H2FrameCheck {
 public:
  /// Limit of remembered gaps between streams. Usual clients leave none.
  static constexpr std::size_t kGapsMax = 64;
  /// Limit of remembered streams that the client has ended, the latest.
  static constexpr std::size_t kEndedMax = 64;

  struct Refusal {
    std::size_t before_bytes;  ///< bytes before the frame
    std::uint32_t error;       ///< of the connection
  };

  H2FrameCheck() { ended_.fill(-1); }

  /// The first refused frame whose header is completed by `bytes`, which continue those of the last
  /// call; the client's preface comes first. Results after a refusal have no meaning.
  std::optional<Refusal> next(Bytes bytes);

  /// The number of the unfinished head, if any, from 1 on.
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
  std::size_t held_bytes_ = 0;  // of head_, while it is incomplete

  bool in_head_ = false;        // CONTINUATION must follow
  bool frame_of_head_ = false;  // of the latest frame
  std::uint64_t heads_ = 0;

  std::int32_t last_ = -1;                                   // so that 1 is the next
  std::vector<std::pair<std::int32_t, std::int32_t>> gaps_;  // from (included), to (excluded)
  std::array<std::int32_t, kEndedMax> ended_;
  std::size_t next_ended_ = 0;
};

}  // namespace reprise
