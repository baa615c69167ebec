#include "shaper/packet/far_servers.h"

#include <utility>

namespace reprise {
namespace {

constexpr std::size_t kEtherTypeAt = 12;
constexpr std::size_t kSourceAt = kEthernetBytes + 12;
constexpr std::uint32_t kIpv4 = 0x0800;

/// `count` bytes in network order.
std::uint32_t number_at(std::span<const std::byte> frame, std::size_t at, std::size_t count) {
  std::uint32_t number = 0;
  for (auto const byte : frame.subspan(at, count)) {
    number = number << 8 | std::to_integer<std::uint32_t>(byte);
  }
  return number;
}

}  // namespace

std::chrono::nanoseconds FarServers::delay_of(std::span<const std::byte> frame) const {
  if (delays_.empty() || frame.size() < kSourceAt + 4 ||
      number_at(frame, kEtherTypeAt, 2) != kIpv4) {
    return std::chrono::nanoseconds(0);
  }
  auto const found = delays_.find(number_at(frame, kSourceAt, 4));
  return found == delays_.end() ? std::chrono::nanoseconds(0) : found->second;
}

bool FarServers::hold(std::span<const std::byte> frame, const OffloadHeader& offload,
                      std::chrono::nanoseconds due) {
  if (held_bytes_ + frame.size() > kHeldBytesMax) return false;
  held_bytes_ += frame.size();
  held_.push({.due = due,
              .serial = next_serial_++,
              .offload = offload,
              .bytes = {frame.begin(), frame.end()}});
  return true;
}

std::optional<std::chrono::nanoseconds> FarServers::next_due() const {
  if (held_.empty()) return std::nullopt;
  return held_.top().due;
}

std::optional<FarServers::Frame> FarServers::take(std::chrono::nanoseconds now) {
  if (held_.empty() || held_.top().due > now) return std::nullopt;
  // The heap returns only constant tops; the bytes are not part of the order.
  Frame frame = std::move(const_cast<Frame&>(held_.top()));
  held_.pop();
  held_bytes_ -= frame.bytes.size();
  return frame;
}

}  // namespace reprise
