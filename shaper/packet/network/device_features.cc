#include "shaper/packet/network/device_features.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/utsname.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/system/descriptor.h"

namespace reprise {
namespace {

/// The first release whose packet sockets carry them.
constexpr std::pair<unsigned, unsigned> kUdpSegmentsSince{6, 2};
constexpr std::size_t kBitsPerBlock = 32;

// Requests as linux/ethtool.h has them, without their arrays of unknown length.
struct FeatureCountRequest {
  std::uint32_t command = ETHTOOL_GSSET_INFO;
  std::uint32_t reserved = 0;
  std::uint64_t sets = std::uint64_t{1} << ETH_SS_FEATURES;
  std::uint32_t count = 0;
};
struct FeatureNamesRequest {
  std::uint32_t command = ETHTOOL_GSTRINGS;
  std::uint32_t set = ETH_SS_FEATURES;
  std::uint32_t count = 0;
};

/// Sends `request`, which begins with a command, about `device`. On an error errno is set.
bool ask_ethtool(const Descriptor& socket, const char* device, void* request) {
  ifreq question{};
  std::string_view(device).copy(question.ifr_name, IFNAMSIZ - 1);
  question.ifr_data = static_cast<char*>(request);
  return ::ioctl(socket.get(), SIOCETHTOOL, &question) >= 0;
}

/// The names of all features; the place of each is that of its bit. On an error errno is set.
std::optional<std::vector<std::string>> feature_names(const Descriptor& socket,
                                                      const char* device) {
  FeatureCountRequest counted;
  if (!ask_ethtool(socket, device, &counted)) return std::nullopt;
  FeatureNamesRequest head;
  head.count = counted.count;
  std::vector<char> answer(sizeof head + std::size_t{counted.count} * ETH_GSTRING_LEN);
  std::memcpy(answer.data(), &head, sizeof head);
  if (!ask_ethtool(socket, device, answer.data())) return std::nullopt;
  std::string_view rest(answer.data() + sizeof head, answer.size() - sizeof head);
  std::vector<std::string> names;
  for (; !rest.empty(); rest.remove_prefix(ETH_GSTRING_LEN)) {
    auto const padded = rest.substr(0, ETH_GSTRING_LEN);
    names.emplace_back(padded.substr(0, padded.find('\0')));
  }
  return names;
}

}  // namespace

bool carries_udp_segments(std::string_view release) {
  std::pair<unsigned, unsigned> version;
  auto const* const end = release.data() + release.size();
  auto const first = std::from_chars(release.data(), end, version.first);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '.') return false;
  auto const second = std::from_chars(first.ptr + 1, end, version.second);
  return second.ec == std::errc() && version >= kUdpSegmentsSince;
}

bool kernel_carries_udp_segments() {
  utsname kernel{};
  return ::uname(&kernel) == 0 && carries_udp_segments(kernel.release);
}

ShellResult<void> switch_off_feature(const char* device, std::string_view feature) {
  auto const what = std::string(feature) + " of device " + device + " cannot be switched off";
  Descriptor const socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return shell_failure(what);
  auto const names = feature_names(socket, device);
  if (!names) return shell_failure(what);
  auto const found = std::ranges::find(*names, feature);
  if (found == names->end()) return {};
  auto const place = static_cast<std::size_t>(found - names->begin());
  auto const block = place / kBitsPerBlock;
  auto const bit = std::uint32_t{1} << place % kBitsPerBlock;
  auto const blocks = (names->size() + kBitsPerBlock - 1) / kBitsPerBlock;
  // The command and the number of blocks; then, for each block, which bits to set, and to what.
  std::vector<std::uint32_t> wanted(2 + 2 * blocks);
  wanted[0] = ETHTOOL_SFEATURES;
  wanted[1] = static_cast<std::uint32_t>(blocks);
  wanted[2 + 2 * block] = bit;
  if (!ask_ethtool(socket, device, wanted.data())) return shell_failure(what);
  // The kernel may only note the request. Blocks: available, requested, active, never changed.
  std::vector<std::uint32_t> present(2 + 4 * blocks);
  present[0] = ETHTOOL_GFEATURES;
  present[1] = static_cast<std::uint32_t>(blocks);
  if (!ask_ethtool(socket, device, present.data())) return shell_failure(what);
  if ((present[2 + 4 * block + 2] & bit) != 0) return shell_failure(what, {}, EOPNOTSUPP);
  return {};
}

}  // namespace reprise
