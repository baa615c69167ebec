// What a change of link is to the model, and what is said about the rest.

#include "tools/predict/predicted_change.h"

#include <gmock/gmock.h>

namespace reprise {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::expected<PredictedChange, std::string> between(const std::string& from,
                                                    const std::string& to) {
  auto const side = [](const std::string& link) {
    return ExperimentSide::of_words({"a.reprise", "http://a.test/", "--link", link});
  };
  auto const base = side(from);
  auto const changed = side(to);
  if (!base || !changed) return std::unexpected("no such link");
  return predicted_change(*base, *changed, {}, {});
}

TEST(PredictedLink, HasTheRateToTheClientAndTheRoundTrip) {
  auto const change = between("9000/9000/60", "900/9000/80");
  ASSERT_TRUE(change) << change.error();
  EXPECT_EQ(change->change.link_factor, .1);
  ASSERT_EQ(change->change.parts.size(), 1U);
  EXPECT_EQ(change->change.parts[0].change.rtt_us, 20'000);
  EXPECT_THAT(change->remarks, IsEmpty());
}

TEST(PredictedLink, SaysThatTheRateFromTheClientIsNotInTheModel) {
  auto const change = between("9000/9000/60", "900/400/60");
  ASSERT_TRUE(change) << change.error();
  EXPECT_THAT(change->remarks,
              ElementsAre(AllOf(HasSubstr("rate from the client changes from 9000 kbit/s to 400 "
                                          "kbit/s: "),
                                HasSubstr("is not predicted"))));
  auto const limited = between("9000/none/60", "900/400/60");
  ASSERT_TRUE(limited) << limited.error();
  EXPECT_THAT(limited->remarks, ElementsAre(HasSubstr("from no limit to 400 kbit/s")));
}

TEST(PredictedLink, SaysThatQueuesAreNotInTheModel) {
  auto const change = between("9000/9000/60,queue=200p", "900/9000/60,queue=10p");
  ASSERT_TRUE(change) << change.error();
  EXPECT_THAT(
      change->remarks,
      ElementsAre(HasSubstr("queue to the client changes from 200 packets to 10 packets: "),
                  HasSubstr("queue from the client changes from 200 packets to 10 packets: ")));
}

TEST(PredictedLink, IsRefusedIfTheModelHasNothingOfTheChange) {
  EXPECT_THAT(between("9000/9000/60", "9000/400/60").error(), HasSubstr("which are the same"));
}

}  // namespace
}  // namespace reprise
