#include "shaper/trace.h"

#include <fstream>

#include "tests/scratch_folder.h"
#include "tests/shaper/link_fixture.h"

namespace reprise {
namespace {

using testing::HasSubstr;

std::string trace_error(const std::string& text) {
  auto const trace = Trace::parse(text, "t");
  return trace ? "" : trace.error();
}

TEST(Trace, ReadsMahimahisFormat) {
  auto const trace = trace_of("0\n5\n5\r\n10");
  EXPECT_THAT(trace->times_ms(), testing::ElementsAre(0, 5, 5, 10));
  EXPECT_EQ(trace->period(), 10ms);
  EXPECT_EQ(trace->mean_rate_bps(), 4 * 12'000 * 100);
}

TEST(Trace, HasTheDigestOfItsTimes) {
  auto const digest = trace_of("1\n2\n")->sha256();
  EXPECT_EQ(digest, "a6e2b7a040683432de03a18fd8a1939a2fdf82585b364bfc874bdd4095c4cae1");
  EXPECT_EQ(trace_of("1\r\n2")->sha256(), digest);
  EXPECT_NE(trace_of("12\n")->sha256(), digest);
}

TEST(Trace, NamesTheLineThatIsWrong) {
  EXPECT_EQ(trace_error(""), "trace t is empty");
  EXPECT_THAT(trace_error("1\n\n2\n"), HasSubstr("line 2: expected one whole number"));
  EXPECT_THAT(trace_error("1\n2 \n"), HasSubstr("line 2: expected one whole number"));
  EXPECT_THAT(trace_error("-1\n"), HasSubstr("line 1: expected one whole number"));
  EXPECT_THAT(trace_error("1.5\n"), HasSubstr("line 1: expected one whole number"));
  EXPECT_THAT(trace_error("7\n8\n3\n"), HasSubstr("line 3: goes back from 8 to 3 ms"));
  EXPECT_THAT(trace_error("99999999999\n"), HasSubstr("line 1: more than 4294967295 ms"));
  EXPECT_THAT(trace_error("0\n0\n"), HasSubstr("line 2: the last timestamp must be above 0"));
  EXPECT_THAT(trace_error(std::string(kTraceBytesMax + 1, '1')), HasSubstr("larger than 16 MiB"));
}

TEST(Trace, IsLoadedFromRegularFilesOnly) {
  ScratchFolder const folder;
  auto const path = (folder / "a.trace").string();
  std::ofstream(path) << "3\n4\n";
  auto const trace = Trace::load(path);
  ASSERT_TRUE(trace) << trace.error();
  EXPECT_EQ((*trace)->name(), path);
  EXPECT_THAT(Trace::load("/dev/zero").error(), HasSubstr("not a regular file"));
  EXPECT_THAT(Trace::load("/no/such").error(), HasSubstr("/no/such"));
}

TEST(TracedLink, DeliversOneFullPacketAnOpportunity) {
  LinkFixture link({.trace = trace_of("10\n10\n20\n30\n"), .delay = 1ms});
  for (int i = 0; i < 8; ++i) link.send(1500, 0ms);
  link.drain();
  std::vector<nanoseconds> due;
  for (std::uint64_t i = 0; i < 8; ++i) due.push_back(link.due(i) - 1ms);
  EXPECT_THAT(due, testing::ElementsAre(10ms, 10ms, 20ms, 30ms, 40ms, 40ms, 50ms, 60ms));
}

TEST(TracedLink, GivesUnusedBytesToTheNextPacketInTheQueue) {
  LinkFixture link({.trace = trace_of("10\n20\n30\n40\n")});
  link.send(700, 0ms);
  link.send(700, 0ms);
  link.send(200, 0ms);   // 100 bytes of it at 10 ms, 100 at 20 ms
  link.send(1400, 0ms);  // fits into what is left at 20 ms
  link.send(3001, 0ms);  // two opportunities and a byte
  link.send(1499, 0ms);
  link.drain();
  EXPECT_EQ(link.due(0), 10ms);
  EXPECT_EQ(link.due(1), 10ms);
  EXPECT_EQ(link.due(2), 20ms);
  EXPECT_EQ(link.due(3), 20ms);
  EXPECT_EQ(link.due(4), 50ms);
  EXPECT_EQ(link.due(5), 50ms);
}

TEST(TracedLink, WastesWhatNoPacketIsThereFor) {
  LinkFixture link({.trace = trace_of("10\n20\n")});
  link.send(100, 5ms);
  link.take(10ms);
  link.send(100, 10ms);        // still there in time
  link.send(100, 10ms + 1ns);  // too late for the rest
  link.drain();
  EXPECT_EQ(link.due(0), 10ms);
  EXPECT_EQ(link.due(1), 10ms);
  EXPECT_EQ(link.due(2), 20ms);
}

TEST(TracedLink, RepeatsFromTheLastTimestampForEver) {
  LinkFixture link({.trace = trace_of("0\n3\n7\n")});
  link.send(1500, 7'000'000ms);  // the end of one round: its last line, then the next one's first
  link.send(1500, 7'000'000ms);
  link.send(1500, 7'000'000ms);
  link.send(1500, 7'000'004ms);
  link.drain();
  EXPECT_EQ(link.due(0), 7'000'000ms);
  EXPECT_EQ(link.due(1), 7'000'000ms);
  EXPECT_EQ(link.due(2), 7'000'003ms);
  EXPECT_EQ(link.due(3), 7'000'007ms);
}

TEST(TracedLink, HasTheTracesMeanRateUnderLoad) {
  LinkFixture link({.trace = trace_of("1\n2\n2\n2\n5\n"), .queue = {.packets = 200'000}});
  for (int i = 0; i < 100'000; ++i) link.send(1500, 0ms);
  link.drain();
  EXPECT_EQ(link.due(99'999), 100'000 / 5 * 5ms);
}

}  // namespace
}  // namespace reprise
