#include "shaper/packet/segments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "tests/test_seed.h"

namespace reprise {
namespace {

constexpr std::uint8_t kFin = 0x01;
constexpr std::uint8_t kPsh = 0x08;
constexpr std::uint8_t kAck = 0x10;
constexpr std::uint8_t kCwr = 0x80;

using Bytes = std::vector<std::byte>;

std::uint32_t read(const std::byte* from, std::size_t count) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < count; ++i) value = value << 8 | std::to_integer<unsigned>(from[i]);
  return value;
}

void write(Bytes& bytes, std::size_t at, std::uint32_t value, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    bytes[at + count - 1 - i] = static_cast<std::byte>(value >> (8 * i) & 0xFF);
  }
}

/// RFC 1071, as slowly and plainly as can be.
std::uint32_t ones_sum(const std::byte* from, std::size_t count, std::uint32_t sum = 0) {
  for (std::size_t i = 0; i < count; ++i) {
    sum += std::to_integer<unsigned>(from[i]) << (i % 2 == 0 ? 8 : 0);
  }
  while (sum > 0xFFFF) sum = (sum & 0xFFFF) + (sum >> 16);
  return sum;
}

/// A super-packet that a sender could have made, and what a test wants to know of it.
struct Made {
  bool tcp = true;
  std::size_t ip_options = 0;
  std::size_t tcp_options = 12;
  std::size_t payload_bytes = 5000;
  std::uint16_t segment_bytes = 1448;
  std::uint8_t flags = kAck | kPsh;
  std::uint32_t sequence = 0xFFFFF000;  // wraps within the packet

  bool has_cwr() const { return tcp && (flags & kCwr) != 0; }
  std::size_t transport_at() const { return 14 + 20 + ip_options; }
  std::size_t headers() const { return transport_at() + (tcp ? 20 + tcp_options : 8); }

  Bytes frame() const {
    Bytes bytes(headers() + payload_bytes);
    write(bytes, 12, 0x0800, 2);
    write(bytes, 14, 0x40 | (20 + ip_options) / 4, 1);
    write(bytes, 16, static_cast<std::uint32_t>(bytes.size() - 14), 2);
    write(bytes, 18, 0xFFFE, 2);  // identification: wraps, too
    write(bytes, 20, 0x4000, 2);
    write(bytes, 22, 64, 1);
    write(bytes, 23, tcp ? 6 : 17, 1);
    write(bytes, 26, 0xC0000201, 4);
    write(bytes, 30, 0xC0000202, 4);
    auto const t = transport_at();
    write(bytes, t, 443, 2);
    write(bytes, t + 2, 50000, 2);
    if (tcp) {
      write(bytes, t + 4, sequence, 4);
      write(bytes, t + 8, 77, 4);
      write(bytes, t + 12, static_cast<std::uint32_t>((20 + tcp_options) / 4) << 4, 1);
      write(bytes, t + 13, flags, 1);
    } else {
      write(bytes, t + 4, static_cast<std::uint32_t>(8 + payload_bytes), 2);
    }
    for (std::size_t i = 0; i < payload_bytes; ++i) {
      bytes[headers() + i] = static_cast<std::byte>(i * 7 % 251);
    }
    return bytes;
  }

  OffloadHeader offload() const {
    auto const type = static_cast<std::uint8_t>(tcp ? kOffloadTcp4 : kOffloadUdp);
    return {.flags = kOffloadChecksum,
            .gso_type = static_cast<std::uint8_t>(type | (has_cwr() ? kOffloadEcn : 0)),
            .header_bytes = static_cast<std::uint16_t>(headers()),
            .segment_bytes = segment_bytes,
            .checksum_start = static_cast<std::uint16_t>(transport_at()),
            .checksum_offset = static_cast<std::uint16_t>(tcp ? 16 : 6)};
  }
};

/// Checks every field of segments [first, first + count) against what a sender would have sent.
void expect_cut(const Made& made, const Bytes& frame, const FrameShape& shape, std::uint32_t first,
                std::uint32_t count, Bytes& payload) {
  SCOPED_TRACE(testing::Message() << "segments " << first << " and " << count - 1 << " more");
  auto const cut = cut_segments(frame, made.offload(), shape, first, count);
  bool const has_last = first + count == shape.segments;
  auto const* const ip = cut.headers.data() + 14;
  auto const* const transport = cut.headers.data() + made.transport_at();
  auto const transport_bytes = cut.headers_bytes - made.transport_at() + cut.payload_bytes;

  EXPECT_EQ(cut.headers_bytes, made.headers());
  EXPECT_EQ(read(ip + 2, 2), cut.headers_bytes - 14 + cut.payload_bytes);
  EXPECT_EQ(read(ip + 4, 2), (0xFFFE + first) & 0xFFFF);
  EXPECT_EQ(ones_sum(ip, 20 + made.ip_options), 0xFFFFU) << "IP checksum";
  // What the device has yet to complete is the sum of the pseudo-header alone.
  auto const pseudo =
      ones_sum(ip + 12, 8, (made.tcp ? 6 : 17) + static_cast<std::uint32_t>(transport_bytes));
  EXPECT_EQ(read(transport + (made.tcp ? 16 : 6), 2), pseudo);
  if (made.tcp) {
    EXPECT_EQ(read(transport + 4, 4), made.sequence + first * made.segment_bytes);
    auto expected = made.flags;
    if (!has_last) expected &= static_cast<std::uint8_t>(~(kFin | kPsh));
    if (first > 0) expected &= static_cast<std::uint8_t>(~kCwr);
    EXPECT_EQ(read(transport + 13, 1), expected);
  } else {
    EXPECT_EQ(read(transport + 4, 2), transport_bytes);
  }
  EXPECT_EQ(cut.offload.flags, kOffloadChecksum);
  EXPECT_EQ(cut.offload.segment_bytes, count > 1 ? made.segment_bytes : 0);
  EXPECT_EQ(cut.offload.gso_type == 0, count == 1);
  EXPECT_EQ((cut.offload.gso_type & kOffloadEcn) != 0, count > 1 && first == 0 && made.has_cwr());
  ASSERT_LE(cut.payload_at + cut.payload_bytes, frame.size());
  payload.insert(payload.end(), frame.begin() + static_cast<std::ptrdiff_t>(cut.payload_at),
                 frame.begin() + static_cast<std::ptrdiff_t>(cut.payload_at + cut.payload_bytes));
}

TEST(Segments, AnOrdinaryFrameIsOnePacketWithoutItsEthernetHeader) {
  Bytes const frame(14 + 1500);
  auto const shape = shape_of(frame, {});
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->segments, 1U);
  EXPECT_EQ(shape->packet_bytes(0), 1500U);
}

TEST(Segments, CountsTheHeadersOfEachSegmentOfASuperPacket) {
  Made const made{.payload_bytes = 5000};
  auto const frame = made.frame();
  auto const shape = shape_of(frame, made.offload());
  ASSERT_TRUE(shape);
  ASSERT_EQ(shape->segments, 4U);
  EXPECT_EQ(shape->packet_bytes(0), 1500U);
  EXPECT_EQ(shape->packet_bytes(3), 52U + 5000 - 3 * 1448);
}

TEST(Segments, PayloadThatDividesEvenlyHasAFullLastSegment) {
  Made const made{.payload_bytes = 3 * 1448};
  auto const frame = made.frame();
  auto const shape = shape_of(frame, made.offload());
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->segments, 3U);
  EXPECT_EQ(shape->packet_bytes(2), 1500U);
}

TEST(Segments, AnyDivisionGivesTheSendersPacketsBack) {
  TestSeed const seed;
  std::mt19937_64 random(seed.value());
  auto const up_to = [&random](std::size_t most) { return random() % (most + 1); };
  for (int round = 0; round < 300; ++round) {
    Made const made{.tcp = up_to(3) > 0,
                    .ip_options = up_to(10) * 4,
                    .tcp_options = up_to(10) * 4,
                    .payload_bytes = 1 + up_to(20'000),
                    .segment_bytes = static_cast<std::uint16_t>(1 + up_to(3000)),
                    .flags = static_cast<std::uint8_t>(random()),
                    .sequence = static_cast<std::uint32_t>(random())};
    auto const frame = made.frame();
    auto const shape = shape_of(frame, made.offload());
    ASSERT_TRUE(shape);
    Bytes payload;
    std::size_t charged = 0;
    for (std::uint32_t i = 0; i < shape->segments; ++i) charged += shape->packet_bytes(i);
    EXPECT_EQ(charged, made.payload_bytes + shape->segments * (made.headers() - 14));
    for (std::uint32_t first = 0; first < shape->segments;) {
      auto const count =
          static_cast<std::uint32_t>(1 + up_to(std::min(7U, shape->segments - first - 1)));
      expect_cut(made, frame, *shape, first, count, payload);
      if (testing::Test::HasFailure()) return;
      first += count;
    }
    EXPECT_TRUE(std::ranges::equal(payload, std::span(frame).subspan(made.headers()))) << "payload";
  }
}

TEST(Segments, RefusesHeadersThatContradictEachOther) {
  Made const made;
  auto const good = made.frame();
  auto const refuses = [](const Bytes& frame, const OffloadHeader& offload) {
    return !shape_of(frame, offload).has_value();
  };
  ASSERT_FALSE(refuses(good, made.offload()));
  auto const with = [&good](std::size_t at, std::uint32_t value, std::size_t count) {
    auto frame = good;
    write(frame, at, value, count);
    return frame;
  };
  auto const t = made.transport_at();
  EXPECT_TRUE(refuses(with(12, 0x86DD, 2), made.offload())) << "another protocol";
  EXPECT_TRUE(refuses(with(14, 0x44, 1), made.offload())) << "an IP header under 20 bytes";
  EXPECT_TRUE(refuses(with(14, 0x4F, 1), made.offload())) << "an IP header over the TCP header";
  EXPECT_TRUE(refuses(with(16, 100, 2), made.offload())) << "a total length that is not";
  EXPECT_TRUE(refuses(with(20, 0x2000, 2), made.offload())) << "a fragment";
  EXPECT_TRUE(refuses(with(23, 17, 1), made.offload())) << "UDP as TCP";
  EXPECT_TRUE(refuses(with(t + 12, 0x40, 1), made.offload())) << "a TCP header under 20 bytes";
  EXPECT_TRUE(refuses(Bytes(good.begin(), good.begin() + 60), made.offload())) << "cut off";
  EXPECT_TRUE(refuses(Bytes(14), {})) << "nothing but an Ethernet header";
  EXPECT_TRUE(refuses(Bytes(kFrameBytesMax + 1), {})) << "too long";

  auto offload = made.offload();
  offload.segment_bytes = 0;
  EXPECT_TRUE(refuses(good, offload)) << "segments of nothing";
  offload = made.offload();
  offload.gso_type = 4;
  EXPECT_TRUE(refuses(good, offload)) << "another kind of offload";
  offload = made.offload();
  offload.flags = 0;
  EXPECT_TRUE(refuses(good, offload)) << "no checksum to make";
  offload = made.offload();
  offload.checksum_start += 2;
  EXPECT_TRUE(refuses(good, offload)) << "a checksum elsewhere";
}

}  // namespace
}  // namespace reprise
