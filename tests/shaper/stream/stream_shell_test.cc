#include "shaper/stream/stream_shell.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <condition_variable>
#include <cstring>
#include <deque>
#include <string>
#include <thread>

#include "shaper/packet/link_clock.h"

namespace reprise {
namespace {

using namespace std::chrono_literals;

constexpr int kPatienceMs = 120'000;

Descriptor bind_on_loopback(int type, sockaddr_in& at) {
  Descriptor socket(::socket(AF_INET, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  at = {.sin_family = AF_INET, .sin_port = 0, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
  ::bind(socket.get(), reinterpret_cast<sockaddr*>(&at), sizeof at);
  if (type == SOCK_STREAM) ::listen(socket.get(), 100);
  socklen_t length = sizeof at;
  ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&at), &length);
  return socket;
}

bool wait_for(const Descriptor& socket, short what, int patience_ms = kPatienceMs) {
  pollfd waited{.fd = socket.get(), .events = what, .revents = 0};
  return ::poll(&waited, 1, patience_ms) == 1;
}

void send_all(const Descriptor& socket, const std::string& bytes) {
  for (std::size_t sent = 0; sent < bytes.size();) {
    ASSERT_TRUE(wait_for(socket, POLLOUT));
    auto const count =
        ::send(socket.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && errno == EAGAIN) continue;
    ASSERT_GE(count, 0) << std::strerror(errno);
    sent += static_cast<std::size_t>(count);
  }
}

/// Up to `size` bytes, or to the end; an error ends it, and is then in `error`.
std::string receive(const Descriptor& socket, std::size_t size, int* error = nullptr) {
  std::string bytes;
  std::string chunk(64 << 10, '\0');
  while (bytes.size() < size && wait_for(socket, POLLIN)) {
    auto const wanted = std::min(chunk.size(), size - bytes.size());
    auto const count = ::recv(socket.get(), chunk.data(), wanted, 0);
    if (count < 0 && error != nullptr) *error = errno;
    if (count <= 0) break;
    bytes.append(chunk, 0, static_cast<std::size_t>(count));
  }
  return bytes;
}

std::string receive_to_the_end(const Descriptor& socket, int* error = nullptr) {
  return receive(socket, std::string::npos, error);
}

/// Bytes whose order matters.
std::string content(std::size_t size) {
  std::string bytes(size, '\0');
  std::uint32_t state = 1;
  for (char& byte : bytes) byte = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  return bytes;
}

/// A shell over loopback, and what it hands over.
class StreamShellTest : public testing::Test {
 protected:
  void start(const std::string& link) {
    StreamShellOptions options{.profile = *parse_link(link), .seed = 1, .hand_over = {}};
    options.listeners.push_back(bind_on_loopback(SOCK_STREAM, at_));
    options.question_sockets.push_back(bind_on_loopback(SOCK_DGRAM, questions_at_));
    options.hand_over = [this](StreamArrival arrival) { put(arrivals_, std::move(arrival)); };
    options.ask = [this](StreamQuestion question) { put(questions_, std::move(question)); };
    shell_ = std::move(*StreamShell::start(std::move(options)));
  }

  /// Or the shell would wait for what they may yet send.
  void TearDown() override {
    proxy_.socket.reset();
    client_.reset();
  }

  Descriptor connect() const {
    Descriptor client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(client.get(), reinterpret_cast<const sockaddr*>(&at_), sizeof at_), 0);
    return client;
  }

  template <class T>
  void put(std::deque<T>& into, T one) {
    std::lock_guard const lock(mutex_);
    into.push_back(std::move(one));
    arrived_.notify_all();
  }
  template <class T>
  T next(std::deque<T>& from) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(arrived_.wait_for(lock, 20s, [&] { return !from.empty(); }));
    auto one = std::move(from.front());
    from.pop_front();
    return one;
  }
  StreamArrival next_arrival() { return next(arrivals_); }

  static std::vector<std::byte> bytes_of(const std::string& text) {
    auto const bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
  }

  /// A connection from end to end.
  void open() {
    client_ = connect();
    proxy_ = next_arrival();
  }

  sockaddr_in at_{};
  Descriptor client_;
  StreamArrival proxy_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<StreamArrival> arrivals_;
  sockaddr_in questions_at_{};
  std::deque<StreamQuestion> questions_;
  std::unique_ptr<StreamShell> shell_;
};

TEST_F(StreamShellTest, HandsOverWithTheClientsOwnAddresses) {
  start("none/none/2ms");
  open();
  sockaddr_in name{};
  socklen_t length = sizeof name;
  ::getsockname(client_.get(), reinterpret_cast<sockaddr*>(&name), &length);
  EXPECT_EQ(proxy_.client.port(), ntohs(name.sin_port));
  EXPECT_EQ(proxy_.client.address().to_string(), "127.0.0.1");
  EXPECT_EQ(proxy_.destination.port(), ntohs(at_.sin_port));
  EXPECT_EQ(proxy_.listener, 0U);
}

TEST_F(StreamShellTest, AnswersNoSoonerThanAfterTwoRoundTrips) {
  start("none/none/200ms");
  auto const begin = link_now();
  open();
  EXPECT_GE(link_now() - begin, 300ms);
  send_all(client_, "ask");
  EXPECT_EQ(receive(proxy_.socket, 3), "ask");
  send_all(proxy_.socket, "answer");
  EXPECT_EQ(receive(client_, 6), "answer");
  EXPECT_GE(link_now() - begin, 400ms);
}

TEST_F(StreamShellTest, TakesThreeRoundTripsMoreForWhatFillsThreeWindows) {
  start("none/none/100ms");
  open();
  auto const begin = link_now();
  send_all(proxy_.socket, content(50 * 1448));  // 10 segments, 20, 20 of 40
  EXPECT_EQ(receive(client_, 50 * 1448), content(50 * 1448));
  EXPECT_GE(link_now() - begin, 250ms);
}

TEST_F(StreamShellTest, PassesBytesBothWaysAtTheSameTime) {
  start("none/none/1ms,loss=0.5%");
  open();
  auto const down = content(3'000'000);
  auto const up = content(2'000'000);
  std::thread writes_down([&] { send_all(proxy_.socket, down); });
  std::thread writes_up([&] { send_all(client_, up); });
  std::thread reads_up([&] { EXPECT_TRUE(receive(proxy_.socket, up.size()) == up); });
  EXPECT_TRUE(receive(client_, down.size()) == down);
  writes_down.join();
  writes_up.join();
  reads_up.join();
}

TEST_F(StreamShellTest, KeepsTheOtherDirectionOpenAfterAnEnd) {
  start("none/none/10ms");
  open();
  send_all(client_, "all");
  ::shutdown(client_.get(), SHUT_WR);
  EXPECT_EQ(receive_to_the_end(proxy_.socket), "all");
  send_all(proxy_.socket, "answer");
  proxy_.socket.reset();
  int error = 0;
  EXPECT_EQ(receive_to_the_end(client_, &error), "answer");
  EXPECT_EQ(error, 0);
}

TEST_F(StreamShellTest, ResetsTheClientOfAProxyThatHasAborted) {
  start("none/none/10ms");
  open();
  send_all(proxy_.socket, "half");
  *proxy_.aborted = true;
  proxy_.socket.reset();
  int error = 0;
  EXPECT_EQ(receive_to_the_end(client_, &error), "half");
  EXPECT_EQ(error, ECONNRESET);
}

TEST_F(StreamShellTest, ResetsAClientOnlyOnceItHasReceivedWhatWasSentBefore) {
  start("none/none/10ms");
  open();
  // More than the client's socket receives unread, and less than the shell's one accepts.
  auto const answer = content(300'000);
  send_all(proxy_.socket, answer);
  *proxy_.aborted = true;
  proxy_.socket.reset();
  EXPECT_FALSE(wait_for(client_, POLLRDHUP, 500)) << "the end overtakes the data";
  int error = 0;
  EXPECT_TRUE(receive_to_the_end(client_, &error) == answer);
  EXPECT_EQ(error, ECONNRESET);
}

TEST_F(StreamShellTest, ResetsTheClientOfAProxyThatHasClosedWithoutReadingEverything) {
  start("none/none/10ms");
  open();
  send_all(client_, "upload");
  EXPECT_EQ(receive(proxy_.socket, 1), "u");
  send_all(proxy_.socket, "answer");
  proxy_.socket.reset();
  int error = 0;
  EXPECT_EQ(receive_to_the_end(client_, &error), "answer");
  EXPECT_EQ(error, ECONNRESET);
}

TEST_F(StreamShellTest, SendsAResetAcrossTheLink) {
  start("none/none/200ms");
  open();
  auto const begin = link_now();
  *proxy_.aborted = true;
  proxy_.socket.reset();
  int error = 0;
  EXPECT_EQ(receive_to_the_end(client_, &error), "");
  EXPECT_EQ(error, ECONNRESET);
  EXPECT_GE(link_now() - begin, 100ms);
}

TEST_F(StreamShellTest, TellsTheProxyOfAClientThatHasReset) {
  start("none/none/10ms");
  open();
  linger const at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(client_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  client_.reset();
  ASSERT_TRUE(wait_for(proxy_.socket, POLLRDHUP));
  EXPECT_EQ(receive_to_the_end(proxy_.socket), "");
}

TEST_F(StreamShellTest, TellsTheProxyOfAClientThatHasClosedAndIsWrittenTo) {
  start("none/none/10ms");
  open();
  client_.reset();
  EXPECT_EQ(receive_to_the_end(proxy_.socket), "");
  pollfd closed{.fd = proxy_.socket.get(), .events = POLLOUT, .revents = 0};
  while ((closed.revents & POLLHUP) == 0) {
    ASSERT_EQ(::poll(&closed, 1, kPatienceMs), 1);
    static_cast<void>(::send(proxy_.socket.get(), "more", 4, MSG_NOSIGNAL | MSG_DONTWAIT));
  }
}

TEST_F(StreamShellTest, HoldsTheProxyUpWhenTheClientDoesNotRead) {
  start("none/none/2ms");
  open();
  // Socket buffers of the client and of the shell, a receive buffer and what is unsent.
  constexpr std::size_t kMost = 24 << 20;
  auto const chunk = content(64 << 10);
  std::string sent;
  // When it goes on although it took long, there is just less in the buffers.
  while (sent.size() <= kMost && wait_for(proxy_.socket, POLLOUT, 500)) {
    auto const count =
        ::send(proxy_.socket.get(), chunk.data(), chunk.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count > 0) sent.append(chunk, 0, static_cast<std::size_t>(count));
  }
  EXPECT_LT(sent.size(), kMost);
  proxy_.socket.reset();
  EXPECT_TRUE(receive_to_the_end(client_) == sent);
}

TEST_F(StreamShellTest, HoldsTheClientUpAtTheRateOfTheLink) {
  start("1mbit/1mbit/20ms");
  open();
  constexpr std::size_t kMost = 12 << 20;  // the client's own socket holds megabytes
  auto const chunk = content(64 << 10);
  std::size_t sent = 0;
  while (sent <= kMost && wait_for(client_, POLLOUT, 300)) {
    auto const count = ::send(client_.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (count > 0) sent += static_cast<std::size_t>(count);
  }
  EXPECT_LT(sent, kMost);
}

TEST_F(StreamShellTest, ServesManyClientsAtOnce) {
  start("50mbit/50mbit/10ms");
  constexpr int kClients = 60;
  std::vector<Descriptor> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.push_back(connect());
    send_all(clients.back(), std::string(1, static_cast<char>('0' + i)));
  }
  std::vector<StreamArrival> proxies;
  for (int i = 0; i < kClients; ++i) {
    proxies.push_back(next_arrival());
    send_all(proxies.back().socket, receive(proxies.back().socket, 1) + content(20'000));
    proxies.back().socket.reset();
  }
  for (int i = 0; i < kClients; ++i) {
    EXPECT_TRUE(receive_to_the_end(clients[static_cast<std::size_t>(i)]) ==
                static_cast<char>('0' + i) + content(20'000));
  }
  EXPECT_EQ(shell_->report().connections, std::uint64_t{kClients});
}

TEST_F(StreamShellTest, AcceptsAgainOnceThereAreDescriptors) {
  start("none/none/2ms");
  open();  // so that all has run once: sanitizers open a pipe where they see a class first
  client_ = Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit const none{.rlim_cur = 1, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  EXPECT_EQ(::connect(client_.get(), reinterpret_cast<const sockaddr*>(&at_), sizeof at_), 0);
  EXPECT_FALSE(wait_for(client_, POLLIN, 250)) << "it tries more than once meanwhile";
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(next_arrival().socket.is_open());
}

TEST_F(StreamShellTest, DeliversWhatWasSentBeforeItStops) {
  start("10mbit/10mbit/100ms");
  open();
  auto const answer = content(20'000);
  send_all(proxy_.socket, answer);
  proxy_.socket.reset();
  shell_->close_listeners();
  shell_->stop();
  int error = 0;
  EXPECT_TRUE(receive_to_the_end(client_, &error) == answer);
  EXPECT_EQ(error, 0);
  Descriptor const late(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_NE(::connect(late.get(), reinterpret_cast<const sockaddr*>(&at_), sizeof at_), 0);
}

TEST_F(StreamShellTest, DeliversTheEndOfDataBeforeItStops) {
  start("none/none/200ms");
  open();
  send_all(proxy_.socket, "answer");
  EXPECT_EQ(receive(client_, 6), "answer");
  proxy_.socket.reset();
  shell_->stop();
  int error = 0;
  EXPECT_EQ(receive_to_the_end(client_, &error), "");
  EXPECT_EQ(error, 0);
}

TEST_F(StreamShellTest, AnswersQuestionsARoundTripLater) {
  start("none/none/100ms");
  Descriptor const client(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  auto const* const name = reinterpret_cast<const sockaddr*>(&questions_at_);
  ASSERT_EQ(::connect(client.get(), name, sizeof questions_at_), 0);
  auto const begin = link_now();
  send_all(client, "who?");
  auto const question = next(questions_);
  EXPECT_GE(link_now() - begin, 50ms);
  EXPECT_EQ(question.bytes, bytes_of("who?"));
  shell_->answer(question.id, bytes_of("it is me"));
  EXPECT_EQ(receive(client, 8), "it is me");
  EXPECT_GE(link_now() - begin, 100ms);
  EXPECT_EQ(shell_->report().questions, 1U);
}

TEST_F(StreamShellTest, CountsWhatItDid) {
  start("none/none/5ms");
  open();
  send_all(client_, "ask");
  EXPECT_EQ(receive(proxy_.socket, 3), "ask");
  TearDown();
  shell_->stop();
  auto const report = shell_->report();
  EXPECT_EQ(report.connections, 1U);
  EXPECT_EQ(report.broken, 0U);
  EXPECT_GE(report.up.packets_out, 3U);  // SYN, ACK, data
  EXPECT_GT(report.lateness.packets, 0U);
  EXPECT_GT(report.lateness.max, 0ns);
}

}  // namespace
}  // namespace reprise
