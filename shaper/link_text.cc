#include <algorithm>

#include "shaper/profile.h"

namespace reprise {

std::uint32_t default_queue_packets(std::uint64_t rate_bps, std::chrono::nanoseconds rtt) {
  using Wide = unsigned __int128;
  constexpr Wide kPacket = Wide{8'000'000'000} * kMtuBytes;
  Wide const packets =
      (Wide{rate_bps} * static_cast<std::uint64_t>(rtt.count()) + kPacket - 1) / kPacket;
  return static_cast<std::uint32_t>(
      std::clamp(packets, Wide{kQueuePacketsDefault}, Wide{kQueuePacketsMax}));
}

std::expected<LinkProfile, std::string> parse_link(std::string_view text) {
  for (const LinkProfile& profile : known_profiles()) {
    if (profile.id == text) return profile;
  }
  return std::unexpected("link " + std::string(text) + " is not known: see reprise profiles");
}

}  // namespace reprise
