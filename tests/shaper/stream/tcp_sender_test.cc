#include "shaper/stream/tcp_sender.h"

#include <gtest/gtest.h>

#include "shaper/stream/tcp_receiver.h"

namespace reprise {
namespace {

using namespace std::chrono_literals;
using Time = TcpSender::Time;

/// Sends all that may be sent now, and returns where the last segment ends.
std::uint64_t send_all(TcpSender& sender, Time now) {
  std::uint64_t end = 0;
  while (auto const segment = sender.next(now)) end = segment->end;
  return end;
}

TEST(TcpSender, TakesNoRoundTripFromAnAcknowledgementOfWhatWasResent) {
  TcpSender sender;
  sender.on_handshake(100ms);
  sender.write(4000, 0ns);  // three segments
  auto const end = send_all(sender, 0ns);
  Time now{0};
  while (now < 20s) {  // all arrive, and no acknowledgement: the last and the first are sent again
    now = *sender.timer();
    sender.on_timer(now);
    send_all(sender, now);
  }
  ASSERT_GT(sender.timeouts(), 3);
  sender.on_ack({.upto = end}, now + 100ms);
  EXPECT_EQ(sender.timeouts(), 0);

  sender.write(1000, now + 200ms);
  send_all(sender, now + 200ms);
  ASSERT_TRUE(sender.timer());
  EXPECT_LT(*sender.timer() - (now + 200ms), 1s);
}

TEST(TcpSender, NeverWaitsLongerThanTwoMinutes) {
  TcpSender sender;
  sender.on_handshake(200s);
  sender.write(1000, 0ns);
  Time now{0};
  send_all(sender, now);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(sender.timer());
    EXPECT_LE(*sender.timer() - now, 120s);
    now = *sender.timer();
    sender.on_timer(now);
    send_all(sender, now);
  }
}

}  // namespace
}  // namespace reprise
