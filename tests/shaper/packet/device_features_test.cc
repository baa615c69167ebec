#include "shaper/packet/network/device_features.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <utility>
#include <vector>

#include "shaper/packet/packet_ring.h"
#include "shaper/packet/packet_shell.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::Pair;

constexpr std::size_t kUdpPayloadBytes = 1000;
constexpr std::size_t kUdpFrameBytes = kEthernetBytes + 20 + 8 + kUdpPayloadBytes;
constexpr int kFramesPatienceMs = 30'000;

TEST(DeviceFeatures, PacketSocketsCarryUdpSegmentsSinceLinux6_2) {
  for (const char* const release : {"6.2.0", "6.2", "6.18.5+", "7.0-rc1", "10.0"}) {
    EXPECT_TRUE(carries_udp_segments(release)) << release;
  }
  for (const char* const release : {"6.1.0-18-amd64", "5.10", "5.14.0-427.el9.x86_64", "4.20.17"}) {
    EXPECT_FALSE(carries_udp_segments(release)) << release;
  }
  for (const char* const release : {"", "6", "6.", "7", "junk", "v6.2", "-7.0", "6.x"}) {
    EXPECT_FALSE(carries_udp_segments(release)) << release;
  }
}

/// Sizes and kinds of offload of the frames in which a datagram of two segments leaves the client's
/// device.
std::vector<std::pair<std::size_t, int>> frames_of_two_segments(PacketShell& shell) {
  std::vector<std::pair<std::size_t, int>> frames;
  auto& network = shell.network();
  auto ring = PacketRing::open(std::move(network.client_packets), network.client_index);
  if (!ring) {
    ADD_FAILURE() << ring.error().what;
    return frames;
  }
  int const client = network.client_probe.get();
  int const segment_bytes = kUdpPayloadBytes;
  std::array<char, 2 * kUdpPayloadBytes> const datagram{};
  EXPECT_EQ(::setsockopt(client, IPPROTO_UDP, UDP_SEGMENT, &segment_bytes, sizeof segment_bytes),
            0);
  EXPECT_EQ(::send(client, datagram.data(), datagram.size(), 0),
            static_cast<ssize_t>(datagram.size()));
  pollfd waited{.fd = ring->fd(), .events = POLLIN, .revents = 0};
  for (std::size_t bytes = 0; bytes < 2 * kUdpPayloadBytes;) {
    if (::poll(&waited, 1, kFramesPatienceMs) <= 0 || (waited.revents & POLLIN) == 0) break;
    for (; auto const frame = ring->front(); ring->pop()) {
      if (frame->bytes.size() < kUdpFrameBytes) continue;  // the kernel's own
      frames.emplace_back(frame->bytes.size(), frame->offload.gso_type);
      bytes += frame->bytes.size() - (kUdpFrameBytes - kUdpPayloadBytes);
    }
  }
  return frames;
}

TEST(DeviceFeatures, TheKernelCutsUdpSegmentsBeforeADeviceWithoutThem) {
  if (auto const any = PacketShell::start({.udp_segments = true}); !any) {
    GTEST_SKIP() << any.error().what;
  }
  auto shell = PacketShell::start({.udp_segments = false});
  ASSERT_TRUE(shell) << shell.error().what;
  EXPECT_THAT(frames_of_two_segments(*shell),
              ElementsAre(Pair(kUdpFrameBytes, 0), Pair(kUdpFrameBytes, 0)));
}

TEST(DeviceFeatures, EveryUdpSegmentEntersTheLinkOnThisKernel) {
  auto shell = PacketShell::start({});
  if (!shell) GTEST_SKIP() << shell.error().what;
  auto const frames = frames_of_two_segments(*shell);
  if (kernel_carries_udp_segments()) {
    EXPECT_THAT(frames, ElementsAre(Pair(kUdpFrameBytes + kUdpPayloadBytes, kOffloadUdp)));
  } else {
    EXPECT_THAT(frames, ElementsAre(Pair(kUdpFrameBytes, 0), Pair(kUdpFrameBytes, 0)));
  }
}

}  // namespace
}  // namespace reprise
