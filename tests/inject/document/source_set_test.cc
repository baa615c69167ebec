#include "inject/document/source_set.h"

#include <gmock/gmock.h>

namespace reprise::inject {
namespace {

using testing::ElementsAre;

TEST(SourceSetUrls, ReadsCandidates) {
  EXPECT_THAT(source_set_urls("a.png, b.png 2x,c,d.png 100w , ,e"),
              ElementsAre("a.png", "b.png", "c,d.png", "e"));
  EXPECT_THAT(source_set_urls("a.png 1x (x,y), b.png"), ElementsAre("a.png", "b.png"));
  EXPECT_THAT(source_set_urls("data:image/png;base64,AA== 1x,b.png,"),
              ElementsAre("data:image/png;base64,AA==", "b.png"));
  EXPECT_THAT(source_set_urls(" , "), ElementsAre());
  EXPECT_THAT(source_set_urls(""), ElementsAre());
}

}  // namespace
}  // namespace reprise::inject
