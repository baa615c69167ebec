// The stub on real sockets of the loopback interface, as clients of both transports meet it.

#include "dns/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <thread>

#include "tests/dns/message_text.h"

namespace reprise::dns {
namespace {

namespace net = boost::asio;
using net::ip::tcp;
using net::ip::udp;
using testing::SizeIs;

class ServerTest : public testing::Test {
 protected:
  ~ServerTest() override { end(); }

  /// Serves at `address`, port 0, from a thread of its own.
  void start(const Server::Options& options = {}, const char* address = "127.0.0.1") {
    server_ = std::make_unique<Server>(context_, responder_, options);
    auto const at = server_->listen({net::ip::make_address(address), 0});
    ASSERT_TRUE(at) << at.error().message();
    at_ = *at;
    run();
  }
  void run() {
    thread_ = std::thread([this] { context_.run(); });
  }
  void end() {
    net::post(context_, [this] { server_.reset(); });
    if (thread_.joinable()) thread_.join();
  }

  static Octets query(std::string_view name, Type type = Type::kA) {
    Message message;
    message.id = 7;
    message.questions = {{.name = name_of(name), .type = type}};
    return encoded(message);
  }
  static Octets framed(const Octets& message) {
    Octets bytes{static_cast<std::uint8_t>(message.size() >> 8),
                 static_cast<std::uint8_t>(message.size())};
    bytes.insert(bytes.end(), message.begin(), message.end());
    return bytes;
  }

  Message ask_udp(const Octets& bytes) {
    udp::socket socket(client_context_, at_.protocol());
    socket.send_to(net::buffer(bytes), at_);
    Octets reply(2000);
    udp::endpoint from;
    reply.resize(socket.receive_from(net::buffer(reply), from));
    EXPECT_EQ(from, at_);
    return decode(reply).value();
  }
  tcp::socket connected() {
    tcp::socket socket(client_context_);
    socket.connect({at_.address(), at_.port()});
    return socket;
  }
  template <class Socket>
  static Message read_reply(Socket& socket) {
    Octets size(2);
    net::read(socket, net::buffer(size));
    Octets reply(static_cast<std::size_t>(size[0]) << 8 | size[1]);
    net::read(socket, net::buffer(reply));
    return decode(reply).value();
  }
  static void expect_end(tcp::socket& socket) {
    Octets byte(1);
    boost::system::error_code error;
    net::read(socket, net::buffer(byte), error);
    EXPECT_TRUE(error == net::error::eof || error == net::error::connection_reset) << error;
  }

  static Zone site() {
    ZoneEntry many{.host = "many.example"};
    for (std::uint32_t i = 0; i < 200; ++i) {
      many.v4.push_back(net::ip::address_v4(0x7f120000 + i));
    }
    return {.entries = {{.host = "www.example.org", .v4 = {net::ip::make_address_v4("127.18.0.1")}},
                        many}};
  }

  net::io_context context_{1};
  net::io_context client_context_;
  Responder responder_{site(), {}};
  std::unique_ptr<Server> server_;
  udp::endpoint at_;
  std::thread thread_;
};

TEST_F(ServerTest, AnswersOverUdp) {
  start();
  auto const reply = ask_udp(query("www.example.org"));
  EXPECT_EQ(reply.id, 7);
  EXPECT_THAT(reply.answers, SizeIs(1));
}

TEST_F(ServerTest, AnswersOverIpv6) {
  start({}, "::1");
  EXPECT_THAT(ask_udp(query("www.example.org")).answers, SizeIs(1));
  auto socket = connected();
  net::write(socket, net::buffer(framed(query("www.example.org"))));
  EXPECT_THAT(read_reply(socket).answers, SizeIs(1));
}

TEST_F(ServerTest, AnswersFromTheAddressThatWasAsked) {
  start({}, "0.0.0.0");
  at_.address(net::ip::make_address("127.18.3.4"));
  EXPECT_THAT(ask_udp(query("www.example.org")).answers, SizeIs(1));
}

TEST_F(ServerTest, CutsOverUdpWhatItGivesOverTcp) {
  start();
  EXPECT_TRUE(ask_udp(query("many.example")).truncated);
  auto socket = connected();
  net::write(socket, net::buffer(framed(query("many.example"))));
  EXPECT_THAT(read_reply(socket).answers, SizeIs(200));
}

TEST_F(ServerTest, AnswersPipelinedQueriesInOrder) {
  start();
  Octets all;
  for (int i = 0; i < 300; ++i) {
    auto const next = framed(query(i % 2 == 0 ? "many.example" : "www.example.org"));
    all.insert(all.end(), next.begin(), next.end());
  }
  auto socket = connected();
  net::write(socket, net::buffer(all));
  for (int i = 0; i < 300; ++i)
    EXPECT_THAT(read_reply(socket).answers, SizeIs(i % 2 == 0 ? 200 : 1));
}

TEST_F(ServerTest, WaitsForQueriesThatComeByteByByte) {
  start();
  auto socket = connected();
  socket.set_option(tcp::no_delay(true));
  for (auto const byte : framed(query("www.example.org"))) {
    net::write(socket, net::buffer(&byte, 1));
  }
  EXPECT_THAT(read_reply(socket).answers, SizeIs(1));
}

TEST_F(ServerTest, SaysFormErrTo64KilobytesOfNonsense) {
  start();
  Octets nonsense(kMessageMax);
  nonsense[5] = 1;  // a question, which is the root's; the rest is too much
  auto socket = connected();
  net::write(socket, net::buffer(framed(nonsense)));
  EXPECT_EQ(read_reply(socket).rcode, Rcode::kFormErr);
  net::write(socket, net::buffer(framed(query("www.example.org"))));
  EXPECT_THAT(read_reply(socket).answers, SizeIs(1));
}

TEST_F(ServerTest, ClosesWhoeverSendsNoQueries) {
  start();
  for (const Octets& sent : {Octets{0, 0}, Octets{0, 3, 1, 2, 3}}) {
    auto socket = connected();
    net::write(socket, net::buffer(sent));
    expect_end(socket);
  }
}

TEST_F(ServerTest, ClosesWhoeverTakesTooLong) {
  start({.tcp_idle = std::chrono::milliseconds(100)});
  auto silent = connected();
  auto half = connected();
  net::write(half, net::buffer(Octets{0, 40, 1, 2, 3}));
  expect_end(silent);
  expect_end(half);
}

TEST_F(ServerTest, ClosesTheOneThatIsIdleLongestWhenThereAreTooMany) {
  start({.tcp_connections_max = 2});
  auto first = connected();
  auto second = connected();
  for (auto* const socket : {&first, &second}) {
    net::write(*socket, net::buffer(framed(query("www.example.org"))));
    read_reply(*socket);
  }
  auto third = connected();
  expect_end(first);
  for (auto* const socket : {&second, &third}) {
    net::write(*socket, net::buffer(framed(query("www.example.org"))));
    EXPECT_THAT(read_reply(*socket).answers, SizeIs(1));
  }
}

TEST_F(ServerTest, ServesSocketsThatWereMadeElsewhere) {
  udp::socket datagrams(context_, {net::ip::make_address("127.0.0.1"), 0});
  tcp::acceptor stream(context_, {net::ip::make_address("127.0.0.1"), 0});
  auto const stream_at = stream.local_endpoint();
  at_ = datagrams.local_endpoint();
  server_ = std::make_unique<Server>(context_, responder_, Server::Options{});
  ASSERT_TRUE(server_->adopt(datagrams.release()));
  ASSERT_TRUE(server_->adopt(stream.release()));
  run();
  EXPECT_THAT(ask_udp(query("www.example.org")).answers, SizeIs(1));
  at_.port(stream_at.port());
  auto socket = connected();
  net::write(socket, net::buffer(framed(query("www.example.org"))));
  EXPECT_THAT(read_reply(socket).answers, SizeIs(1));
}

TEST_F(ServerTest, ServesConnectionsThatWereAcceptedElsewhere) {
  net::local::stream_protocol::socket ours(client_context_);
  net::local::stream_protocol::socket theirs(context_);
  net::local::connect_pair(ours, theirs);
  server_ = std::make_unique<Server>(context_, responder_, Server::Options{});
  server_->take(theirs.release());
  run();
  net::write(ours, net::buffer(framed(query("www.example.org"))));
  EXPECT_THAT(read_reply(ours).answers, SizeIs(1));
}

TEST_F(ServerTest, AnswersMessagesThatCameElsewhereAsOverUdpUntilItStops) {
  Server server(context_, responder_, {});
  auto const asked = query("many.example");
  std::vector<Octets> replies;
  auto const keep = [&](Octets reply) { replies.push_back(std::move(reply)); };
  server.answer(asked, keep);
  server.answer(Octets(3), keep);
  ASSERT_THAT(replies, SizeIs(2));
  EXPECT_TRUE(decode(replies[0]).value().truncated);
  EXPECT_TRUE(replies[1].empty());
  server.stop();
  server.answer(asked, keep);
  EXPECT_THAT(replies, SizeIs(2));
}

TEST_F(ServerTest, HoldsBackTheAnswersOfSlowNames) {
  constexpr std::chrono::milliseconds kDelay{2500};
  responder_ = Responder({.entries = {{.host = "slow.example",
                                       .v4 = {net::ip::make_address_v4("127.18.0.9")},
                                       .delay = LookupTimes::all(kDelay)},
                                      site().entries[0]}},
                         {});
  constexpr std::chrono::milliseconds kIdle{2000};
  static_assert(kIdle < kDelay);
  start({.tcp_idle = kIdle}, "0.0.0.0");
  at_.address(net::ip::make_address("127.0.0.5"));  // as it was asked, so it answers
  auto const began = std::chrono::steady_clock::now();
  EXPECT_THAT(ask_udp(query("slow.example")).answers, SizeIs(1));
  EXPECT_GE(std::chrono::steady_clock::now() - began, kDelay);
  auto socket = connected();
  net::write(socket, net::buffer(framed(query("slow.example"))));
  EXPECT_THAT(read_reply(socket).answers, SizeIs(1));
  EXPECT_GE(std::chrono::steady_clock::now() - began, 2 * kDelay);

  // Another name does not wait for it.
  udp::socket client(client_context_, udp::v4());
  client.send_to(net::buffer(query("slow.example")), at_);
  client.send_to(net::buffer(query("www.example.org")), at_);
  for (auto const* const expected : {"www.example.org", "slow.example"}) {
    Octets reply(2000);
    udp::endpoint from;
    reply.resize(client.receive_from(net::buffer(reply), from));
    EXPECT_EQ(decode(reply).value().questions.at(0).name.text(), expected);
  }
}

TEST_F(ServerTest, StopsWithAnswersHeldBack) {
  responder_ = Responder({.other_delays = {.all = std::chrono::hours(24)}}, {});
  for (bool const has_run : {true, false}) {
    Server server(context_, responder_, {});
    bool sent = false;
    server.answer(query("slow.example"), [&](const Octets&) { sent = true; });
    if (has_run) context_.poll();
    server.stop();
    context_.restart();
    context_.run();
    EXPECT_FALSE(sent);
  }
}

TEST_F(ServerTest, DropsAnswersWhileTooManyAreHeldBackAndSaysSo) {
  responder_ = Responder({.other_delays = {.all = std::chrono::hours(24)}}, {});
  Server server(context_, responder_, {});
  std::size_t dropped = 0;
  for (std::size_t i = 0; i < Server::kHeldMax + 3; ++i) {
    server.answer(query("slow.example"), [&](const Octets& reply) {
      EXPECT_TRUE(reply.empty());
      ++dropped;
    });
  }
  EXPECT_EQ(dropped, 3u);
  EXPECT_EQ(responder_.counts().dropped, 3u);
  EXPECT_EQ(responder_.counts().queries, Server::kHeldMax);
  server.stop();
  context_.run();
  EXPECT_EQ(dropped, 3u);
}

TEST_F(ServerTest, AdoptsNothingThatItCannotServe) {
  Server server(context_, responder_, {});
  tcp::socket unconnected(context_, tcp::v4());
  EXPECT_EQ(server.adopt(unconnected.release()).error(), std::errc::not_supported);
  EXPECT_EQ(server.adopt(-1).error(), std::errc::bad_file_descriptor);
}

TEST_F(ServerTest, SaysWhenThePortIsTaken) {
  tcp::acceptor taken(context_, {net::ip::make_address("127.0.0.1"), 0});
  Server server(context_, responder_, {});
  auto const at =
      server.listen({net::ip::make_address("127.0.0.1"), taken.local_endpoint().port()});
  EXPECT_EQ(at.error(), std::errc::address_in_use);
}

TEST_F(ServerTest, StopsWithClientsConnected) {
  start();
  auto socket = connected();
  net::write(socket, net::buffer(framed(query("www.example.org"))));
  read_reply(socket);
  end();
  expect_end(socket);
  EXPECT_EQ(responder_.counts().queries, 1u);
}

}  // namespace
}  // namespace reprise::dns
