#include "analysis/campaign/owners.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reprise {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Owners owners_with(const std::string& list) {
  return Owners::parse(R"({"schema":"reprise-owners/1","owners":[)" + list + "]}").value();
}

TEST(Owners, AreFoundByNameOrUrlAndTheFirstRuleCounts) {
  auto const owners = owners_with(R"({"owner":"shop","pages":["https://shop.test/*","p1"]},)"
                                  R"({"owner":"news","pages":["https://*"]})");
  EXPECT_EQ(owners.owner_of("p7", "https://shop.test/cart"), "shop");
  EXPECT_EQ(owners.owner_of("p1", "https://other.test/"), "shop");
  EXPECT_EQ(owners.owner_of("p2", "https://other.test/"), "news");
  EXPECT_EQ(owners.owner_of("p2", "http://other.test/"), Owners::kNobody);
}

TEST(Owners, PatternsThatNameNoPageAreReported) {
  auto const owners = owners_with(R"({"owner":"shop","pages":["a*","b*"]})");
  EXPECT_EQ(owners.owner_of("a1", ""), "shop");
  EXPECT_THAT(owners.unused(), ElementsAre("shop: b*"));
}

TEST(Owners, ThatCannotBeFileNamesAreRefused) {
  for (auto const* const name : {"", "../x", ".x", "a/b"}) {
    auto const parsed = Owners::parse(R"({"schema":"reprise-owners/1","owners":[{"owner":")" +
                                      std::string(name) + R"(","pages":["*"]}]})");
    ASSERT_FALSE(parsed) << name;
    EXPECT_THAT(parsed.error(), HasSubstr("owners[0].owner must be a name"));
  }
  EXPECT_FALSE(Owners::parse("{}"));
  EXPECT_FALSE(Owners::parse("["));
  EXPECT_FALSE(
      Owners::parse(R"({"schema":"reprise-owners/1","owners":[{"owner":"a","pages":[]}]})"));
}

}  // namespace
}  // namespace reprise
