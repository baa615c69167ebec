#pragma once

// What the network inside a packet shell looks like. Three network namespaces:
//
//   client C            link L                        server S
//   link0 192.0.2.2 --- client <- packet link -> server --- link0 192.0.2.1, and every other
//   address
//
// C routes everything into its device. L has no addresses: only the packet link moves packets from
// one device to the other. In S every address but the client's is local, so one wildcard listener
// takes the connections to all of them and getsockname(2) tells which was meant.

#include <array>
#include <cstdint>

namespace reprise {

/// TEST-NET-1 (RFC 5737), host byte order.
inline constexpr std::uint32_t kServerAddress = 0xC0000201;
inline constexpr std::uint32_t kClientAddress = 0xC0000202;

inline constexpr std::uint32_t kLinkMtuBytes = 1500;

/// The devices of C and S; those of L are named by the side that they lead to.
inline constexpr const char* kNearDevice = "link0";
inline constexpr const char* kClientDevice = "client";
inline constexpr const char* kServerDevice = "server";

/// Without ARP a device sends to its own address. Both near devices have the same, so that a frame
/// can be moved across as it is; those of L have another, so that L's own stack ignores it.
inline constexpr std::array<std::uint8_t, 6> kNearMac{2, 0, 0, 0, 0, 1};
inline constexpr std::array<std::uint8_t, 6> kFarMac{2, 0, 0, 0, 0, 2};

}  // namespace reprise
