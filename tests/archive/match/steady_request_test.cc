#include "archive/match/steady_request.h"

#include <gmock/gmock.h>

#include "archive/match/parameters.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

TEST(SteadyRequest, IsEqualForRequestsThatDifferInVolatileValuesAlone) {
  auto const one = steady_request("/api?k=7&t=1732845600123&id=0123456789abcdef0123");
  auto const other = steady_request("/api?k=7&t=1732849999999&id=fedcba98765432100000");
  EXPECT_EQ(one.text, other.text);
  EXPECT_THAT(one.volatile_values,
              ElementsAre(Pair("id", "0123456789abcdef0123"), Pair("t", "1732845600123")));
  std::set<std::string> names;
  note_differing(one, other, names);
  EXPECT_THAT(names, ElementsAre("id", "t"));
}

TEST(SteadyRequest, DiffersInAnythingElse) {
  auto const text = steady_request("/api?k=7&t=1732845600123").text;
  for (std::string_view const other :
       {"/api?k=8&t=1732845600123", "/more?k=7&t=1732845600123", "/api?t=1732845600123&k=7",
        "/api?k=7&u=1732845600123", "/api?k=7&t=*", "/api?k=7&t=", "/api?k=7"}) {
    EXPECT_NE(steady_request(other).text, text) << other;
  }
}

TEST(SteadyRequest, WithoutVolatileValuesIsTheRequest) {
  for (std::string_view const each : {"/", "/?", "/a?&b==c&&d=%20", "GET https://a.test/?x"}) {
    EXPECT_EQ(steady_request(each).text, each);
    EXPECT_THAT(steady_request(each).volatile_values, IsEmpty());
  }
}

TEST(SteadyRequest, WithMoreParametersThanAreReadIsTheRequest) {
  std::string request = "/?t=1732845600123";
  for (std::size_t i = 0; i < kParametersReadMax; ++i) request += "&p=1";
  EXPECT_EQ(steady_request(request).text, request);
  EXPECT_THAT(steady_request(request).volatile_values, IsEmpty());
}

TEST(VolatileRemark, NamesParametersUpToALimit) {
  EXPECT_THAT(volatile_remark({"r", "t"}), HasSubstr("like a time differ: r, t"));
  std::set<std::string> names;
  for (int i = 100; i < 125; ++i) names.insert(std::string(200, 'p') + std::to_string(i));
  auto const text = volatile_remark(names);
  EXPECT_THAT(text, HasSubstr(", ppp"));
  EXPECT_THAT(text, testing::EndsWith("p and 5 more"));
  EXPECT_LT(text.size(), 2'300U);
}

}  // namespace
}  // namespace reprise
