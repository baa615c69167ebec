// Names over the model with a clock of the test's own; the sockets are loopback's, where a datagram
// is there as soon as it is sent.

#include "shaper/stream/stream_questions.h"

#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <string>

#include "base/system/descriptor.h"
#include "shaper/stream/segment.h"

namespace reprise {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;
using testing::Optional;

class StreamQuestionsTest : public testing::Test {
 protected:
  StreamQuestionsTest() {
    sockaddr_in at = {
        .sin_family = AF_INET, .sin_port = 0, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof at;
    EXPECT_EQ(::bind(server_.get(), reinterpret_cast<sockaddr*>(&at), size), 0);
    ::getsockname(server_.get(), reinterpret_cast<sockaddr*>(&at), &size);
    EXPECT_EQ(::connect(client_.get(), reinterpret_cast<sockaddr*>(&at), size), 0);
  }

  void use(const std::string& link) {
    network_.emplace(*parse_link(link), 1, 0ns);
    questions_.emplace(*network_);
  }

  void ask(std::size_t bytes, nanoseconds now) {
    std::string const question(bytes, 'q');
    ASSERT_EQ(::send(client_.get(), question.data(), bytes, 0), static_cast<ssize_t>(bytes));
    questions_->take_in(server_.get(), now);
  }

  /// Lets the model run until `by`; every question that arrives is answered at once by `bytes`.
  /// When the client has an answer.
  std::optional<nanoseconds> answered(std::size_t bytes, nanoseconds by = 10s) {
    std::vector<StreamEvent> events;
    while (auto const next = network_->next_event()) {
      if (*next > by) break;
      events.clear();
      network_->advance(*next, events);
      for (const StreamEvent& event : events) {
        if (event.kind != StreamEvent::Kind::datagram &&
            event.kind != StreamEvent::Kind::datagram_dropped) {
          continue;
        }
        auto const question = questions_->on_event(event);
        if (question) questions_->answer(question->id, std::vector<std::byte>(bytes), *next);
      }
      std::string got(2000, '\0');
      if (::recv(client_.get(), got.data(), got.size(), MSG_DONTWAIT) ==
          static_cast<ssize_t>(bytes)) {
        return *next;
      }
    }
    return std::nullopt;
  }

  /// What so many bytes in a datagram take at 1 Mbit/s.
  static nanoseconds wire(std::size_t bytes) { return (kDatagramHeaderBytes + bytes) * 8us; }

  Descriptor client_{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  Descriptor server_{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  std::optional<StreamNetwork> network_;
  std::optional<StreamQuestions> questions_;
};

TEST_F(StreamQuestionsTest, ALookUpTakesARoundTripAndItsBytes) {
  use("1mbit/1mbit/100ms");
  ask(40, 0ns);
  EXPECT_THAT(answered(200), Optional(wire(40) + wire(200) + 100ms));
}

TEST_F(StreamQuestionsTest, ALookUpWaitsBehindWhatIsInTheQueue) {
  use("1mbit/1mbit/100ms,queue=50p");
  auto const bulk = network_->open(0ns);
  network_->write(bulk, Direction::down, 10'000'000, 0ns);
  std::vector<StreamEvent> events;
  network_->advance(5s, events);
  ask(40, 5s);
  auto const at = answered(200);
  ASSERT_TRUE(at);
  EXPECT_GT(*at - 5s, 100ms + 10 * wire(1472)) << "ten packets at least are before it";
}

TEST_F(StreamQuestionsTest, WhatTheLinkLosesIsNotAnswered) {
  use("none/none/100ms,loss=100%");
  ask(40, 0ns);
  EXPECT_EQ(answered(200), std::nullopt);
  EXPECT_EQ(questions_->count(), 1U);
}

TEST_F(StreamQuestionsTest, NothingToSayMakesRoom) {
  use("none/none/10ms");
  for (std::size_t i = 0; i <= StreamQuestions::kMax; ++i) ask(40, i * 1s);
  EXPECT_EQ(questions_->count(), StreamQuestions::kMax) << "nobody has answered";
  EXPECT_EQ(answered(0, 10'000s), std::nullopt);
  ask(40, 10'000s);
  EXPECT_THAT(answered(5, 10'001s), Optional(10'000s + 10ms));
}

TEST_F(StreamQuestionsTest, ForgetsWhatIsUnderWay) {
  use("none/none/10ms");
  ask(40, 0ns);
  questions_->forget();
  server_.reset();
  EXPECT_EQ(answered(200), std::nullopt);
}

}  // namespace
}  // namespace reprise
