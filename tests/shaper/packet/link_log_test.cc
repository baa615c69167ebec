#include "shaper/packet/link_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/scratch_folder.h"

namespace reprise {
namespace {

using namespace std::chrono_literals;

std::string log_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(LinkLog, HasALineForEachPacket) {
  ScratchFolder const folder;
  auto const opened = LinkLog::open(folder / "log");
  ASSERT_TRUE(opened);
  LinkLog& log = **opened;
  log.set_start(10ns);
  log.append({.in = 11ns, .due = 15ns, .written = 17ns, .index = 4, .bytes = 64});
  log.append({.in = 12ns,
              .due = 12ns,
              .bytes = 1500,
              .side = LinkSide::up,
              .fate = LinkLogEntry::Fate::lost});
  EXPECT_TRUE(log.close());
  EXPECT_EQ(log.left_out(), 0u);
  EXPECT_EQ(log_text(folder / "log"),
            "# in_ns direction index bytes fate due_ns written_ns\n"
            "1 down 4 64 delivered 5 7\n"
            "2 up 0 1500 lost 2 0\n");
}

TEST(LinkLog, CountsThePacketsThatItDoesNotContain) {
  ScratchFolder const folder;
  auto const opened = LinkLog::open(folder / "log", 0);
  ASSERT_TRUE(opened);
  for (int i = 0; i < 3; ++i) (*opened)->append({});
  EXPECT_TRUE((*opened)->close());
  EXPECT_EQ((*opened)->left_out(), 3u);
  EXPECT_THAT(log_text(folder / "log"), testing::EndsWith("\n# left out: 3\n"));
}

TEST(LinkLog, FailsWhenItCannotBeWrittenToItsEnd) {
  constexpr int kMoreThanABuffer = 100'000;
  for (int const packets : {0, 1, kMoreThanABuffer}) {
    auto const opened = LinkLog::open("/dev/full");
    ASSERT_TRUE(opened);
    for (int i = 0; i < packets; ++i) (*opened)->append({});
    auto const closed = (*opened)->close();
    ASSERT_FALSE(closed) << packets;
    EXPECT_EQ(closed.error().code.value(), ENOSPC) << packets;
  }
}

}  // namespace
}  // namespace reprise
