#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace reprise::dns {

/// Takes queries from a UDP socket and sends answers, several a system call (recvmmsg(2)). Each
/// answer leaves from the address that its query came to, which a socket bound to any address would
/// not do by itself. Not thread-safe; 170 KiB.
class UdpBatch {
 public:
  static constexpr std::size_t kMessages = 32;
  static constexpr std::size_t kQueryMax = 4096;   ///< a longer one is cut, and then not read
  static constexpr std::size_t kAnswerMax = 1232;  ///< as Responder::kUdpMax

  /// Given a query, where it comes from and room for its answer: the answer's size, 0 for none.
  using Answer =
      std::function<std::size_t(std::span<const std::uint8_t> query, const sockaddr_storage& from,
                                std::span<std::uint8_t> out)>;

  UdpBatch();

  /// Has the socket tell what address a query came to. Call once before serve().
  static void prepare(int socket);

  /// Answers what is there, at most kMessages queries, and waits for nothing; an answer that the
  /// system does not take at once is lost, as datagrams are. Returns how many queries there were.
  std::size_t serve(int socket, const Answer& answer);

 private:
  struct Slot {
    std::array<std::uint8_t, kQueryMax> query;
    std::array<std::uint8_t, kAnswerMax> answer;
    alignas(cmsghdr) std::array<char, 64> control;
    sockaddr_storage peer;
    iovec piece;
  };
  std::vector<Slot> slots_;
  std::array<mmsghdr, kMessages> headers_{};
};

}  // namespace reprise::dns
