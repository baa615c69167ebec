#include "tools/record/origin_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reprise {
namespace {

using testing::ElementsAre;

TEST(OriginOptions, KeepsSecretsOutOfTheArchivesCommandLine) {
  EXPECT_THAT(
      without_secrets({"reprise", "record", "--upstream-proxy", "http://jane:secret@proxy:3128",
                       "--header", "a.test=X-Key: secret", "--header=X-Other: secret",
                       "--upstream-proxy=jane:secret@proxy", "https://a.test/"}),
      ElementsAre("reprise", "record", "--upstream-proxy", "http://***@proxy:3128", "--header",
                  "a.test=X-Key: ***", "--header=X-Other: ***", "--upstream-proxy=***@proxy",
                  "https://a.test/"));
}

TEST(OriginOptions, KeepsWhatIsNoSecret) {
  EXPECT_THAT(without_secrets({"reprise", "record", "--upstream-proxy", "http://proxy:3128", "--",
                               "curl", "--header", "X-Key: 1"}),
              ElementsAre("reprise", "record", "--upstream-proxy", "http://proxy:3128", "--",
                          "curl", "--header", "X-Key: 1"));
  EXPECT_THAT(without_secrets({"reprise", "record", "--header", "no field secret"}),
              ElementsAre("reprise", "record", "--header", "***"));
  EXPECT_THAT(without_secrets({"reprise", "--header"}), ElementsAre("reprise", "--header"));
}

}  // namespace
}  // namespace reprise
