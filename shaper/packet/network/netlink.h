#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/system/descriptor.h"

namespace reprise {

/// One netlink request: a header, a fixed part, attributes (RFC 3549; netlink(7), rtnetlink(7)).
/// All contents except names and numbers are known at compile time, so a message beyond kBytesMax
/// is a broken invariant and aborts.
class NetlinkMessage {
 public:
  static constexpr std::size_t kBytesMax = 1024;

  NetlinkMessage(std::uint16_t type, std::uint16_t flags);

  /// The fixed part after the header.
  template <class T>
  NetlinkMessage& fixed(const T& part) {
    append(&part, sizeof part);
    return *this;
  }
  NetlinkMessage& attribute(std::uint16_t type, std::span<const std::byte> value);
  /// With its terminating NUL.
  NetlinkMessage& text(std::uint16_t type, std::string_view value);
  template <class T>
  NetlinkMessage& number(std::uint16_t type, T value) {
    return attribute(type, std::as_bytes(std::span<const T, 1>(&value, 1)));
  }
  /// Opens an attribute that contains everything up to close() with the returned value.
  std::size_t open(std::uint16_t type);
  void close(std::size_t opened);

  void set_sequence(std::uint32_t sequence);
  bool wants_answer() const;
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  void append(const void* data, std::size_t size);

  std::vector<std::byte> bytes_;
};

/// Packets dropped by a network device itself.
struct DeviceDrops {
  std::uint64_t received = 0;
  std::uint64_t transmitted = 0;
};

/// A netlink socket in the network namespace in which it was opened. Not thread-safe.
class NetlinkSocket {
 public:
  /// `protocol` such as NETLINK_ROUTE. Errors: socket(2)'s.
  static std::expected<NetlinkSocket, std::error_code> open(int protocol);
  explicit NetlinkSocket(Descriptor socket) : socket_(std::move(socket)) {}

  /// Sends `messages` in one datagram and waits for the answers that they request (NLM_F_ACK).
  /// Errors: the first one from the kernel; timed_out after 5 s.
  std::expected<void, std::error_code> request(std::span<NetlinkMessage> messages);
  std::expected<void, std::error_code> request(NetlinkMessage message);

  /// The counters of device `index`.
  std::expected<DeviceDrops, std::error_code> drops_of(int index);

  /// Ends the use of this object.
  Descriptor take_socket() { return std::move(socket_); }

 private:
  std::expected<std::size_t, std::error_code> receive(std::span<std::byte> buffer);

  Descriptor socket_;
  std::uint32_t sequence_ = 0;
};

}  // namespace reprise
