#include "proxy/replay/network_lock.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <linux/io_uring.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <semaphore>
#include <thread>

namespace reprise {
namespace {

/// A listener on loopback that anybody could reach.
struct Reachable {
  Reachable() {
    handle = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in any{};
    any.sin_family = AF_INET;
    any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::bind(handle, reinterpret_cast<sockaddr*>(&any), sizeof any);
    ::listen(handle, 8);
    socklen_t length = sizeof at;
    ::getsockname(handle, reinterpret_cast<sockaddr*>(&at), &length);
  }
  ~Reachable() { ::close(handle); }

  /// 0, or the error of connect(2). Takes the socket, as the lock allows no new one.
  int try_to_connect(int socket) const {
    return ::connect(socket, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0 ? 0 : errno;
  }

  int handle = -1;
  sockaddr_in at{};
};

int stream_socket() {
  return ::socket(AF_INET, SOCK_STREAM, 0);
}

/// 0, or the error of socket(2).
int try_to_make_socket(int family, int type) {
  int const made = ::socket(family, type, 0);
  if (made < 0) return errno;
  ::close(made);
  return 0;
}

/// The filter is for good, so whatever it is tried on runs in a process of its own. Returns what
/// `body` returns.
int in_child(const std::function<int()>& body) {
  auto const child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(NetworkLock, ConnectsBeforeItIsSet) {
  Reachable const listener;
  EXPECT_EQ(in_child([&] { return listener.try_to_connect(stream_socket()); }), 0);
}

TEST(NetworkLock, DeniesConnectOfASocketMadeBefore) {
  Reachable const listener;
  int const socket = stream_socket();
  EXPECT_EQ(
      in_child([&] { return deny_outgoing_connections() ? listener.try_to_connect(socket) : 99; }),
      EACCES);
  ::close(socket);
}

TEST(NetworkLock, DeniesSocketsOfEveryKind) {
  for (auto const family : {AF_INET, AF_INET6, AF_UNIX}) {
    for (auto const type : {SOCK_STREAM, SOCK_DGRAM}) {
      EXPECT_EQ(in_child([&] {
                  return deny_outgoing_connections() ? try_to_make_socket(family, type) : 99;
                }),
                EACCES)
          << family << " " << type;
    }
  }
}

TEST(NetworkLock, DeniesThreadsAndChildren) {
  Reachable const listener;
  int const socket = stream_socket();
  EXPECT_EQ(in_child([&] {
              if (!deny_outgoing_connections()) return 99;
              auto const try_both = [&] {
                int const made = try_to_make_socket(AF_INET, SOCK_DGRAM);
                return made == EACCES ? listener.try_to_connect(socket) : made;
              };
              int error = 0;
              std::thread([&] { error = try_both(); }).join();
              return error == EACCES ? in_child(try_both) : error;
            }),
            EACCES);
  ::close(socket);
}

TEST(NetworkLock, HoldsForThreadsThatRanBefore) {
  std::binary_semaphore locked(0);
  EXPECT_EQ(in_child([&] {
              int error = 0;
              std::thread before([&] {
                locked.acquire();
                error = try_to_make_socket(AF_INET, SOCK_STREAM);
              });
              bool const is_set = deny_outgoing_connections().has_value();
              locked.release();
              before.join();
              return is_set ? error : 99;
            }),
            EACCES);
}

TEST(NetworkLock, DeniesIoUring) {
  EXPECT_EQ(in_child([] {
              if (!deny_outgoing_connections()) return 99;
              io_uring_params parameters{};
              return ::syscall(SYS_io_uring_setup, 8, &parameters) < 0 ? errno : 0;
            }),
            EACCES);
}

TEST(NetworkLock, LetsTheServerAccept) {
  EXPECT_EQ(in_child([] {
              // Something outside connects: a child forked before the lock.
              Reachable const listener;
              auto const client = ::fork();
              if (client == 0) ::_exit(listener.try_to_connect(stream_socket()));
              if (!deny_outgoing_connections()) return 99;
              int const accepted = ::accept(listener.handle, nullptr, nullptr);
              int status = 0;
              ::waitpid(client, &status, 0);
              return accepted >= 0 && status == 0 ? 0 : 1;
            }),
            0);
}

}  // namespace
}  // namespace reprise
