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

TEST(Ranking, PutsWhatIsPredictedToSaveNothingLastByItsShare) {
  std::vector<PromisedChange> const changes = {
      {.saving_ms = 90, .saves_nothing = true, .share_ms = 5},
      {.saving_ms = 1, .group = "images"},
      {.group = "images", .saves_nothing = true, .share_ms = 80},
      {.saving_ms = 2, .group = "images"},
      {.saves_nothing = true, .share_ms = 40}};
  EXPECT_THAT(by_promise(changes), ElementsAre(3, 1, 4, 0, 2));
}

std::vector<AdvicePlace> places_of(std::size_t changes, std::size_t could_help,
                                   const AdvicePlaces& places) {
  std::vector<AdvicePlace> out;
  for (std::size_t i = 0; i < changes; ++i) out.push_back(place_of(i, could_help, places));
  return out;
}

TEST(Ranking, SaysWhyAChangeIsNotMeasured) {
  using enum AdvicePlace;
  EXPECT_THAT(places_of(5, 4, {.asked = 3, .paid = 2, .spare = 1}),
              ElementsAre(kMeasured, kMeasured, kNotPaid, kNotAsked, kSavesNothing));
}

TEST(Ranking, FillsFreePlacesWithWhatIsPredictedToSaveNothing) {
  using enum AdvicePlace;
  EXPECT_THAT(places_of(5, 1, {.asked = 4, .paid = 4, .spare = 3}),
              ElementsAre(kMeasured, kMeasured, kMeasured, kSavesNothing, kSavesNothing));
  EXPECT_THAT(places_of(3, 0, {.asked = 4, .paid = 2, .spare = 0}),
              ElementsAre(kMeasured, kMeasured, kSavesNothing))
      << "nothing else is there to be measured";
}

}  // namespace
}  // namespace reprise
