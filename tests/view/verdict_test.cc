#include "view/verdict.h"

#include <gmock/gmock.h>

#include <boost/json.hpp>
#include <string>
#include <vector>

#include "tests/analysis/result_text.h"

namespace reprise {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Measurements ten_loads(double load_ms, LoadText like = {}, const ResultText& of = {}) {
  std::vector<std::string> loads;
  for (int i = 0; i < 10; ++i) {
    like.load_ms = load_ms + i;
    loads.push_back(load_text(like));
  }
  auto read = measured(result_text(loads, of));
  EXPECT_TRUE(read) << read.error();
  return read.value_or(Measurements{});
}

TEST(Verdict, IsAboutTwoArchivesAndSaysSo) {
  auto const a = ten_loads(1000), b = ten_loads(1040, {}, {.sha256 = "bb22"});
  auto const out = compare_as_chosen(a, b);
  EXPECT_THAT(out.refusals, IsEmpty());
  EXPECT_EQ(out.verdict, Verdict::kDifferent);
  EXPECT_THAT(out.remarks, ElementsAre("A was loaded from a.reprise (aa11), B from a.reprise "
                                       "(bb22)"));
}

TEST(Verdict, IsAboutOtherConditionsAndWhatIfs) {
  auto const a = ten_loads(1000);
  auto b = ten_loads(1000, {.protocol = "h1", .link = "none", .requests = {"https://a.test/x"}});
  EXPECT_THAT(compare_as_chosen(a, b).refusals,
              Contains(testing::Field(&Refusal::difference, Mismatch::kRequests)));
  b.what_ifs = {"type=script: defer"};
  auto const out = compare_as_chosen(a, b);
  EXPECT_THAT(out.refusals, IsEmpty());
  for (auto const* const text : {"with h2, B with h1", "with wpt:4g, B with none", "--what-if"}) {
    EXPECT_THAT(out.remarks, Contains(HasSubstr(text)));
  }
}

TEST(Verdict, RefusesSidesWithSeveralOfWhatDiffers) {
  auto a = ten_loads(1000);
  auto const b = a;
  for (std::size_t i = 0; i < 5; ++i) a.loads[i].conditions.protocol = "h1";
  auto const out = compare_as_chosen(a, b);
  ASSERT_EQ(out.refusals.size(), 1U);
  EXPECT_THAT(out.refusals.front().text, HasSubstr("A has both h1 and h2"));
}

LoadResult gate_result(std::uint64_t seed) {
  LoadResult result;
  result.seed = seed;
  for (int i = 0; i < 3; ++i) {
    LoadResult::Load load;
    load.configuration.protocol = "h2";
    load.page.url = "https://a.test/";
    result.loads.push_back(std::move(load));
  }
  return result;
}

/// A verdict.json about `loads` of each side.
std::string gate_text(int loads, const std::string& verdict = "different") {
  auto const side = R"({"configuration":{"browser":"chromium","protocol":"h2","link":"none",)"
                    R"("cache":"cold"},"failed":0,"loads":)" +
                    std::to_string(loads) + "}";
  return R"({"schema":"reprise-compare/1","verdict":")" + verdict +
         R"(","refusals":[],"remarks":["a remark"],"pages":[{"url":"https://a.test/","a":)" + side +
         R"(,"b":)" + side +
         R"(,"few_count":true,"metrics":[{"field":"load_event_ms","median_a":1000,)"
         R"("median_b":1040,"shift":40,"low":null,"high":50.5,"holm_p":0.01,)"
         R"("verdict":"different"},{"field":"of a later version","verdict":"same"}]}],)"
         R"("gate":{"end":"decided","runs":2,"seed":7}})";
}

TEST(GateVerdict, IsShownAsTheGateGaveIt) {
  auto const out = gate_verdict_json(gate_text(2), gate_result(7), gate_result(7));
  ASSERT_TRUE(out);
  EXPECT_EQ(*out,
            boost::json::parse(
                R"({"verdict":"different","source":"as in verdict.json beside them","refusals":[],)"
                R"("remarks":["a remark","the gate ended after 2 loads a side: decided"],)"
                R"("pages":[{"title":"https://a.test/ · chromium · h2 · none · cold",)"
                R"("a":{"loads":2,"failed":0},"b":{"loads":2,"failed":0},"few_count":true,)"
                R"("metrics":[{"field":"load_event_ms","verdict":"different","median_a":1000,)"
                R"("median_b":1040,"shift":40,"low":null,"high":50.5,"p":0.01}]}]})")
                .get_object());
}

TEST(GateVerdict, IsNotThatOfOtherResults) {
  auto const a = gate_result(7);
  EXPECT_FALSE(gate_verdict_json(gate_text(2), a, gate_result(8)));
  EXPECT_FALSE(gate_verdict_json(gate_text(2), gate_result(8), gate_result(8)));
  EXPECT_FALSE(gate_verdict_json(gate_text(4), a, a)) << "more loads than the results have";
  auto other = a;
  for (LoadResult::Load& load : other.loads) load.page.url = "https://b.test/";
  EXPECT_FALSE(gate_verdict_json(gate_text(2), a, other));
}

TEST(GateVerdict, IsNothingWhereTheFileIsDamaged) {
  auto const a = gate_result(7);
  EXPECT_FALSE(gate_verdict_json(gate_text(2, "a new one"), a, a));
  auto const text = gate_text(2);
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_FALSE(gate_verdict_json(text.substr(0, length), a, a));
  }
  EXPECT_FALSE(gate_verdict_json(R"({"schema":"reprise-compare/1","verdict":"same","pages":[7],)"
                                 R"("gate":{"seed":7}})",
                                 a, a));
}

}  // namespace
}  // namespace reprise
