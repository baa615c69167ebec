#include "pageload/browser/web_socket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <sys/socket.h>

#include <array>
#include <memory>
#include <string>

#include "base/system/descriptor.h"
#include "base/text/base64.h"

namespace reprise {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

/// A server at the other end of a connection.
class Server : public testing::Test {
 protected:
  Server() {
    listener_ = Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&at), size), 0);
    EXPECT_EQ(::listen(listener_.get(), 1), 0);
    EXPECT_EQ(::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&at), &size), 0);
    port_ = ntohs(at.sin_port);
    connect();
  }
  void connect(std::size_t message_bytes_max = MessageStream::kMessageBytesMax) {
    socket_ = std::move(*WebSocket::connect(port_, "/session", message_bytes_max));
    server_ = Descriptor(::accept(listener_.get(), nullptr, nullptr));
  }

  /// What the client says next, which it does while it waits for a message.
  std::string heard() {
    std::array<char, 4096> bytes{};
    ssize_t got = -1;
    for (auto const end = patience(); got < 0 && std::chrono::steady_clock::now() < end;) {
      expect_no_message();
      got = ::recv(server_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    }
    return {bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
  }
  void says(std::string_view bytes) {
    ASSERT_EQ(::send(server_.get(), bytes.data(), bytes.size(), 0),
              static_cast<ssize_t>(bytes.size()));
  }
  static std::chrono::steady_clock::time_point patience() {
    return std::chrono::steady_clock::now() + 10s;
  }
  Result<std::optional<std::string>> receive() { return socket_->receive(patience()); }
  void expect_no_message() {
    EXPECT_EQ(socket_->receive(std::chrono::steady_clock::now() + 20ms).value_or("?"),
              std::nullopt);
  }

  /// Answers the request for a WebSocket as RFC 6455 section 4.2.2 says.
  void agrees(std::string_view field = "Sec-WebSocket-Accept") {
    auto const request = heard();
    EXPECT_THAT(request,
                StartsWith("GET /session HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port_)));
    constexpr std::string_view kField = "Sec-WebSocket-Key: ";
    auto const key = request.substr(request.find(kField) + kField.size(), 24) +
                     "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    std::array<std::byte, 20> digest{};
    EVP_Digest(key.data(), key.size(), reinterpret_cast<unsigned char*>(digest.data()), nullptr,
               EVP_sha1(), nullptr);
    says("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
         std::string(field) + ": " + base64(digest) + "\r\n\r\n");
  }

  Descriptor listener_;
  std::uint16_t port_ = 0;
  Descriptor server_;
  std::unique_ptr<WebSocket> socket_;
};

TEST_F(Server, GivesMessagesOutOneByOneWhateverTheirFrames) {
  agrees("sec-websocket-ACCEPT");
  says("\x81\x03one");
  says(std::string_view("\x01\x02tw\x80\x01o", 7));
  says("\x81\x7E\x01\x2C" + std::string(299, 'x'));
  EXPECT_EQ(receive().value(), "one");
  EXPECT_EQ(receive().value(), "two");
  expect_no_message();
  says("x");
  EXPECT_EQ(receive().value(), std::string(300, 'x'));
  says(std::string_view("\x81\x7F\0\0\0\0\0\1\0\0", 10));
  says(std::string(65'536, 'y'));
  EXPECT_EQ(receive().value(), std::string(65'536, 'y'));
}

TEST_F(Server, HearsNothingBeforeItHasAgreedAndThenMaskedFrames) {
  socket_->send("hello");
  agrees();
  expect_no_message();
  auto const frame = heard();
  ASSERT_EQ(frame.size(), 2 + 4 + 5);
  EXPECT_EQ(frame.substr(0, 2), "\x81\x85");
  std::string text;
  for (std::size_t i = 0; i < 5; ++i) text += static_cast<char>(frame[6 + i] ^ frame[2 + i % 4]);
  EXPECT_EQ(text, "hello");
  EXPECT_NE(frame.substr(2, 4), std::string(4, '\0'));
}

TEST_F(Server, IsAnsweredWhenItPings) {
  agrees();
  says("\x89\x02hi");
  expect_no_message();
  EXPECT_THAT(heard(), StartsWith("\x8A\x82"));
}

TEST_F(Server, ThatClosesOrEndsIsGone) {
  agrees();
  says(std::string_view("\x88\x00", 2));
  EXPECT_EQ(receive().error(), std::errc::broken_pipe);
  server_ = {};
  EXPECT_EQ(receive().error(), std::errc::broken_pipe);
}

TEST_F(Server, ThatDoesNotAgreeIsNone) {
  heard();
  says("HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: AAAA\r\n\r\n");
  EXPECT_EQ(receive().error(), std::errc::bad_message);
}

TEST_F(Server, ThatSendsNoHeadAtAllIsNone) {
  says(std::string(20'000, 'x'));
  EXPECT_EQ(receive().error(), std::errc::bad_message);
}

TEST_F(Server, MayNotMaskUseExtensionsOrFragmentControlFrames) {
  for (std::string_view const bytes :
       {std::string_view("\x81\x81\1\2\3\4x", 7), std::string_view("\xC1\x01x", 3),
        std::string_view("\x09\x01x", 3), std::string_view("\x89\x7E\x01\x00", 4)}) {
    connect();
    agrees();
    says(bytes);
    EXPECT_EQ(receive().error(), std::errc::bad_message);
  }
}

TEST_F(Server, MayNotSendMoreThanTheLimitInOneFrameOrSeveral) {
  connect(100);
  agrees();
  says(std::string_view("\x01\x3C", 2));
  says(std::string(60, 'x'));
  expect_no_message();
  says("\x80\x3C" + std::string(60, 'x'));
  EXPECT_EQ(receive().error(), std::errc::message_size);
}

}  // namespace
}  // namespace reprise
