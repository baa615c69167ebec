#include "analysis/spans/server_timing.h"

#include <gmock/gmock.h>

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::string text_of(const ServerTiming& metric) {
  auto text = metric.name;
  if (metric.duration_us) text += "=" + std::to_string(*metric.duration_us);
  if (!metric.description.empty()) text += "(" + metric.description + ")";
  return text;
}

std::vector<std::string> metrics_in(std::string_view value) {
  std::vector<HeaderView> const head = {{"server-timing", value}};
  std::vector<std::string> texts;
  for (auto const& metric : read_server_timing(head)) texts.push_back(text_of(metric));
  return texts;
}

TEST(ServerTiming, IsReadFromHeadAndTrailers) {
  std::vector<HeaderView> const head = {{"Server-Timing", "db;dur=53.2, app;dur=47"},
                                        {"Date", "now"},
                                        {"SERVER-TIMING", "cdn-cache; desc=HIT"}};
  std::vector<HeaderView> const trailers = {{"Server-Timing", "total;dur=0.0125"}};
  std::vector<std::string> texts;
  for (auto const& metric : read_server_timing(head, trailers)) texts.push_back(text_of(metric));
  EXPECT_THAT(texts, ElementsAre("db=53200", "app=47000", "cdn-cache(HIT)", "total=13"));
}

TEST(ServerTiming, HasQuotedDescriptions) {
  EXPECT_THAT(metrics_in(R"(a;desc="x, y; \"z\"";dur=1 , b ; desc = "q" ; dur = 2)"),
              ElementsAre(R"(a=1000(x, y; "z"))", "b=2000(q)"));
  EXPECT_THAT(metrics_in(R"(a;desc="open, b;dur=1)"), ElementsAre("a(open, b;dur=1)"));
  EXPECT_THAT(metrics_in(R"(a;desc="\)"), ElementsAre("a"));
}

TEST(ServerTiming, CountsTheFirstOfEqualParameters) {
  EXPECT_THAT(metrics_in("a;dur=1;dur=2;DESC=x;desc=y"), ElementsAre("a=1000(x)"));
  EXPECT_THAT(metrics_in("a;dur=x;dur=2"), ElementsAre("a"));
}

TEST(ServerTiming, SkipsWhatIsNotOfTheGrammar) {
  EXPECT_THAT(metrics_in(""), IsEmpty());
  EXPECT_THAT(metrics_in(", ;dur=1,,@@;dur=2,a b;dur=3,c"), ElementsAre("c"));
  EXPECT_THAT(metrics_in("a;dur"), ElementsAre("a"));
  EXPECT_THAT(metrics_in(R"(a;desc="x"junk;dur=4)"), ElementsAre("a=4000(x)"));
}

TEST(ServerTiming, HasDurationsUpToADay) {
  EXPECT_THAT(metrics_in("a;dur=-1,b;dur=1e300,c;dur=nan,d;dur=inf,e;dur=86400000"),
              ElementsAre("a", "b", "c", "d", "e=86400000000"));
}

TEST(ServerTiming, HasOnlySoManyMetrics) {
  std::string many;
  for (std::size_t i = 0; i < 2 * ServerTiming::kMetricsMax; ++i) many += "a;dur=1,";
  EXPECT_THAT(metrics_in(many), SizeIs(ServerTiming::kMetricsMax));
}

}  // namespace
}  // namespace reprise
