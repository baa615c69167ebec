#include "pageload/browser/message_pipe.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>

namespace reprise {
namespace {

using namespace std::chrono_literals;

class Pipe : public testing::Test {
 protected:
  void browser_says(std::string_view bytes) {
    ASSERT_EQ(::write(pair_.browser_writes.get(), bytes.data(), bytes.size()),
              static_cast<ssize_t>(bytes.size()));
  }
  Result<std::optional<std::string>> receive() {
    return pair_.ours.receive(std::chrono::steady_clock::now() + 20ms);
  }

  MessagePipePair pair_ = std::move(*make_message_pipe());
};

TEST_F(Pipe, GivesMessagesOutOneByOne) {
  browser_says(std::string_view("one\0two\0", 8));
  EXPECT_EQ(receive().value(), "one");
  EXPECT_EQ(receive().value(), "two");
  EXPECT_EQ(receive().value(), std::nullopt);
}

TEST_F(Pipe, KeepsPartOfAMessageUntilTheRestComes) {
  browser_says(std::string_view("one\0tw", 6));
  EXPECT_EQ(receive().value(), "one");
  EXPECT_EQ(receive().value(), std::nullopt);
  browser_says(std::string_view("o\0", 2));
  EXPECT_EQ(receive().value(), "two");
}

TEST_F(Pipe, GivesOutWhatCameBeforeTheEnd) {
  browser_says(std::string_view("last\0torn", 9));
  pair_.browser_writes = {};
  EXPECT_EQ(receive().value(), "last");
  EXPECT_EQ(receive().error(), std::errc::broken_pipe);
}

TEST_F(Pipe, RefusesAMessageOverItsLimit) {
  pair_ = std::move(*make_message_pipe(100));
  browser_says(std::string(101, 'x'));
  EXPECT_EQ(receive().error(), std::errc::message_size);
}

TEST_F(Pipe, WaitsNoLongerForAMessageWhoseBytesStillCome) {
  std::thread browser([&] {
    std::string const part(64 << 10, 'x');
    while (::send(pair_.browser_writes.get(), part.data(), part.size(), MSG_NOSIGNAL) > 0) {
    }
  });
  auto const message = receive();
  pair_.ours = std::move(make_message_pipe()->ours);  // the browser's side fails, and ends
  browser.join();
  ASSERT_TRUE(message.has_value()) << message.error().message();
  EXPECT_EQ(*message, std::nullopt);
}

TEST_F(Pipe, ReadsWhatIsThereAfterTheDeadline) {
  browser_says(std::string_view("one\0", 4));
  EXPECT_EQ(pair_.ours.receive({}).value(), "one");
  EXPECT_EQ(pair_.ours.receive({}).value(), std::nullopt);
}

TEST_F(Pipe, SurvivesAReaderThatIsGone) {
  pair_.browser_reads = {};
  pair_.ours.send("nobody hears this");
  pair_.browser_writes = {};
  EXPECT_EQ(receive().error(), std::errc::broken_pipe);
}

TEST_F(Pipe, WritesAndReadsAtOnceWhenBothSidesAreFull) {
  std::string const large(4 << 20, 'q');
  std::size_t heard = 0;
  // A browser that says much before it listens.
  std::thread browser([&] {
    std::string answer = large + '\0';
    for (std::string_view rest = answer; !rest.empty();) {
      auto const written = ::write(pair_.browser_writes.get(), rest.data(), rest.size());
      if (written <= 0) return;
      rest.remove_prefix(static_cast<std::size_t>(written));
    }
    char bytes[65536];
    while (heard < large.size() + 1) {
      auto const got = ::read(pair_.browser_reads.get(), bytes, sizeof bytes);
      if (got <= 0) return;
      heard += static_cast<std::size_t>(got);
    }
    answer = std::string("thanks") + '\0';
    if (::write(pair_.browser_writes.get(), answer.data(), answer.size()) < 0) return;
  });
  pair_.ours.send(large);
  auto const deadline = std::chrono::steady_clock::now() + 20s;
  EXPECT_EQ(pair_.ours.receive(deadline).value(), large);
  EXPECT_EQ(pair_.ours.receive(deadline).value(), "thanks");
  browser.join();
  EXPECT_EQ(heard, large.size() + 1);
}

}  // namespace
}  // namespace reprise
