#include "proxy/replay/conversation.h"

#include <gmock/gmock.h>

#include <deque>
#include <string>

#include "base/bytes.h"

namespace reprise {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr auto kClient = MessageSender::kClient;
constexpr auto kOrigin = MessageSender::kOrigin;

/// A script, and a client that lives by a clock of its own.
class AConversation : public testing::Test {
 protected:
  /// It was opened at 1 s of the recorded session, and is opened today at 50 s.
  static constexpr auto kOpened = 1s;
  static constexpr auto kNow = 50s;

  void record(MessageSender sender, std::string_view text, std::chrono::milliseconds after_opening,
              MessageKind kind = MessageKind::kText, bool fin = true) {
    script_.push_back({.sender = sender,
                       .kind = kind,
                       .fin = fin,
                       .time = kOpened + after_opening,
                       .payload = bytes_of(text)});
  }

  Conversation& talk() {
    if (!conversation_) conversation_.emplace(script_, kOpened, kNow);
    return *conversation_;
  }

  /// The client says so at that time after the opening.
  void say(std::string_view text, std::chrono::milliseconds at,
           MessageKind kind = MessageKind::kText, bool ends = true) {
    talk().receive({.kind = kind, .ends = ends, .payload = bytes_of(text)}, kNow + at);
  }

  /// All that is sent by then, with the time when it was due: "40 two".
  std::vector<std::string> hear_until(std::chrono::milliseconds until) {
    std::vector<std::string> heard;
    auto at = last_;
    while (true) {
      auto const step = talk().next(kNow + at);
      auto const time = std::to_string(at.count()) + " ";
      if (step.kind == Conversation::Step::Kind::kSend) {
        ++steps_;
        heard.push_back(time + (step.continues ? "+" : "") +
                        std::string(reinterpret_cast<const char*>(step.message->payload.data()),
                                    step.message->payload.size()));
      } else if (step.kind != Conversation::Step::Kind::kWait) {
        heard.push_back(time + (step.kind == Conversation::Step::Kind::kEnd ? "END" : "ANSWER"));
        break;
      } else {
        ++waits_;
        if (!step.at || *step.at > kNow + until) break;
        at = std::chrono::duration_cast<std::chrono::milliseconds>(*step.at - kNow);
      }
    }
    last_ = until;
    return heard;
  }

  std::vector<WebSocketMessage> script_;
  std::optional<Conversation> conversation_;
  std::chrono::milliseconds last_{0};
  std::size_t steps_ = 0;
  std::size_t waits_ = 0;
};

TEST_F(AConversation, KeepsTheRecordedPauses) {
  record(kOrigin, "one", 10ms);
  record(kOrigin, "two", 40ms);
  record(kOrigin, "three", 40ms);
  EXPECT_THAT(hear_until(1000ms), ElementsAre("10 one", "40 two", "40 three"));
}

TEST_F(AConversation, DoesNotAnswerBeforeItIsAsked) {
  record(kOrigin, "welcome", 0ms);
  record(kClient, "question", 20ms);
  record(kOrigin, "answer", 50ms);
  EXPECT_THAT(hear_until(10'000ms), ElementsAre("0 welcome"));
  EXPECT_FALSE(talk().next(kNow + 10s).at);  // no timer: nothing is due
  say("question", 10'000ms);
  EXPECT_THAT(hear_until(20'000ms), ElementsAre("10030 answer"));
}

TEST_F(AConversation, AnswersEachQuestionFromWhenItCame) {
  record(kClient, "a", 10ms);
  record(kOrigin, "A", 110ms);
  record(kClient, "b", 120ms);
  record(kOrigin, "B", 130ms);
  say("a", 5ms);
  say("b", 6ms);  // a client that does not wait
  EXPECT_THAT(hear_until(1000ms), ElementsAre("105 A", "105 B"));
}

TEST_F(AConversation, ComparesByOrderAndGoesOnWhateverIsSaid) {
  record(kClient, "a", 10ms);
  record(kOrigin, "A", 20ms);
  record(kClient, "b", 30ms);
  record(kOrigin, "B", 40ms);
  say("other", 0ms);
  say("b", 0ms);
  say("more", 0ms);
  EXPECT_THAT(hear_until(1000ms), ElementsAre("10 A", "10 B"));
  auto const counts = talk().counts();
  EXPECT_EQ(counts.client_recorded, 2U);
  EXPECT_EQ(counts.client_received, 3U);
  EXPECT_EQ(counts.client_differing, 1U);
  EXPECT_EQ(counts.origin_sent, 2U);
  EXPECT_THAT(talk().differing(), ElementsAre(1U));
}

TEST_F(AConversation, ComparesMessagesInPiecesHoweverTheyAreCut) {
  record(kClient, "one ", 0ms, MessageKind::kText, false);
  record(kOrigin, "meanwhile", 0ms);
  record(kClient, "two", 0ms);
  record(kClient, "last", 0ms);
  say("one", 1ms, MessageKind::kText, false);
  say(" tw", 1ms, MessageKind::kText, false);
  say("o", 1ms);
  say("las", 1ms, MessageKind::kText, false);
  say("", 1ms);
  EXPECT_EQ(talk().counts().client_received, 2U);
  EXPECT_THAT(talk().differing(), ElementsAre(2U));
}

TEST_F(AConversation, TellsLongerShorterAndOfAnotherKind) {
  for (auto const* text : {"a", "b", "c", "d"}) record(kClient, text, 0ms);
  say("ab", 0ms);
  say("", 0ms);
  say("c", 0ms, MessageKind::kBinary);
  say("d", 0ms);
  EXPECT_THAT(talk().differing(), ElementsAre(1U, 2U, 3U));
}

TEST_F(AConversation, SendsLongMessagesInTheirPieces) {
  record(kOrigin, "one", 0ms, MessageKind::kBinary, false);
  record(kOrigin, "two", 5ms, MessageKind::kBinary);
  record(kOrigin, "next", 5ms);
  EXPECT_THAT(hear_until(10ms), ElementsAre("0 one", "5 +two", "5 next"));
  EXPECT_EQ(talk().counts().origin_recorded, 2U);
  EXPECT_EQ(talk().counts().origin_sent, 2U);
}

TEST_F(AConversation, ClosesAsRecordedAndWaitsForTheAnswer) {
  record(kOrigin, "bye", 30ms, MessageKind::kClose);
  record(kClient, "bye", 40ms, MessageKind::kClose);
  record(kOrigin, "", 41ms, MessageKind::kEnd);
  EXPECT_THAT(hear_until(100ms), ElementsAre("30 bye"));
  say("bye", 100ms, MessageKind::kClose);
  EXPECT_THAT(hear_until(101ms), ElementsAre("100 END"));
}

TEST_F(AConversation, DoesNotWaitForAnAnswerToItsCloseForEver) {
  record(kOrigin, "bye", 0ms, MessageKind::kClose);
  EXPECT_THAT(hear_until(60'000ms), ElementsAre("0 bye", "10000 END"));
}

TEST_F(AConversation, AnswersAnEarlyCloseAtOnceWithTheRecordedOne) {
  record(kOrigin, "soon", 1000ms);
  record(kClient, "never said", 2000ms);
  record(kClient, "", 3000ms, MessageKind::kClose);
  record(kOrigin, "bye", 3020ms, MessageKind::kClose);
  say("", 10ms, MessageKind::kClose);
  EXPECT_THAT(hear_until(5000ms), ElementsAre("30 bye", "30 END"));
  EXPECT_EQ(talk().counts().origin_sent, 0U);
}

TEST_F(AConversation, AnswersACloseThatNobodyExpectedAtOnce) {
  record(kOrigin, "later", 1000ms);
  record(kOrigin, "bye", 600'000ms, MessageKind::kClose);
  record(kClient, "bye", 600'001ms, MessageKind::kClose);
  say("", 10ms, MessageKind::kClose);
  EXPECT_THAT(hear_until(11ms), ElementsAre("10 bye", "10 END"));
}

TEST_F(AConversation, EndsWithoutACloseWhereTheOriginDid) {
  record(kOrigin, "one", 10ms);
  record(kOrigin, "", 500ms, MessageKind::kEnd);
  EXPECT_THAT(hear_until(1000ms), ElementsAre("10 one", "500 END"));
}

TEST_F(AConversation, StaysOpenWhereTheRecordingEndedFirst) {
  record(kOrigin, "one", 10ms);
  EXPECT_THAT(hear_until(100'000ms), ElementsAre("10 one"));
  say("", 100'000ms, MessageKind::kClose);
  EXPECT_THAT(hear_until(100'001ms), ElementsAre("100000 ANSWER"));
}

TEST_F(AConversation, LeavesOutPongsThatAnsweredAPing) {
  record(kClient, "p", 0ms, MessageKind::kPing);
  record(kOrigin, "p", 1ms, MessageKind::kPong);
  record(kOrigin, "alive", 20ms, MessageKind::kPong);
  record(kOrigin, "there?", 30ms, MessageKind::kPing);
  record(kClient, "there?", 31ms, MessageKind::kPong);
  record(kOrigin, "x", 40ms);
  EXPECT_THAT(hear_until(100ms), ElementsAre("20 alive", "30 there?", "40 x"));
}

TEST_F(AConversation, BearsTimesThatAreNotKnownOrNonsense) {
  record(kOrigin, "one", 10ms);
  script_.back().time = kNoTime;
  record(kOrigin, "two", 5ms);
  record(kOrigin, "three", -900ms);
  record(kOrigin, "far", 0ms);
  script_.back().time = SessionTime::max();
  EXPECT_THAT(hear_until(1000ms), ElementsAre("0 one", "5 two", "5 three"));
  EXPECT_EQ(talk().next(kNow + 5ms).at, kNow + Conversation::kDelayMax);
}

TEST_F(AConversation, AsksForOneTimerAPauseAndNoneWithinABurst) {
  for (int i = 0; i < 1000; ++i) record(kOrigin, "x", std::chrono::milliseconds(i / 100 * 10));
  hear_until(1000ms);
  EXPECT_EQ(steps_, 1000U);
  EXPECT_EQ(waits_, 10U);  // nine pauses, and the end
}

TEST_F(AConversation, OfAnEmptyRecordingSaysNothing) {
  EXPECT_THAT(hear_until(1000ms), IsEmpty());
  say("anybody?", 1000ms);
  EXPECT_THAT(hear_until(2000ms), IsEmpty());
  EXPECT_EQ(talk().counts().client_received, 1U);
}

}  // namespace
}  // namespace reprise
