#include "tools/experiment/gate_run.h"

#include <gmock/gmock.h>

namespace reprise {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

TEST(GateRunText, AdvisesToSkipTheNoiseCheckOnlyWhereItRan) {
  EXPECT_THAT(no_look_text(true, std::nullopt), EndsWith("; or use --skip-noise-check"));
  EXPECT_THAT(no_look_text(false, std::nullopt), EndsWith("Use a longer --budget"));
  auto const known = no_look_text(false, std::chrono::seconds(90));
  EXPECT_THAT(known, HasSubstr("take about 90 s"));
  EXPECT_THAT(known, Not(HasSubstr("--skip-noise-check")));
}

}  // namespace
}  // namespace reprise
