#pragma once

// The network inside a packet shell. Three network namespaces:
//
//   client C            link L                        server S
//   link0 192.0.2.2 --- client <- packet link -> server --- link0 192.0.2.1, and every other
//   address
//
// C routes everything into its device. L has no addresses: only the packet link moves packets
// between its devices. In S every address except the client's is local, so one wildcard listener
// accepts the connections to all of them, and getsockname(2) returns the requested address.

#include <array>
#include <cstdint>

namespace reprise {

/// TEST-NET-1 (RFC 5737), host byte order.
inline constexpr std::uint32_t kServerAddress = 0xC0000201;
inline constexpr std::uint32_t kClientAddress = 0xC0000202;

inline constexpr std::uint32_t kLinkMtuBytes = 1500;

/// The devices of C and S; those of L are named after the side that they lead to.
inline constexpr const char* kNearDevice = "link0";
inline constexpr const char* kClientDevice = "client";
inline constexpr const char* kServerDevice = "server";

/// Without ARP a device sends to its own address. Both near devices have the same address, so
/// frames can cross unchanged; those of L have another, so that L's own stack ignores the frames.
inline constexpr std::array<std::uint8_t, 6> kNearMac{2, 0, 0, 0, 0, 1};
inline constexpr std::array<std::uint8_t, 6> kFarMac{2, 0, 0, 0, 0, 2};

}  // namespace reprise
