#include <gmock/gmock.h>
#include <sys/resource.h>

#include <string>

#include "tests/analysis/beacons/beacon_files.h"

namespace reprise {
namespace {

using testing::Contains;
using testing::Field;
using testing::IsEmpty;

/// The most that this process ever had, in MiB.
long peak_memory() {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss >> 10;
}

/// A long URL with 100,000 leaves below it: 800 MB if each had a copy.
TEST(Boomerang, KeepsNoUrlForALeafWithoutARequest) {
  for (auto const* const leaf : {R"("":"",)", R"("":"*01,2",)", R"("":"|",)"}) {
    std::string line =
        R"({"u":"p","restiming":{"https://a.test/)" + std::string(8'000, 'x') + R"(":{)";
    for (int i = 0; i < 100'000; ++i) line += leaf;
    line.back() = '}';
    auto const before = peak_memory();
    auto const tree = read_tree(line + "}}");
    EXPECT_LT(peak_memory() - before, 400);
    EXPECT_THAT(tree.calls, IsEmpty());
    EXPECT_THAT(tree.losses, Contains(Field(&CallLoss::count, 90'000)));
  }
}

}  // namespace
}  // namespace reprise
