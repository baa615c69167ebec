#include "analysis/partials/slices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

using Names = std::vector<std::string>;

bool add(PartialSlices& slices, std::string_view text) {
  PartialLine line;
  EXPECT_TRUE(read_partial_line(text, line)) << text;
  return slices.add(line);
}

TEST(PartialSlices, GiveTheSlowestOfAllAndOfEachSlice) {
  auto slices = PartialSlices::of(Names{"network", "country"}, Names{"network"});
  ASSERT_TRUE(slices);
  for (auto const* const text :
       {"2026-11-22|p|4g|DE|10\t6\t60\t30", "2026-11-23|q|4g|FR|20\t2\t40\t40",
        "2026-11-22|p|3g%7C|DE|20\t1\t22\t2", "2026-11-22|q|3g%7C|DE|5\t1\t5\t1"}) {
    EXPECT_TRUE(add(*slices, text));
  }
  auto const slowest = slices->slowest(50);
  ASSERT_THAT(slowest, SizeIs(3));
  EXPECT_THAT(slowest[0].values, IsEmpty());
  EXPECT_THAT(slowest[0].sums, ElementsAre(5, 82, 52));
  EXPECT_THAT(slowest[1].values, ElementsAre(Pair("network", "4g")));
  EXPECT_THAT(slowest[1].sums, ElementsAre(4, 60, 50));
  EXPECT_THAT(slowest[2].values, ElementsAre(Pair("network", "3g|")));
  EXPECT_THAT(slowest[2].sums, ElementsAre(1, 22, 2));
}

TEST(PartialSlices, AreByDayAndPageToo) {
  auto slices = PartialSlices::of(Names{"country"}, Names{"page", "day", "country"});
  ASSERT_TRUE(slices);
  EXPECT_TRUE(add(*slices, "2026-11-22|https://a.test/|DE|10\t6\t60\t30"));
  EXPECT_THAT(slices->slowest(100)[1].values,
              ElementsAre(Pair("page", "https://a.test/"), Pair("day", "2026-11-22"),
                          Pair("country", "DE")));
  EXPECT_EQ(PartialSlices::of(Names{"country"}, Names{"network"}).error(), "network");
}

TEST(PartialSlices, RefuseLinesOfAnotherShape) {
  auto slices = PartialSlices::of(Names{"network"}, Names{"network"});
  ASSERT_TRUE(slices);
  EXPECT_TRUE(add(*slices, "d|p|4g|10\t6\t60\t30"));
  EXPECT_FALSE(add(*slices, "d|p|10\t6\t60\t30"));
  EXPECT_FALSE(add(*slices, "d|p|4g|DE|10\t6\t60\t30"));
  EXPECT_FALSE(add(*slices, "d|p|4g|x\t6\t60\t30"));
  EXPECT_FALSE(add(*slices, "d|p|4g|10\t6\t60"));
  EXPECT_FALSE(add(*slices, "d|p|4g|10\t9223372036854775807\t60\t30"));
  EXPECT_THAT(slices->slowest(100)[0].sums, ElementsAre(6, 60, 30));
}

TEST(PartialSlices, HoldABoundedNumberOfSlices) {
  auto slices = PartialSlices::of({}, Names{"page"});
  ASSERT_TRUE(slices);
  for (std::size_t page = 0; page < PartialSlices::kSlicesMax + 2; ++page) {
    ASSERT_TRUE(add(*slices, "|" + std::to_string(page) + "|0\t1\t2\t2"));
  }
  EXPECT_EQ(slices->lines_beyond(), 2U);
  auto const all = slices->slowest(100);
  EXPECT_THAT(all, SizeIs(PartialSlices::kSlicesMax + 1));
  EXPECT_EQ(all[0].sums[0], PartialSlices::kSlicesMax + 2);
}

}  // namespace
}  // namespace reprise
