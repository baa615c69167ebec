#include "tools/predict/asked_quantiles.h"

#include <gmock/gmock.h>

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(AskedQuantiles, AreInTheOrderAskedForEachOnce) {
  EXPECT_THAT(*asked_quantiles({"0.95", ".5", ".95", "1e-3"}), ElementsAre(.95, .5, .001));
  EXPECT_THAT(*asked_quantiles({}), ElementsAre(.5, .75, .9));
}

TEST(AskedQuantiles, AreAboveZeroAndBelowOne) {
  for (auto const* const wrong : {"0", "1", "90", "-.5", "p90", "90%", "nan", ".5x", "", " .5"}) {
    auto const quantiles = asked_quantiles({".5", wrong});
    ASSERT_FALSE(quantiles) << wrong;
    EXPECT_THAT(quantiles.error(), HasSubstr("above 0 and below 1"));
    EXPECT_THAT(quantiles.error(), HasSubstr("not '" + std::string(wrong) + "'"));
  }
}

TEST(AskedQuantiles, AreNotThousands) {
  std::vector<std::string> texts;
  for (std::size_t i = 1; i <= kQuantilesMax + 1; ++i) {
    texts.push_back("." + std::to_string(1000 + i));
  }
  EXPECT_THAT(asked_quantiles(texts).error(), HasSubstr("at most 100"));
  texts.pop_back();
  EXPECT_TRUE(asked_quantiles(texts));
}

}  // namespace
}  // namespace reprise
