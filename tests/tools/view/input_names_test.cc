#include "tools/view/input_names.h"

#include <gmock/gmock.h>

namespace reprise {
namespace {

using testing::ElementsAre;

TEST(InputNames, AreFileNamesIfTheseDiffer) {
  EXPECT_THAT(input_names({"/x/before/a.json", "/x/after/b.json", "c.reprise"}),
              ElementsAre("a.json", "b.json", "c.reprise"));
}

TEST(InputNames, HaveAsManyFoldersAsFilesOfTheSameNameNeed) {
  EXPECT_THAT(input_names({"/x/before/result.json", "/x/after/result.json", "/x/shop.reprise"}),
              ElementsAre("before/result.json", "after/result.json", "shop.reprise"));
  EXPECT_THAT(input_names({"/x/1/out/result.json", "/x/2/out/result.json", "/x/1/in/result.json"}),
              ElementsAre("1/out/result.json", "2/out/result.json", "1/in/result.json"));
  EXPECT_THAT(input_names({"/result.json", "/x/result.json"}),
              ElementsAre("/result.json", "x/result.json"));
}

TEST(InputNames, HaveANumberIfAFileIsGivenAgain) {
  EXPECT_THAT(input_names({"/x/a.json", "/x/a.json", "/y/a.json", "/x/a.json"}),
              ElementsAre("x/a.json", "x/a.json (2)", "y/a.json", "x/a.json (3)"));
  EXPECT_THAT(input_names({"/x/a.json", "/x/a.json"}), ElementsAre("a.json", "a.json (2)"));
}

}  // namespace
}  // namespace reprise
