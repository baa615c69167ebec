#include "tools/predict/load_remarks.h"

#include <gmock/gmock.h>

namespace reprise {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

/// A side with a load for each, behind a link that dropped so many packets.
ExperimentSide side_of(std::initializer_list<double> drops) {
  auto side = ExperimentSide::of_words({"a.reprise", "http://a.test/", "--link", "9000/9000/60"});
  EXPECT_TRUE(side) << side.error().text;
  LoadResult& result = side->result();
  for (double const packets : drops) {
    ReplaySummary report;
    report.link.emplace().queue_drops = packets;
    auto& load = result.loads.emplace_back();
    load.run = static_cast<unsigned>(result.loads.size());
    load.replay = result.replays.size();
    result.replays.push_back({.run = load.run, .report = std::move(report)});
  }
  return std::move(*side);
}

TEST(LoadRemarks, AreMissingWithoutDrops) {
  auto const side = side_of({0, 0, 0});
  EXPECT_THAT(load_remarks(side, nullptr), IsEmpty());
  EXPECT_THAT(load_remarks(side, &side), IsEmpty());
}

TEST(LoadRemarks, CountTheLoadsWithDropsOfEachSide) {
  auto base = side_of({0, 2, 0, 1, 5});
  base.result().loads.back().skipped = "the machine was busy";
  auto const changed = side_of({3, 0, 1, 1});
  auto const of_base = AllOf(StartsWith("the link's queue dropped packets in 2 of 4 loads: "),
                             HasSubstr("queue=1000p"), Not(HasSubstr("of the changed page:")));
  auto const of_changed =
      StartsWith("the link's queue dropped packets in 3 of 4 loads of the changed page: ");
  EXPECT_THAT(load_remarks(base, nullptr), ElementsAre(of_base));
  EXPECT_THAT(load_remarks(base, &changed), ElementsAre(of_base, of_changed));
  EXPECT_THAT(load_remarks(side_of({0, 0}), &changed), ElementsAre(of_changed));
}

TEST(LoadRemarks, HaveRequestsThatTheArchiveDoesNotHave) {
  auto base = side_of({0});
  base.result().replays.front().report->distinct_misses.push_back(
      {.method = "GET", .url = "http://a.test/b.png", .reason = ""});
  EXPECT_THAT(load_remarks(base, nullptr),
              ElementsAre(HasSubstr("does not have 1 request of the page, such as GET "
                                    "http://a.test/b.png")));
}

TEST(LoadRemarks, HaveLoadsOfTheChangedPageThatDoNotCount) {
  auto const base = side_of({0, 0});
  auto changed = side_of({0, 0});
  changed.result().loads.back().skipped = "the machine was busy";
  EXPECT_THAT(load_remarks(base, &changed),
              ElementsAre(StartsWith("of the changed page, 1 of 2 loads do")));
}

}  // namespace
}  // namespace reprise
