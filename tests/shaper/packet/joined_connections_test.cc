#include "shaper/packet/network/joined_connections.h"

#include <gtest/gtest.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>

#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <utility>

namespace reprise {
namespace {

namespace net = boost::asio;
using net::ip::tcp;

constexpr int kReceiveBufferBytes = 16'384;
/// More than the client's socket receives unread, and less than the join and its sockets hold.
constexpr std::size_t kAnswerBytes = 100'000;
/// More than all sockets hold unread.
constexpr std::size_t kUploadBytes = 32 << 20;

/// A client and a server on loopback, whose connections are joined.
class JoinedConnectionsTest : public testing::Test {
 protected:
  void SetUp() override {
    auto inside = connect(client_);
    auto outside = connect(server_);
    auto const held = std::make_shared<int>(0);
    held_ = held;
    net::co_spawn(context_, join_connections(std::move(inside), std::move(outside), held),
                  [](std::exception_ptr) {});
    thread_ = std::thread([this] { context_.run(); });
  }

  void TearDown() override {
    boost::system::error_code ignored;
    client_.close(ignored);
    server_.close(ignored);
    thread_.join();
    EXPECT_TRUE(held_.expired());
  }

  /// The other end of `near`.
  tcp::socket connect(tcp::socket& near) {
    tcp::acceptor listener(context_, tcp::endpoint(net::ip::address_v4::loopback(), 0));
    near.open(tcp::v4());
    near.set_option(net::socket_base::receive_buffer_size(kReceiveBufferBytes));
    near.connect(listener.local_endpoint());
    return listener.accept();
  }

  static void send(tcp::socket& socket, const std::string& bytes) {
    boost::system::error_code error;
    net::write(socket, net::buffer(bytes), error);
    EXPECT_FALSE(error) << error.message();
  }

  /// Until the kernel of the other end has everything.
  static void wait_until_delivered(tcp::socket& socket) {
    for (int left = 1; left > 0; std::this_thread::yield()) {
      ASSERT_EQ(::ioctl(socket.native_handle(), SIOCOUTQ, &left), 0);
    }
  }

  struct Received {
    std::string bytes;
    boost::system::error_code end;
  };
  static Received receive_to_the_end(tcp::socket& socket) {
    Received received;
    std::array<char, 4096> part;
    while (!received.end) {
      auto const count = socket.read_some(net::buffer(part), received.end);
      received.bytes.append(part.data(), count);
    }
    return received;
  }

  net::io_context context_;
  tcp::socket client_{context_};
  tcp::socket server_{context_};
  std::weak_ptr<int> held_;
  std::thread thread_;
};

TEST_F(JoinedConnectionsTest, EndEachDirectionByItself) {
  send(client_, "ask");
  client_.shutdown(tcp::socket::shutdown_send);
  auto const asked = receive_to_the_end(server_);
  EXPECT_EQ(asked.bytes, "ask");
  EXPECT_TRUE(asked.end == net::error::eof) << asked.end.message();
  send(server_, "answer");
  server_.close();
  auto const answered = receive_to_the_end(client_);
  EXPECT_EQ(answered.bytes, "answer");
  EXPECT_TRUE(answered.end == net::error::eof) << answered.end.message();
}

TEST_F(JoinedConnectionsTest, DeliverAnAnswerBeforeTheResetOfAServerThatDoesNotReadOn) {
  send(client_, "upload");
  std::array<char, 1> first;
  net::read(server_, net::buffer(first));
  std::string const answer(kAnswerBytes, 'a');
  send(server_, answer);
  wait_until_delivered(server_);
  server_.close();  // a reset, because bytes are unread
  send(client_, std::string(kUploadBytes, 'u'));
  auto const answered = receive_to_the_end(client_);
  EXPECT_TRUE(answered.bytes == answer) << answered.bytes.size();
  EXPECT_TRUE(answered.end == net::error::connection_reset) << answered.end.message();
}

TEST_F(JoinedConnectionsTest, KeepTheOrderlyEndOfAServerThatIsSentMore) {
  send(server_, "answer");
  server_.close();
  boost::system::error_code error;
  while (!error) net::write(client_, net::buffer("more", 4), error);
  auto const answered = receive_to_the_end(client_);
  EXPECT_EQ(answered.bytes, "answer");
  EXPECT_TRUE(answered.end == net::error::eof) << answered.end.message();
}

TEST_F(JoinedConnectionsTest, DeliverARequestBeforeTheResetOfItsClient) {
  send(client_, "ask");
  client_.set_option(tcp::socket::linger(true, 0));
  client_.close();
  auto const asked = receive_to_the_end(server_);
  EXPECT_EQ(asked.bytes, "ask");
  EXPECT_TRUE(asked.end == net::error::connection_reset) << asked.end.message();
}

TEST(JoinedUnixSocket, IsClosedAfterTheDataOfAResetConnectionAndItsNotice) {
  net::io_context context;
  net::local::stream_protocol::socket client(context);
  net::local::stream_protocol::socket inside(context);
  net::local::connect_pair(client, inside);
  tcp::acceptor listener(context, tcp::endpoint(net::ip::address_v4::loopback(), 0));
  tcp::socket server(context);
  server.connect(listener.local_endpoint());
  auto outside = listener.accept();
  net::write(server, net::buffer("answer", 6));
  server.set_option(tcp::socket::linger(true, 0));
  server.close();
  bool told = false;
  net::co_spawn(
      context,
      join_connections(std::move(inside), std::move(outside), nullptr, [&told] { told = true; }),
      [](std::exception_ptr) {});
  context.run();
  EXPECT_TRUE(told);
  std::array<char, 16> bytes;
  boost::system::error_code end;
  auto const count = net::read(client, net::buffer(bytes), end);
  EXPECT_EQ(std::string(bytes.data(), count), "answer");
  EXPECT_TRUE(end == net::error::eof) << end.message();
}

}  // namespace
}  // namespace reprise
