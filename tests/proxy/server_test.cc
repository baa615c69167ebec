#include "proxy/server.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>

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
                                        *authority_, 2));
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
