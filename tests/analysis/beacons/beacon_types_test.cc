#include <gmock/gmock.h>

#include "tests/analysis/beacons/beacon_files.h"

namespace reprise {
namespace {

TEST(BeaconTypes, OfMembersCanBeWrong) {
  auto const tree = read_tree(R"({"tags":7,"scripts":{"a":1},"measures":null,)"
                              R"("requests":[["https://a.test/","img",1,2,3]]})");
  ASSERT_THAT(tree.calls, testing::SizeIs(1));
  EXPECT_EQ(tree.calls[0].name, "https://a.test/");
  EXPECT_THAT(tree.losses, testing::SizeIs(2));
}

TEST(BeaconTypes, OfPartsOfAnEntryCanBeWrong) {
  auto const tree = read_tree(
      R"({"entries":[{"name":"https://a.test/","entryType":"resource","startTime":1,"duration":2,)"
      R"("serverTiming":[7,{"name":"db","duration":1}]}]})");
  EXPECT_THAT(tree.losses, testing::Contains(testing::Field(
                               &CallLoss::what, "parts of an entry that are not objects")));
}

TEST(BeaconTypes, OfAListMustBeThoseOfEntries) {
  for (auto const* const text : {"[]", "[7]", R"([[{"traceId":"1"}]])", R"([{"a":"b"}])"}) {
    EXPECT_EQ(beacon_fault(text), "no entry of a view in it") << text;
  }
}

}  // namespace
}  // namespace reprise
