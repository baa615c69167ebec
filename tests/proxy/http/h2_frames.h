#pragma once

// HTTP/2 as frames, for tests that say what no well-behaved client would (RFC 9113 section 4).

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/proxy/http/loopback.h"

namespace reprise {

struct Frame {
  std::uint8_t type = 0;
  std::uint8_t flags = 0;
  std::uint32_t stream = 0;
  std::string payload;

  bool ends_stream() const { return (flags & NGHTTP2_FLAG_END_STREAM) != 0; }
};

constexpr std::uint8_t kEnd = NGHTTP2_FLAG_END_STREAM;
constexpr std::uint8_t kWholeHead = NGHTTP2_FLAG_END_HEADERS;
constexpr std::uint8_t kPadded = NGHTTP2_FLAG_PADDED;
constexpr std::uint8_t kPriorityUpdate = 0x10;  // a type of frame: RFC 9218 section 7.1

inline std::string u32(std::uint32_t value) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) text.push_back(static_cast<char>(value >> shift));
  return text;
}
inline std::uint32_t u32_at(const std::string& text, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = at; i < at + 4; ++i)
    value = value << 8 | static_cast<unsigned char>(text[i]);
  return value;
}
inline std::string frame(std::uint8_t type, std::uint8_t flags, std::uint32_t stream,
                         const std::string& payload = {}) {
  auto text = u32(static_cast<std::uint32_t>(payload.size())).substr(1);
  text.push_back(static_cast<char>(type));
  text.push_back(static_cast<char>(flags));
  return text + u32(stream) + payload;
}
inline std::string setting(std::uint16_t id, std::uint32_t value) {
  return u32(id).substr(2) + u32(value);
}

using Fields = std::vector<std::pair<std::string, std::string>>;

inline Fields request_fields(const std::string& path, const std::string& method = "GET") {
  return {{":method", method}, {":scheme", "https"}, {":authority", "a.test"}, {":path", path}};
}

/// The client's end of a connection, or an origin's.
class FrameClient {
 public:
  explicit FrameClient(ByteStream& stream) : stream_(stream) {
    nghttp2_hd_deflate_new(&deflater_, kEncoderBytesMax);
    resize_encoder(4096);
    nghttp2_hd_inflate_new(&inflater_);
  }
  ~FrameClient() {
    nghttp2_hd_deflate_del(deflater_);
    nghttp2_hd_inflate_del(inflater_);
  }
  FrameClient(const FrameClient&) = delete;
  FrameClient& operator=(const FrameClient&) = delete;

  static std::string preface(const std::string& settings = {}) {
    return NGHTTP2_CLIENT_MAGIC + frame(NGHTTP2_SETTINGS, 0, 0, settings);
  }
  std::string block(const Fields& fields) {
    std::vector<nghttp2_nv> nva;
    for (auto const& [name, value] : fields) {
      nva.push_back({.name = reinterpret_cast<std::uint8_t*>(const_cast<char*>(name.data())),
                     .value = reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data())),
                     .namelen = name.size(),
                     .valuelen = value.size(),
                     .flags = NGHTTP2_NV_FLAG_NONE});
    }
    std::string text(nghttp2_hd_deflate_bound(deflater_, nva.data(), nva.size()), '\0');
    auto const size = nghttp2_hd_deflate_hd(deflater_, reinterpret_cast<std::uint8_t*>(text.data()),
                                            text.size(), nva.data(), nva.size());
    text.resize(static_cast<std::size_t>(size));
    return text;
  }
  std::string head(std::uint32_t id, const Fields& fields, std::uint8_t flags = kEnd) {
    return frame(NGHTTP2_HEADERS, flags | kWholeHead, id, block(fields));
  }
  /// A block in as many frames as it takes.
  static std::string long_head(std::uint32_t id, std::string block, std::uint8_t flags = kEnd) {
    constexpr std::size_t kFrameBytes = 16'384;
    std::string text;
    for (bool first = true; first || !block.empty(); first = false) {
      auto const piece = block.substr(0, kFrameBytes);
      block.erase(0, kFrameBytes);
      auto const last = block.empty() ? kWholeHead : std::uint8_t{0};
      text += first ? frame(NGHTTP2_HEADERS, flags | last, id, piece)
                    : frame(NGHTTP2_CONTINUATION, last, id, piece);
    }
    return text;
  }
  static std::string data(std::uint32_t id, const std::string& bytes, std::uint8_t flags = 0) {
    return frame(NGHTTP2_DATA, flags, id, bytes);
  }

  awaitable<void> send(std::string text) {
    // A server that has said goodbye need not take it; what it answered is what a test looks at.
    (void)co_await stream_.write(bytes_of(text));
  }

  /// What a client's bytes begin with, before its frames.
  awaitable<void> take_magic() {
    while (held_.size() < NGHTTP2_CLIENT_MAGIC_LEN && co_await receive()) continue;
    EXPECT_EQ(held_.substr(0, NGHTTP2_CLIENT_MAGIC_LEN), NGHTTP2_CLIENT_MAGIC);
    held_.erase(0, NGHTTP2_CLIENT_MAGIC_LEN);
  }
  /// The next frame, or nullopt at the end. Fields of heads are decoded into `last_head`.
  awaitable<std::optional<Frame>> next() {
    while (!whole()) {
      if (!co_await receive()) co_return std::nullopt;
    }
    auto const size = u32_at(held_, 0) >> 8;
    Frame found{.type = static_cast<std::uint8_t>(held_[3]),
                .flags = static_cast<std::uint8_t>(held_[4]),
                .stream = u32_at(held_, 5),
                .payload = held_.substr(9, size)};
    held_.erase(0, 9 + size);
    if (found.type == NGHTTP2_HEADERS) block_.clear();
    if (found.type == NGHTTP2_HEADERS || found.type == NGHTTP2_CONTINUATION) {
      block_ += found.payload;
      if ((found.flags & kWholeHead) != 0) inflate();
    }
    co_return found;
  }
  /// Skips to a frame of `type` on `stream`; a failure when the connection ends first.
  awaitable<Frame> until(std::uint8_t type, std::uint32_t stream) {
    while (true) {
      auto found = co_await next();
      if (!found) {
        ADD_FAILURE() << "ended before a frame of type " << int{type} << " on " << stream;
        co_return Frame{};
      }
      if (found->type == type && found->stream == stream) co_return std::move(*found);
    }
  }
  /// Everything sent so far has been worked in by the server. `seen` are the frames before that.
  awaitable<std::vector<Frame>> settle() {
    co_await send(frame(NGHTTP2_PING, 0, 0, "settled?"));
    std::vector<Frame> seen;
    while (true) {
      auto found = co_await next();
      if (!found) co_return seen;
      if (found->type == NGHTTP2_PING && found->payload == "settled?") co_return seen;
      seen.push_back(std::move(*found));
    }
  }

  /// The table of the encoder, as HEADER_TABLE_SIZE of the other side allows.
  void resize_encoder(std::size_t bytes) { nghttp2_hd_deflate_change_table_size(deflater_, bytes); }
  /// The table of the decoder, as HEADER_TABLE_SIZE tells the server.
  void resize_table(std::size_t bytes) { nghttp2_hd_inflate_change_table_size(inflater_, bytes); }

  std::string field(const std::string& name) const {
    for (auto const& [each, value] : last_head) {
      if (each == name) return value;
    }
    return "(none)";
  }

  Fields last_head;

 private:
  /// False at the end.
  awaitable<bool> receive() {
    std::array<std::byte, 16'384> buffer;
    auto const count = co_await stream_.read_some(buffer);
    if (!count || *count == 0) co_return false;
    held_ += text_of(Bytes(buffer).first(*count));
    co_return true;
  }
  static constexpr std::size_t kEncoderBytesMax = 64 << 10;

  bool whole() const { return held_.size() >= 9 && held_.size() >= 9 + (u32_at(held_, 0) >> 8); }

  void inflate() {
    last_head.clear();
    auto const* at = reinterpret_cast<const std::uint8_t*>(block_.data());
    auto left = block_.size();
    int flags = 0;
    while ((flags & NGHTTP2_HD_INFLATE_FINAL) == 0) {
      nghttp2_nv nv{};
      auto const used = nghttp2_hd_inflate_hd2(inflater_, &nv, &flags, at, left, 1);
      if (used < 0) {
        ADD_FAILURE() << "the server's head does not decode";
        return;
      }
      at += used;
      left -= static_cast<std::size_t>(used);
      if ((flags & NGHTTP2_HD_INFLATE_EMIT) == 0) continue;
      last_head.emplace_back(std::string(reinterpret_cast<char*>(nv.name), nv.namelen),
                             std::string(reinterpret_cast<char*>(nv.value), nv.valuelen));
    }
    nghttp2_hd_inflate_end_headers(inflater_);
  }

  ByteStream& stream_;
  nghttp2_hd_deflater* deflater_ = nullptr;
  nghttp2_hd_inflater* inflater_ = nullptr;
  std::string held_;
  std::string block_;
};

}  // namespace reprise
