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

  /// 0, or the error of connect(2).
  int try_to_connect() const {
    int const socket = ::socket(AF_INET, SOCK_STREAM, 0);
    int const result = ::connect(socket, reinterpret_cast<const sockaddr*>(&at), sizeof at);
    int const error = result == 0 ? 0 : errno;
    ::close(socket);
    return error;
  }

  int handle = -1;
  sockaddr_in at{};
};

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
  EXPECT_EQ(in_child([&] { return listener.try_to_connect(); }), 0);
}

TEST(NetworkLock, DeniesConnect) {
  Reachable const listener;
  EXPECT_EQ(in_child([&] { return deny_outgoing_connections() ? listener.try_to_connect() : 99; }),
            EACCES);
}

TEST(NetworkLock, DeniesConnectToThreadsAndChildren) {
  Reachable const listener;
  EXPECT_EQ(in_child([&] {
              if (!deny_outgoing_connections()) return 99;
              int error = 0;
              std::thread([&] { error = listener.try_to_connect(); }).join();
              if (error != EACCES) return error;
              return in_child([&] { return listener.try_to_connect(); });
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
              if (client == 0) ::_exit(listener.try_to_connect());
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
