#include "archive/match/parameters.h"

#include <gtest/gtest.h>

#include "archive/match/features.h"
#include "tests/archive/archive_fixture.h"

namespace reprise {
namespace {

/// {"KKKK":{"a":0,"b":0,"a":0}}: neighbours have other paths, each of them with the long name.
std::string json_under_a_name(std::size_t name_bytes, std::size_t leaves) {
  auto body = "{\"" + std::string(name_bytes, 'K') + "\":{";
  for (std::size_t i = 0; i < leaves; ++i) {
    if (i > 0) body += ',';
    body += i % 2 == 0 ? "\"a\":0" : "\"b\":0";
  }
  return body + "}}";
}

std::size_t name_bytes_of(const Parameters& parameters) {
  std::size_t bytes = 0;
  for (const Parameter& each : parameters.list()) bytes += each.name.size();
  return bytes;
}

TEST(Parameters, HoldTheNamesOfAJsonBodyOnlyUpToALimitOfBytes) {
  constexpr std::size_t kName = 1'000'000;
  auto const fits = json_under_a_name(kName, 4);
  Parameters split;
  ASSERT_TRUE(split.add_body({}, as_bytes(fits)));
  EXPECT_EQ(split.list().size(), 4U);
  EXPECT_GT(name_bytes_of(split), 4 * kName);
  EXPECT_LE(name_bytes_of(split), kJsonPathBytesMax);
  for (std::size_t const leaves : {std::size_t{5}, kParametersReadMax}) {
    auto const body = json_under_a_name(kName, leaves);
    ASSERT_LE(body.size(), kNormalisedBodyBytesMax);
    Parameters parameters;
    parameters.add_query("q=1");
    EXPECT_FALSE(parameters.add_body({}, as_bytes(body))) << leaves;
    EXPECT_EQ(parameters.list().size(), 1U) << "the query stays";
  }
}

TEST(Parameters, CountThePathOfEveryItemOfAnArray) {
  std::string items = "0";
  for (int i = 0; i < 99; ++i) items += ",0";
  auto const body = "{\"" + std::string(100'000, 'K') + "\":[" + items + "]}";
  Parameters parameters;
  EXPECT_FALSE(parameters.add_body({}, as_bytes(body))) << "each would be hashed with its path";
}

TEST(Parameters, OfAsManyLeavesAsAreReadFitTheLimitWithUsualPaths) {
  auto const body = json_under_a_name(1'000, kParametersReadMax);
  Parameters parameters;
  EXPECT_TRUE(parameters.add_body({}, as_bytes(body)));
  EXPECT_EQ(parameters.list().size(), kParametersReadMax);
}

TEST(Features, OfAJsonBodyWithTooLongPathsAreItsDigestAndLength) {
  auto const body = json_under_a_name(1'000'000, 5);
  auto const made = features_of({.key = {.method = "POST", .host = "a.test", .target = "/"},
                                 .headers = {},
                                 .body_bytes = body.size(),
                                 .body = as_bytes(body)});
  ASSERT_EQ(made.size(), 2U);
  for (auto const feature : made) EXPECT_TRUE(is_opaque(name_of(feature)));
}

}  // namespace
}  // namespace reprise
