#include "analysis/unpaired_requests.h"

#include <gmock/gmock.h>

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Requests = std::set<std::string_view>;

TEST(UnpairedRequests, AreNotThoseThatDifferInVolatileValuesAlone) {
  auto const left = unpaired_requests(
      Requests{"GET https://a.test/api?t=1732845600123&r=0.5317204915&k=7",
               "GET https://a.test/b?id=0123456789abcdef0123", "GET https://a.test/"},
      Requests{"GET https://a.test/api?t=1732849999999&r=0.91827364550192&k=7",
               "GET https://a.test/b?id=fedcba98765432100000", "GET https://a.test/"});
  EXPECT_THAT(left.a, IsEmpty());
  EXPECT_THAT(left.b, IsEmpty());
  EXPECT_THAT(left.volatile_names, ElementsAre("id", "r", "t"));
}

TEST(UnpairedRequests, NamesOnlyParametersThatDiffer) {
  auto const left = unpaired_requests(
      Requests{"GET https://a.test/app.js?v=0123456789abcdef0123&t=1732845600123"},
      Requests{"GET https://a.test/app.js?v=0123456789abcdef0123&t=1732849999999"});
  EXPECT_THAT(left.a, IsEmpty());
  EXPECT_THAT(left.volatile_names, ElementsAre("t"));
}

TEST(UnpairedRequests, AreThoseThatDifferInAnythingElse) {
  constexpr std::string_view kAsked = "GET https://a.test/api?t=1732845600123&k=7";
  for (std::string_view const other :
       {"GET https://a.test/api?t=1732849999999&k=8", "POST https://a.test/api?t=1732849999999&k=7",
        "GET https://a.test/more?t=1732849999999&k=7", "GET https://a.test/api?t=1732849999999",
        "GET https://b.test/api?t=1732849999999&k=7", "GET https://a.test/api?t=2&k=7",
        "GET https://a.test/api?u=1732849999999&k=7",
        "GET http://a.test/api?t=1732849999999&k=7"}) {
    auto const left = unpaired_requests(Requests{kAsked}, Requests{other});
    EXPECT_THAT(left.a, ElementsAre(kAsked));
    EXPECT_THAT(left.b, ElementsAre(other));
    EXPECT_THAT(left.volatile_names, IsEmpty());
  }
}

TEST(UnpairedRequests, ArePairedOneWithOne) {
  Requests const two{"GET https://a.test/?t=1732845600123", "GET https://a.test/?t=1732845600456"};
  Requests const one{"GET https://a.test/?t=1732845600999"};
  EXPECT_THAT(unpaired_requests(two, one).a, ElementsAre("GET https://a.test/?t=1732845600456"));
  EXPECT_THAT(unpaired_requests(two, one).b, IsEmpty());
  EXPECT_THAT(unpaired_requests(one, two).b, ElementsAre("GET https://a.test/?t=1732845600456"));
  // An equal request is the better partner.
  EXPECT_THAT(unpaired_requests(two, Requests{"GET https://a.test/?t=1732845600123"}).a,
              ElementsAre("GET https://a.test/?t=1732845600456"));
}

}  // namespace
}  // namespace reprise
