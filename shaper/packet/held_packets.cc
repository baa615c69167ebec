#include "shaper/packet/held_packets.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace reprise {
namespace {

constexpr std::size_t kBufferBytesMin = 128;

}  // namespace

/// Of a frame, with its buffer.
std::size_t HeldPackets::memory(std::size_t bytes) {
  return sizeof(Held) + (std::size_t{1} << size_class(bytes));
}

std::size_t HeldPackets::size_class(std::size_t bytes) {
  return static_cast<std::size_t>(std::bit_width(std::max(bytes, kBufferBytesMin) - 1));
}

void HeldPackets::add(Held held, std::span<const std::byte> frame) {
  auto const fit = size_class(frame.size());
  auto& spare = spare_.at(fit);
  if (spare.empty()) {
    held.buffer = std::make_unique_for_overwrite<std::byte[]>(std::size_t{1} << fit);
  } else {
    held.buffer = std::move(spare.back());
    spare.pop_back();
  }
  std::memcpy(held.buffer.get(), frame.data(), frame.size());
  held.size_bytes = static_cast<std::uint32_t>(frame.size());
  bytes_ += memory(frame.size());
  held_.push_back(std::move(held));
}

void HeldPackets::release(std::uint64_t serial, std::uint32_t count) {
  Held& held = held_[serial - first_];
  held.left -= count;
  if (held.left > 0) return;
  bytes_ -= memory(held.size_bytes);
  auto& spare = spare_.at(size_class(held.size_bytes));
  if (spare.size() < kSpareMax) spare.push_back(std::move(held.buffer));
  while (!held_.empty() && held_.front().left == 0) {
    held_.pop_front();
    ++first_;
  }
}

}  // namespace reprise
