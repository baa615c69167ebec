#include "proxy/whatif/intervention.h"

#include <gmock/gmock.h>

#include <fstream>

#include "tests/scratch_folder.h"

namespace reprise::whatif {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

Intervention parsed(std::string_view text) {
  auto one = parse_intervention(text);
  EXPECT_TRUE(one) << one.error();
  return std::move(one).value();
}

template <class A>
A action(std::string_view text) {
  auto const one = parsed("*: " + std::string(text));
  auto const* const found = one.as<A>();
  if (found == nullptr) throw std::invalid_argument(std::string(text));
  return *found;
}

std::string fault(std::string_view text) {
  auto const one = parse_intervention(text);
  return one ? "no fault" : one.error();
}

class InterventionFiles : public testing::Test {
 protected:
  std::string file(const std::string& name, std::string_view text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return (folder_ / name).string();
  }
  ScratchFolder folder_;
};

TEST(Intervention, HasEveryAction) {
  EXPECT_EQ(action<Think>("think=30ms").change.by, 30ms);
  EXPECT_EQ(action<Think>("think=0").change.kind, ThinkTimeChange::Kind::kSet);
  EXPECT_EQ(action<Think>("think=+30ms").change.kind, ThinkTimeChange::Kind::kAdd);
  EXPECT_EQ(action<Think>("think=-30").change.kind, ThinkTimeChange::Kind::kTakeOff);
  EXPECT_EQ(action<Think>("think=x0.5").change.factor, 0.5);
  EXPECT_EQ(action<FurtherAway>("rtt=+40ms").by, 40ms);
  EXPECT_EQ(action<FurtherAway>("rtt=+0.5").by, 500us);
  EXPECT_EQ(action<SlowerName>("dns=+40ms").by, 40ms);
  action<Drop>("drop");
  EXPECT_EQ(action<Status>("status=503").code, 503);
  EXPECT_EQ(action<Compress>("compress=br").coding, coding::Coding::kBrotli);
  EXPECT_EQ(action<Compress>("compress=zstd").coding, coding::Coding::kZstd);
  EXPECT_EQ(action<Compress>("compress=gzip").coding, coding::Coding::kGzip);
  EXPECT_EQ(action<Compress>("compress=off").coding, std::nullopt);
  EXPECT_EQ(action<Speak>("protocol=h1").alpn, "http/1.1");
  EXPECT_EQ(action<Speak>("protocol=h2").alpn, "h2");
  EXPECT_EQ(action<Speak>("protocol=h3").alpn, "h3");
  action<Coalesce>("coalesce");
  EXPECT_EQ(action<CacheFor>("cache=10m").age, 600s);
  EXPECT_EQ(action<Resize>("bytes=x0.5").factor, 0.5);
  using enum Mention::Kind;
  EXPECT_EQ(action<Mention>("preload").kind, kPreload);
  EXPECT_EQ(action<Mention>("preconnect").kind, kPreconnect);
  EXPECT_EQ(action<Mention>("priority=high").kind, kPriorityHigh);
  EXPECT_EQ(action<Mention>("priority=low").kind, kPriorityLow);
  EXPECT_EQ(action<Mention>("async").kind, kAsync);
  EXPECT_EQ(action<Mention>("defer").kind, kDefer);
  EXPECT_EQ(action<Mention>("lazy").kind, kLazy);
  EXPECT_EQ(action<Mention>("inline").kind, kInline);
  EXPECT_EQ(action<Mention>("early-hints").kind, kEarlyHints);
}

TEST(Intervention, IsAConditionIfNoResponseIsDifferent) {
  for (auto const* const text : {"think=1", "rtt=+1", "protocol=h1", "coalesce"}) {
    EXPECT_TRUE(parsed("*: " + std::string(text)).is_condition()) << text;
  }
  for (auto const* const text :
       {"drop", "status=404", "compress=off", "cache=1y", "bytes=x0.5", "lazy"}) {
    EXPECT_FALSE(parsed("*: " + std::string(text)).is_condition()) << text;
  }
}

TEST(Intervention, RefusesValuesOutsideOfItsLimits) {
  for (auto const* const text : {"rtt=40ms",
                                 "rtt=-40ms",
                                 "rtt=+",
                                 "rtt=+x",
                                 "rtt=+99999999999",
                                 "status=199",
                                 "status=301",
                                 "status=600",
                                 "status=304",
                                 "status=5o3",
                                 "status=",
                                 "status=-200",
                                 "status=65736",
                                 "compress=deflate",
                                 "compress=",
                                 "protocol=h4",
                                 "protocol=http/1.1",
                                 "cache=-1s",
                                 "cache=1",
                                 "cache=y",
                                 "cache=1w",
                                 "bytes=x1",
                                 "bytes=x0",
                                 "bytes=x1.5",
                                 "bytes=0.5",
                                 "bytes=x-0.5",
                                 "bytes=xnan",
                                 "priority=auto",
                                 "priority",
                                 "dns=40ms",
                                 "think",
                                 "think=",
                                 "body="}) {
    EXPECT_NE(fault("*: " + std::string(text)), "no fault") << text;
  }
  EXPECT_EQ(action<Status>("status=200").code, 200);
  EXPECT_EQ(action<Status>("status=299").code, 299);
  EXPECT_EQ(action<Status>("status=599").code, 599);
}

TEST(Intervention, RefusesWhatChangesNothing) {
  for (auto const* const text :
       {"think=+0ms", "think=-0", "think=x1", "think=x1.0", "rtt=+0ms", "dns=+0"}) {
    EXPECT_THAT(fault("*: " + std::string(text)),
                HasSubstr(std::string(text) + " changes nothing"));
  }
}

TEST(Intervention, NamesTheActionsWhenOneIsUnknown) {
  EXPECT_THAT(fault("*: slower"), HasSubstr("unknown action 'slower'; the actions are think="));
  EXPECT_THAT(fault("*: drop=1"), HasSubstr("unknown action 'drop=1'"));
  EXPECT_THAT(fault("*: "), HasSubstr("unknown action ''"));
  EXPECT_THAT(fault("*: think"), HasSubstr("think needs a value"));
}

TEST(Intervention, IsDividedAtTheLastColonBeforeWhiteSpace) {
  Exchange exchange;
  exchange.request.host = "a.test";
  exchange.request.method = "GET";
  exchange.request.target = "/";
  exchange.response.headers = {{.name = "X", .value = "a: drop"}};
  EXPECT_TRUE(parsed("header=\"x: a: drop\": drop").filter.takes(exchange, 1));
  EXPECT_FALSE(parsed("header=\"x: b: drop\": drop").filter.takes(exchange, 1));
  EXPECT_TRUE(parsed("host=a.test:\tdrop").filter.takes(exchange, 1));
  EXPECT_TRUE(parsed("  host=a.test :\n drop  ").filter.takes(exchange, 1));
  // An escaped quote does not end the quotes.
  EXPECT_TRUE(parsed(R"(!header="x: \": drop": status=404)").filter.takes(exchange, 1));
}

TEST(Intervention, NeedsAColonWithWhiteSpaceAndAFilter) {
  for (auto const* const text : {"", "drop", "*:drop", ":", "host=a.test:drop", "\"*: drop\""}) {
    EXPECT_THAT(fault(text), HasSubstr("needs 'FILTER: ACTION'")) << text;
  }
  EXPECT_THAT(fault(": drop"), HasSubstr("has no filter; use *"));
  EXPECT_THAT(fault("   : drop"), HasSubstr("has no filter; use *"));
}

TEST(Intervention, PointsAtTheFaultOfItsFilter) {
  EXPECT_THAT(fault("hots=a.test: drop"), HasSubstr("\n  hots=a.test\n  ^"));
  EXPECT_NE(fault("host=" + std::string(Filter::kTextBytesMax, 'a') + ": drop"), "no fault");
}

TEST_F(InterventionFiles, BodyIsAFileAlsoInQuotes) {
  auto const path = file("b: x", std::string_view("a\0b", 3));
  EXPECT_EQ(action<Body>("body=\"" + path + "\"").bytes, std::string_view("a\0b", 3));
  EXPECT_EQ(action<Body>("body=" + file("empty", "")).bytes, "");
  EXPECT_THAT(fault("*: body=" + file("there", "x") + ".absent"), HasSubstr("No such file"));
  EXPECT_NE(fault("*: body=/"), "no fault");
}

TEST_F(InterventionFiles, ThinkDrawsFromAFileOfMilliseconds) {
  EXPECT_THAT(action<Think>("think=" + file("list", "[1, 2.5,\n3ms]\t0\r\n")).draws,
              testing::ElementsAre(1ms, 2500us, 3ms, 0ms));
  EXPECT_THAT(fault("*: think=" + file("words", "1 two 3")), HasSubstr("has 'two'"));
  EXPECT_THAT(fault("*: think=" + file("negative", "-1")), HasSubstr("has '-1'"));
  EXPECT_THAT(fault("*: think=" + file("none", " \n[],")), HasSubstr("has no times"));
  EXPECT_THAT(fault("*: think=/nowhere/at/all"),
              HasSubstr("think= needs a time such as 0, +30ms or x0.5, or a file"));
}

TEST_F(InterventionFiles, ThinkTakesNoMoreThanAMillionTimes) {
  std::string many;
  for (std::size_t i = 0; i < kDrawsMax; ++i) many += "1 ";
  EXPECT_EQ(action<Think>("think=" + file("all", many)).draws.size(), kDrawsMax);
  EXPECT_THAT(fault("*: think=" + file("more", many + "1")), HasSubstr("more than a million"));
}

TEST_F(InterventionFiles, ComeFromAFileLineByLine) {
  auto const path = file("list", "# changes\n\n  host=a.test: drop  \r\n#\npath=/x: lazy");
  auto const all = parse_interventions({"*: defer", "@" + path});
  ASSERT_TRUE(all) << all.error();
  ASSERT_EQ(all->size(), 3);
  EXPECT_EQ((*all)[1].text, "host=a.test: drop");
  EXPECT_EQ((*all)[2].text, "path=/x: lazy");
}

TEST_F(InterventionFiles, AreRefusedAsAWhole) {
  auto const refused = [](const std::vector<std::string>& texts) {
    auto const all = parse_interventions(texts);
    return all ? "no fault" : all.error();
  };
  EXPECT_THAT(refused({"@" + file("none", "# only this\n\n")}), HasSubstr("has no lines"));
  EXPECT_THAT(refused({"@" + file("bad", "*: drop\n*: nothing\n")}), HasSubstr("'nothing'"));
  EXPECT_THAT(refused({"@/nowhere/at/all"}), HasSubstr("No such file"));
  // Files do not name further files.
  EXPECT_THAT(refused({"@" + file("nested", "@other\n")}), HasSubstr("needs 'FILTER: ACTION'"));
  std::vector<std::string> const most(kInterventionsMax, "*: drop");
  EXPECT_EQ(refused(most), "no fault");
  auto more = most;
  more.emplace_back("*: drop");
  EXPECT_THAT(refused(more), HasSubstr("more than 10,000 times"));
}

TEST(Age, HasUnitsAndALimit) {
  EXPECT_EQ(parse_age("45s"), 45s);
  EXPECT_EQ(parse_age("10m"), 600s);
  EXPECT_EQ(parse_age("12h"), 12h);
  EXPECT_EQ(parse_age("30d"), 30 * 24h);
  EXPECT_EQ(parse_age("1y"), 365 * 24h);
  EXPECT_EQ(parse_age("100y"), 36'500 * 24h);
  EXPECT_EQ(parse_age("0"), 0s);
  EXPECT_EQ(parse_age("0d"), 0s);
  for (auto const* const text : {"", "s", "1", "-1s", "1.5h", "1ms", "1 d", "101y", "1yy",
                                 "9223372036854775807y", "99999999999999999999s", "+1s"}) {
    EXPECT_EQ(parse_age(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace reprise::whatif
