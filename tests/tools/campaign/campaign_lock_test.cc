// The lock of a campaign, whose holder is a process that has ended or one that works.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <optional>
#include <string>

#include "base/system/descriptor.h"
#include "tests/scratch_folder.h"
#include "tools/campaign/campaign_folder.h"

namespace reprise {
namespace {

using testing::HasSubstr;

class CampaignLockTest : public testing::Test {
 protected:
  /// Lets a process take the lock and end; what it leaves names it.
  void let_a_process_end() {
    auto const child = ::fork();
    if (child == 0) ::_exit(CampaignLock::take(folder_.path()) ? 0 : 1);
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
  }

  /// Holds the lock as a shard does that this process was starting.
  Descriptor held() const {
    Descriptor file(::open((folder_ / "lock").c_str(), O_RDWR | O_CLOEXEC));
    EXPECT_EQ(::flock(file.get(), LOCK_EX | LOCK_NB), 0);
    return file;
  }

  /// Takes it; the message is in said_.
  std::optional<CampaignLock> take(const std::function<void()>& pause) {
    testing::internal::CaptureStderr();
    auto lock = CampaignLock::take(folder_.path(), pause);
    said_ = testing::internal::GetCapturedStderr();
    return lock;
  }

  ScratchFolder folder_;
  std::string said_;
};

TEST_F(CampaignLockTest, WaitsForWhatAProcessThatHasEndedLeft) {
  let_a_process_end();
  auto left = held();
  int pauses = 0;
  auto const lock = take([&] {
    if (++pauses == 3) left.reset();
  });
  EXPECT_TRUE(lock);
  EXPECT_EQ(pauses, 3);
  EXPECT_EQ(said_, "");
}

TEST_F(CampaignLockTest, DoesNotWaitForever) {
  let_a_process_end();
  auto const left = held();
  int pauses = 0;
  EXPECT_FALSE(take([&] { ++pauses; }));
  EXPECT_EQ(pauses, CampaignLock::kPausesMax);
  EXPECT_THAT(said_, HasSubstr("another `reprise campaign` works on " + folder_.path().string()));
}

TEST_F(CampaignLockTest, DoesNotWaitForAProcessThatWorks) {
  int pauses = 0;
  auto const lock = take([&] { ++pauses; });
  ASSERT_TRUE(lock);
  EXPECT_FALSE(take([&] { ++pauses; }));
  EXPECT_EQ(pauses, 0);
  EXPECT_THAT(said_, HasSubstr("(process " + std::to_string(::getpid()) + " on "));
}

}  // namespace
}  // namespace reprise
