#include "proxy/server.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <numeric>

#include "proxy/http/handler.h"
#include "tests/scratch_folder.h"

namespace reprise {
namespace {

/// Answers with the addresses of the connection; "/cut" with a message that is not whole.
class Addresses final : public HandlerFactory {
 public:
  class Answer final : public ConnectionHandler {
   public:
    explicit Answer(const ConnectionInfo& connection) : connection_(connection) {}
    awaitable<TlsPlan> plan_tls(const ConnectionInfo&, const ClientHello&) override {
      co_return TlsPlan{};
    }
    Task<void> serve(const ExchangeContext&, const RequestHead& head, BodyReader&,
                     ResponseWriter& writer) override {
      if (head.target == "/cut") {
        ResponseHead const cut{.status = 200, .reason = "OK"};
        if (auto const sent = co_await writer.send_head(cut); !sent) co_return sent;
        co_return fail(std::make_error_code(std::errc::io_error));
      }
      co_return co_await send_text(
          writer, 200, to_text(connection_.client) + " to " + to_text(connection_.local));
    }
    void close() override {}

   private:
    const ConnectionInfo& connection_;
  };
  std::unique_ptr<ConnectionHandler> open(const ConnectionInfo& connection) override {
    return std::make_unique<Answer>(connection);
  }
};

class ServerTest : public testing::Test {
 protected:
  ServerTest() {
    authority_ = std::move(*CertificateAuthority::open_or_create(folder_.path()));
    server_ = std::move(*Server::create({{.flag = "--http",
                                          .at = {net::ip::address_v4::loopback(), 0},
                                          .accepted_elsewhere = true}},
                                        {&*authority_, 1}, 2));
    server_->start({&addresses_});
  }
  ~ServerTest() override { server_.reset(); }

  /// The client's end of a connection that the server has taken.
  int take() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    EXPECT_EQ(::fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    server_->take(0, ends[1],
                  {.client = {net::ip::make_address("127.1.2.3"), 4567},
                   .local = {net::ip::make_address("127.9.9.9"), 80},
                   .on_abort = [this] { aborted_ = true; }});
    return ends[0];
  }
  static std::string ask(int socket, const std::string& path) {
    auto const request = "GET " + path + " HTTP/1.0\r\nHost: a.test\r\n\r\n";
    EXPECT_EQ(::send(socket, request.data(), request.size(), 0),
              static_cast<ssize_t>(request.size()));
    std::string answer;
    char chunk[4096];
    for (ssize_t count = 0; (count = ::recv(socket, chunk, sizeof chunk, 0)) > 0;) {
      answer.append(chunk, static_cast<std::size_t>(count));
    }
    ::close(socket);
    return answer;
  }

  ScratchFolder folder_;
  std::optional<CertificateAuthority> authority_;
  Addresses addresses_;
  std::unique_ptr<Server> server_;
  std::atomic<bool> aborted_ = false;
};

TEST_F(ServerTest, ServesAConnectionThatWasAcceptedElsewhereByItsOwnAddresses) {
  for (int i = 0; i < 3; ++i) {  // more than there are threads
    EXPECT_THAT(ask(take(), "/"), testing::EndsWith("127.1.2.3:4567 to 127.9.9.9:80"));
  }
  EXPECT_FALSE(aborted_);
}

TEST_F(ServerTest, SaysThatAMessageIsNotWhole) {
  EXPECT_THAT(ask(take(), "/cut"), testing::StartsWith("HTTP/1.1 200 OK"));
  EXPECT_TRUE(aborted_);
}

TEST_F(ServerTest, ClosesWhatComesAfterItsEnd) {
  server_->stop();
  int const late = take();
  server_.reset();
  char byte = 0;
  EXPECT_EQ(::recv(late, &byte, 1, 0), 0);
  ::close(late);
}

// A sanitizer opens a pipe where it sees a class first, and cannot where no descriptor is free.
#if !__has_feature(undefined_behavior_sanitizer)
/// A process in which no descriptor is free.
class NoDescriptors {
 public:
  NoDescriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    int const lowest_free = ::dup(STDIN_FILENO);
    ::close(lowest_free);
    rlimit const none{.rlim_cur = static_cast<rlim_t>(lowest_free), .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  rlimit before_{};
};

/// The server accepts them itself.
class AcceptingServerTest : public ServerTest {
 protected:
  static constexpr timeval kPatience{.tv_sec = 120, .tv_usec = 0};

  AcceptingServerTest() { start(2); }
  void start(unsigned threads) {
    server_ = std::move(*Server::create(
        {{.flag = "--http", .at = {net::ip::address_v4::loopback(), 0}, .tls = false}},
        {&*authority_, 1}, threads));
    server_->start({&addresses_});
  }
  int new_socket() {
    int const socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
    return socket;
  }
  void connect(int socket) {
    auto const& at = server_->bound().front();
    ASSERT_EQ(::connect(socket, at.data(), static_cast<socklen_t>(at.size())), 0);
  }
  /// Asks on a connection that goes on. Whether there was an answer.
  static bool asks(int socket) {
    constexpr std::string_view kRequest = "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n";
    char answer[4096];
    return ::send(socket, kRequest.data(), kRequest.size(), MSG_NOSIGNAL) > 0 &&
           ::recv(socket, answer, sizeof answer, 0) > 0;
  }
  /// Whether the server has closed it. What is left of an answer may come before the end.
  static bool ends(int socket) {
    char rest[4096];
    ssize_t count = 0;
    do count = ::recv(socket, rest, sizeof rest, 0);
    while (count > 0);
    return count == 0;
  }
};

TEST_F(AcceptingServerTest, ClosesWhatHasBeenIdleLongestWhenDescriptorsRunOut) {
  constexpr std::size_t kIdle = 40;
  std::vector<int> idle;
  for (std::size_t i = 0; i < kIdle; ++i) {
    idle.push_back(new_socket());
    connect(idle.back());
    if (i % 2 == 0) EXPECT_TRUE(asks(idle.back()));  // others have not said anything yet
  }
  std::vector<int> newcomers;
  for (std::size_t i = 0; i < kIdle / 2; ++i) newcomers.push_back(new_socket());
  // The last of them has been accepted, and so all before it.
  EXPECT_TRUE(asks(idle.back()));
  {
    NoDescriptors const none;
    for (int const newcomer : newcomers) {
      connect(newcomer);
      EXPECT_TRUE(asks(newcomer));
    }
  }
  EXPECT_TRUE(ends(idle.front()));
  EXPECT_TRUE(asks(newcomers.back()));
  EXPECT_TRUE(asks(idle.back()));
  for (int const socket : idle) ::close(socket);
  for (int const socket : newcomers) ::close(socket);
}

TEST_F(AcceptingServerTest, GivesEachThreadAsManyConnectionsAsTheNext) {
  for (unsigned const threads : {1U, 2U, 3U}) {
    start(threads);
    std::vector<int> open;
    for (int i = 0; i < 20; ++i) {
      open.push_back(new_socket());
      connect(open.back());
      EXPECT_TRUE(asks(open.back()));
      auto const counts = server_->connections();
      EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), std::size_t{0}), open.size());
      auto const [fewest, most] = std::ranges::minmax(counts);
      EXPECT_LE(most - fewest, 1U) << open.size() << " on " << threads << " threads";
    }
    for (int const socket : open) ::close(socket);
  }
}

#endif

TEST_F(ServerTest, GivesTheListenersSocketAway) {
  int const listener = server_->listening_socket(0);
  tcp::endpoint at;
  auto length = static_cast<socklen_t>(at.capacity());
  ASSERT_EQ(::getsockname(listener, at.data(), &length), 0);
  EXPECT_EQ(at.port(), server_->bound().front().port());
  ::close(listener);
}

}  // namespace
}  // namespace reprise
