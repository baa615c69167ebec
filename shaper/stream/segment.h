#pragma once

#include <cstdint>

namespace reprise {

/// The payload per packet of Linux on Ethernet: 1500 bytes of IP packet, of which 52 are headers
/// (timestamps).
inline constexpr std::uint32_t kSegmentBytes = 1448;
inline constexpr std::uint32_t kHeaderBytes = 52;
inline constexpr std::uint32_t kSynBytes = 60;
inline constexpr std::uint32_t kDatagramHeaderBytes = 28;

}  // namespace reprise
