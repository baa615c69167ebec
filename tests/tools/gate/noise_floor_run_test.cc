#include "tools/gate/noise_floor_run.h"

#include <gmock/gmock.h>

#include "pageload/results/result_file.h"
#include "tests/scratch_folder.h"
#include "tools/commands.h"

namespace reprise {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(NoiseFloorRun, TellsTheWayOutByTheReasonAndNotByTheUrl) {
  ScratchFolder const folder;
  LoadResult result;
  for (unsigned run = 1; run <= 8; ++run) {
    LoadResult::Load load{.run = run};
    load.page.url = "https://quota.test/";
    load.page.load_event_ms = 1000;
    load.skipped = "the machine slept for 3.0 s";
    result.loads.push_back(std::move(load));
  }
  ASSERT_TRUE(write_result(result, folder / "a.json"));
  testing::internal::CaptureStderr();
  auto const code = run_noise_floor({.loads = folder / "a.json"});
  auto const said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(code, kExitFailed);
  EXPECT_THAT(said, HasSubstr("8 were disturbed (the first one: the machine slept for 3.0 s)"));
  EXPECT_THAT(said, HasSubstr("systemd-inhibit"));
  EXPECT_THAT(said, Not(HasSubstr("processor quota")));
}

}  // namespace
}  // namespace reprise
