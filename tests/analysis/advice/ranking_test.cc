#include "analysis/advice/ranking.h"

#include <gmock/gmock.h>

namespace reprise {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Ranking, PutsWhatPromisesMostFirst) {
  EXPECT_THAT(by_promise({}), IsEmpty());
  std::vector<PromisedChange> const changes = {{10, ""}, {30, ""}, {-5, ""}, {30, ""}};
  EXPECT_THAT(by_promise(changes), ElementsAre(1, 3, 0, 2));
}

TEST(Ranking, PutsAllOfAGroupButTheBestBehindTheOthers) {
  std::vector<PromisedChange> const changes = {
      {5, "images"}, {40, "images"}, {30, "images"}, {20, "third parties"}, {1, ""}};
  EXPECT_THAT(by_promise(changes), ElementsAre(1, 3, 4, 2, 0));
}

}  // namespace
}  // namespace reprise
