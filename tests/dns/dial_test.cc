#include "dns/dial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "dns/error.h"

namespace reprise::dns {
namespace {

namespace net = boost::asio;
using net::ip::address;
using net::ip::tcp;
using testing::ElementsAre;
using testing::SizeIs;

std::vector<std::string> order(const std::vector<const char*>& given, const char* unusable = "-") {
  std::vector<address> addresses;
  for (const char* const text : given) addresses.push_back(net::ip::make_address(text));
  std::vector<std::string> texts;
  for (const auto& each : dial_order(addresses, [unusable](const address& candidate) {
         return !candidate.to_string().starts_with(unusable);
       })) {
    texts.push_back(each.to_string());
  }
  return texts;
}

TEST(DialOrder, TakesFamiliesByTurns) {
  EXPECT_THAT(order({"192.0.2.1", "192.0.2.2", "192.0.2.3", "2001:db8::1", "2001:db8::2"}),
              ElementsAre("2001:db8::1", "192.0.2.1", "2001:db8::2", "192.0.2.2", "192.0.2.3"));
  EXPECT_THAT(order({"192.0.2.2", "192.0.2.1"}), ElementsAre("192.0.2.2", "192.0.2.1"));
}

TEST(DialOrder, LeavesWhatHasNoRouteForTheEnd) {
  EXPECT_THAT(order({"2001:db8::1", "2001:db8::2", "192.0.2.1"}, "2001:"),
              ElementsAre("192.0.2.1", "2001:db8::1", "2001:db8::2"));
}

TEST(DialOrder, TakesEachAddressOnce) {
  EXPECT_THAT(order({"192.0.2.1", "2001:db8::1", "192.0.2.1"}),
              ElementsAre("2001:db8::1", "192.0.2.1"));
}

TEST(DialOrder, KnowsThatLoopbackHasARoute) {
  EXPECT_TRUE(has_route(net::ip::make_address("127.0.0.1")));
}

class Dial : public testing::Test {
 protected:
  Dialled dial_all(const std::vector<tcp::endpoint>& endpoints) {
    std::optional<Dialled> outcome;
    auto const task = [&]() -> net::awaitable<void> {
      outcome = co_await dial(endpoints, options_, ticket_);
    };
    net::co_spawn(context_, task(), [](std::exception_ptr broken) {
      if (broken) std::rethrow_exception(broken);
    });
    context_.restart();
    context_.run();
    return std::move(*outcome);
  }

  tcp::endpoint listening() {
    auto& acceptor = acceptors_.emplace_back(context_, tcp::endpoint(loopback(), 0));
    return acceptor.local_endpoint();
  }
  /// Nobody listens there, and nobody can begin to.
  tcp::endpoint closed() {
    auto& socket = bound_.emplace_back(context_, tcp::v4());
    socket.bind({loopback(), 0});
    return socket.local_endpoint();
  }
  /// A listener whose queue is full: connecting neither succeeds nor fails.
  tcp::endpoint silent() {
    tcp::acceptor acceptor(context_, tcp::v4());
    acceptor.bind({loopback(), 0});
    acceptor.listen(0);
    auto const at = acceptor.local_endpoint();
    acceptors_.push_back(std::move(acceptor));
    for (int i = 0; i < 2; ++i) {
      auto& filler = bound_.emplace_back(context_, tcp::v4());
      filler.native_non_blocking(true);
      ::connect(filler.native_handle(), at.data(), static_cast<socklen_t>(at.size()));
    }
    return at;
  }
  static address loopback() { return net::ip::address_v4::loopback(); }

  net::io_context context_{1};
  DialOptions options_;
  Ticket ticket_;
  std::vector<tcp::acceptor> acceptors_;
  std::vector<tcp::socket> bound_;
};

TEST_F(Dial, ConnectsToTheFirst) {
  auto const first = listening();
  auto const result = dial_all({first, listening()});
  ASSERT_TRUE(result.socket);
  EXPECT_EQ(result.socket->remote_endpoint(), first);
  EXPECT_THAT(result.attempts, SizeIs(1));
}

TEST_F(Dial, GoesOnAtOnceWhenOneIsRefused) {
  options_.stagger = std::chrono::hours(1);
  auto const good = listening();
  auto const result = dial_all({closed(), good});
  ASSERT_TRUE(result.socket);
  EXPECT_EQ(result.socket->remote_endpoint(), good);
  ASSERT_THAT(result.attempts, SizeIs(2));
  EXPECT_EQ(result.attempts[0].error, std::errc::connection_refused);
}

TEST_F(Dial, GoesOnBesideOneThatIsSilent) {
  options_.stagger = std::chrono::milliseconds(20);
  auto const good = listening();
  auto const result = dial_all({silent(), good});
  ASSERT_TRUE(result.socket);
  EXPECT_EQ(result.socket->remote_endpoint(), good);
  EXPECT_EQ(result.attempts[0].error, std::errc::operation_canceled);
}

TEST_F(Dial, GivesUpInTime) {
  options_.timeout = std::chrono::milliseconds(50);
  options_.stagger = std::chrono::milliseconds(0);  // both begin, however busy the machine is
  auto const result = dial_all({silent(), silent()});
  EXPECT_FALSE(result.socket);
  EXPECT_EQ(result.error, std::errc::timed_out);
  EXPECT_THAT(result.attempts, SizeIs(2));
}

TEST_F(Dial, SaysWhyTheLastOneFailed) {
  EXPECT_EQ(dial_all({closed(), closed()}).error, std::errc::connection_refused);
  EXPECT_EQ(dial_all({}).error, std::errc::address_not_available);
}

TEST_F(Dial, PassesOverAConnectionThatIsNotWanted) {
  auto const own = listening();
  auto const good = listening();
  options_.refuse = [own](const tcp::socket& socket) { return socket.remote_endpoint() == own; };
  auto const result = dial_all({own, good});
  ASSERT_TRUE(result.socket);
  EXPECT_EQ(result.socket->remote_endpoint(), good);
  EXPECT_EQ(result.attempts[0].error, std::errc::too_many_symbolic_link_levels);
}

TEST_F(Dial, CanBeCancelled) {
  net::post(context_, [this] { ticket_.cancel(); });
  auto const result = dial_all({silent()});
  EXPECT_FALSE(result.socket);
  EXPECT_EQ(result.error, errc::stopped);
}

}  // namespace
}  // namespace reprise::dns
