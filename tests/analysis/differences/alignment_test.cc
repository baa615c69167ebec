// Which request of B is which of A.

#include "analysis/differences/alignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string_view>

#include "tests/analysis/differences/made_page.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Alignment aligned(std::initializer_list<std::string_view> of_a,
                  std::initializer_list<std::string_view> of_b) {
  MadePage a;
  MadePage b;
  for (auto const url : of_a) a.add(url, "image/gif", "pixel");
  for (auto const url : of_b) b.add(url, "image/gif", "pixel");
  return align(a.page, b.page);
}

TEST(Alignment, RequestsThatDifferOnlyInVolatileValuesAreOneInWhateverOrder) {
  auto const found =
      aligned({"https://a.test/hit?id=10&t=1700000001", "https://a.test/hit?id=20&t=1700000002"},
              {"https://a.test/hit?id=20&t=1700000003", "https://a.test/hit?id=10&t=1700000004"});
  EXPECT_THAT(found.pairs, ElementsAre(AlignedPair{.a = 0, .b = 1}, AlignedPair{.a = 1, .b = 0}));
}

TEST(Alignment, RequestsOfOnePathArePairedWhateverTheirValuesAre) {
  auto const found = aligned({"https://a.test/hit?id=10&t=1700000001", "https://a.test/hit?id=20"},
                             {"https://a.test/hit?id=30&t=1700000003", "https://a.test/hit?id=40"});
  EXPECT_THAT(found.pairs, ElementsAre(AlignedPair{.a = 0, .b = 0}, AlignedPair{.a = 1, .b = 1}));
  EXPECT_THAT(found.only_a, IsEmpty());
  EXPECT_THAT(found.only_b, IsEmpty());
}

TEST(Alignment, TheSameUrlComesBeforeAnotherVolatileValue) {
  auto const found =
      aligned({"https://a.test/hit?t=1700000001", "https://a.test/hit?t=1700000002"},
              {"https://a.test/hit?t=1700000002", "https://a.test/hit?t=1700000003"});
  EXPECT_THAT(found.pairs, ElementsAre(AlignedPair{.a = 0, .b = 1}, AlignedPair{.a = 1, .b = 0}));
}

}  // namespace
}  // namespace reprise
