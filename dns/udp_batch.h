#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace reprise::dns {

/// An answer to be sent later, from the address that its query came to.
class HeldAnswer {
 public:
  /// Copies the message, which has one piece.
  explicit HeldAnswer(const msghdr& message);
  /// Without blocking: an answer that the system does not accept at once is lost.
  void send(int socket);

 private:
  std::vector<std::uint8_t> bytes_;
  std::vector<char> control_;
  sockaddr_storage peer_{};
  socklen_t peer_size_ = 0;
};

/// Receives queries from a UDP socket and sends answers, several per system call (recvmmsg(2)).
/// Each answer is sent from the address that its query came to, which a socket bound to any address
/// would not do by default. Not thread-safe; 170 KiB.
class UdpBatch {
 public:
  static constexpr std::size_t kMessages = 32;
  static constexpr std::size_t kQueryMax = 4096;   ///< a longer one is cut off, and then invalid
  static constexpr std::size_t kAnswerMax = 1232;  ///< as Responder::kUdpMax

  struct Reply {
    std::size_t size_bytes = 0;  ///< 0: none
    std::chrono::nanoseconds delay{};
  };
  /// Gets a query, its sender, and space for the answer.
  using Answer = std::function<Reply(std::span<const std::uint8_t> query,
                                     const sockaddr_storage& from, std::span<std::uint8_t> out)>;
  /// Gets an answer with a delay, to send it then.
  using Hold = std::function<void(HeldAnswer answer, std::chrono::nanoseconds delay)>;

  UdpBatch();

  /// Makes the socket report the address that a query came to. Call once before serve().
  static void prepare(int socket);

  /// Answers at most kMessages waiting queries, without blocking; an answer that the system does
  /// not accept at once is lost, like any datagram. Returns the number of queries.
  std::size_t serve(int socket, const Answer& answer, const Hold& hold);

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
