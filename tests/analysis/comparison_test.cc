#include "analysis/comparison.h"

#include <gmock/gmock.h>

#include "tests/analysis/result_text.h"

using namespace reprise;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

/// Ten loads around the load event of `like`, and a warm-up far from it.
std::vector<std::string> loads_like(LoadText like) {
  std::vector<std::string> out;
  double const base = like.load_ms;
  like.warm_up = true;
  like.load_ms = base * 3;
  out.push_back(load_text(like));
  like.warm_up = false;
  for (int i = 0; i < 10; ++i) {
    like.load_ms = base + i;
    out.push_back(load_text(like));
  }
  return out;
}

Measurements read(const std::vector<std::string>& loads, const ResultText& of = {}) {
  auto read = measured(result_text(loads, of));
  EXPECT_TRUE(read) << read.error();
  return read.value_or(Measurements{});
}

/// Ten loads, and so many that failed.
Measurements failing(int count) {
  auto loads = loads_like({});
  for (int i = 0; i < count; ++i) loads.push_back(load_text({.outcome = "timed-out"}));
  return read(loads);
}

std::vector<std::string> refusals(const Measurements& a, const Measurements& b,
                                  CompareOptions options = {}) {
  std::vector<std::string> out;
  for (const Refusal& each : compare(a, b, options).refusals) {
    out.push_back(std::string(to_string(each.difference)) + ": " + each.text);
  }
  return out;
}

}  // namespace

TEST(Compare, FindsASlowerB) {
  auto const out = compare(read(loads_like({})), read(loads_like({.load_ms = 1030})), {});
  EXPECT_THAT(out.refusals, IsEmpty());
  EXPECT_EQ(out.verdict, Verdict::kDifferent);
  ASSERT_EQ(out.pages.size(), 1U);
  const ComparedPage& page = out.pages.front();
  EXPECT_EQ(page.a.loads.size(), 10U);
  EXPECT_EQ(page.a.warm_ups, 1U);
  ASSERT_EQ(page.metrics.size(), 3U);  // load event, requests, bytes; no load has the others
  EXPECT_EQ(page.metrics[0].finding.shift.estimate, 30);
  EXPECT_EQ(page.metrics[0].finding.verdict, Verdict::kDifferent);
  EXPECT_EQ(page.metrics[1].finding.verdict, Verdict::kSame);
}

TEST(Compare, FindsNoDifferenceInTheSame) {
  auto const a = read(loads_like({}));
  EXPECT_EQ(compare(a, a, {}).verdict, Verdict::kSame);
}

TEST(Compare, ComparesLoadsWithTheSameLosses) {
  std::vector<std::string> as, bs;
  for (int i = 0; i < 10; ++i) {  // each seed is that of two loads
    double const lossy = 2000 + 900 * ((i / 2 * 3) % 5) + i % 2;
    as.push_back(load_text({.load_ms = lossy}));
    bs.push_back(load_text({.load_ms = lossy + 60}));
  }
  auto a = read(as), b = read(bs);
  EXPECT_EQ(compare(a, b, {}).verdict, Verdict::kUndecided);
  for (auto* const side : {&a, &b}) {
    for (std::size_t i = 0; i < side->loads.size(); ++i) {
      side->loads[i].link_seed = static_cast<double>(i / 2);
    }
  }
  auto const paired = compare(a, b, {});
  EXPECT_EQ(paired.verdict, Verdict::kDifferent);
  EXPECT_EQ(paired.pages.at(0).metrics.at(0).finding.shift.estimate, 60);
  EXPECT_THAT(paired.remarks, Contains(HasSubstr("the same losses")));

  for (LoadRow& load : b.loads) *load.link_seed += 100;
  EXPECT_EQ(compare(a, b, {}).verdict, Verdict::kUndecided) << "other losses";
  for (auto* const side : {&a, &b}) {
    for (LoadRow& load : side->loads) load.link_seed = 7;
  }
  EXPECT_EQ(compare(a, b, {}).verdict, Verdict::kUndecided) << "one seed tells nothing apart";
}

TEST(Compare, SaysWhichLoadsHaveNoneToBeComparedWith) {
  auto a = read(loads_like({})), b = read(loads_like({}));
  for (LoadRow& load : a.loads) load.node = "one";
  for (LoadRow& load : b.loads) load.node = "two";
  auto const none = compare(a, b, {});
  EXPECT_EQ(none.pages.at(0).unpaired, 20U);
  EXPECT_FALSE(none.pages.at(0).metrics.at(0).finding.is_compared());
  EXPECT_THAT(none.remarks, Contains("https://a.test/: nothing is compared: no node has loads of "
                                     "both A and B"));
  for (std::size_t i = 0; i < 5; ++i) b.loads[i].node = "one";  // the first is the warm-up
  EXPECT_THAT(compare(a, b, {}).remarks,
              Contains("https://a.test/: skipped: 6 of 20 loads, because the other side has no "
                       "load of the same node"));
}

TEST(Compare, RefusesOtherRequestsUnlessTheyAreTheQuestion) {
  auto const a = read(loads_like({}));
  auto const b = read(loads_like({.requests = {"https://a.test/", "https://a.test/more"}}));
  EXPECT_THAT(refusals(a, b),
              ElementsAre(HasSubstr("requests: the pages request different URLs: in B alone: GET "
                                    "https://a.test/more")));
  EXPECT_THAT(refusals(a, b, {.allowed = {Mismatch::kRequests}}), IsEmpty());
}

TEST(Compare, TakesRequestsThatDifferInVolatileValuesForTheSame) {
  auto const asking = [](const std::string& query) {
    return read(loads_like({.requests = {"https://a.test/", "https://a.test/items?" + query}}));
  };
  auto const a = asking("t=1732845600123&r=0.531720491501");
  auto const b = asking("t=1732846677889&r=0.220817263999");
  EXPECT_THAT(refusals(a, b), IsEmpty());
  EXPECT_THAT(compare(a, b, {}).remarks, Contains(HasSubstr("or like a time differ: r, t")));
  EXPECT_THAT(refusals(asking("id=4"), asking("id=5")), ElementsAre(HasSubstr("requests: ")));
}

TEST(Compare, IgnoresTheBrowsersOwnRequests) {
  auto const a = read(loads_like({}));
  auto const b = read(loads_like({.requests = {"https://a.test/", "https://a.test/favicon.ico"}}));
  EXPECT_THAT(refusals(a, b), IsEmpty());
}

TEST(Compare, TakesARequestOfFewLoadsForNoDifference) {
  auto loads = loads_like({});
  loads.push_back(load_text({.requests = {"https://a.test/", "https://a.test/once"}}));
  EXPECT_THAT(refusals(read(loads_like({})), read(loads)), IsEmpty());
}

TEST(Compare, RefusesAnotherArchiveBrowserOrMisses) {
  auto const a = read(loads_like({}));
  EXPECT_THAT(refusals(a, read(loads_like({}), {.sha256 = "bb22"})),
              ElementsAre(HasSubstr("archive: A was loaded from a.reprise (aa11)")));
  EXPECT_THAT(refusals(a, read(loads_like({}), {.browser = "Chrome/2"})),
              ElementsAre("browser: chromium is Chrome/1 in A, Chrome/2 in B"));
  ResultText found;
  found.replay = R"({"run":1,"exit_code":0,"report":{"distinct_misses":[],)"
                 R"("link":{"shaper":"packet","self_check":{"ok":true},"doubts":[]}}})";
  EXPECT_THAT(refusals(a, read(loads_like({}), found)),
              ElementsAre(HasSubstr("misses: the requests missing from the archives differ")));
}

TEST(Compare, RefusesTraceFilesWithOtherContents) {
  auto const over = [](const std::string& trace) {
    ResultText of;
    of.replay = R"({"run":1,"exit_code":0,"report":{"link":{"shaper":"packet",)"
                R"("self_check":{"ok":true},"doubts":[],"link":{"down":{"trace":)" +
                trace + R"(},"up":{"trace":null}}}}})";
    return read(loads_like({.link = "cell.trace"}), of);
  };
  auto const a = over(R"({"sha256":"aa"})");
  auto const b = over(R"({"sha256":"bb"})");
  EXPECT_THAT(refusals(a, a), IsEmpty());
  EXPECT_THAT(refusals(a, b), ElementsAre("link: the trace files of cell.trace have different "
                                          "contents in the loads of A and B"));
  EXPECT_THAT(refusals(a, b, {.allowed = {Mismatch::kLink}}), IsEmpty());
  EXPECT_THAT(refusals(a, over(R"({"file":"of an older result"})")), IsEmpty());
}

TEST(Compare, RefusesAnUncheckedLink) {
  ResultText off;
  off.replay =
      R"({"run":1,"exit_code":0,"report":{"distinct_misses":[)"
      R"({"method":"GET","url":"https://a.test/lost"}],)"
      R"("link":{"shaper":"packet","self_check":{"skipped":"--no-selfcheck"},"doubts":[]}}})";
  auto const unchecked = read(loads_like({}), off);
  EXPECT_THAT(refusals(unchecked, unchecked),
              Contains(HasSubstr("calibration: the link was not checked in A")));
  EXPECT_FALSE(compare(unchecked, unchecked, {}).refusals.front().may_pass);
  EXPECT_THAT(refusals(unchecked, unchecked, {.allowed = {Mismatch::kCalibration}}), IsEmpty());
}

TEST(Compare, LeavesOutLoadsOfADoubtfulLinkAndRefusesMany) {
  auto loads = loads_like({});
  loads.push_back(load_text({.load_ms = 9000, .replay = 1}));
  auto const a = read(loads_like({}));
  auto const out = compare(a, read(loads), {});
  EXPECT_EQ(out.verdict, Verdict::kSame);
  EXPECT_EQ(out.pages.front().b.doubtful, 1U);
  for (int i = 0; i < 3; ++i) loads.push_back(loads.back());
  EXPECT_THAT(refusals(a, read(loads)),
              ElementsAre(HasSubstr("calibration: the machine disturbed 4 of 14")));
}

TEST(Compare, PairsConditionsThatMayDiffer) {
  auto const a = read(loads_like({.protocol = "h1"}));
  auto const b = read(loads_like({.load_ms = 900}));
  EXPECT_THAT(refusals(a, b), ElementsAre("protocol: A was loaded with h1, B with h2"));
  auto const out = compare(a, b, {.allowed = {Mismatch::kProtocol}});
  EXPECT_EQ(out.verdict, Verdict::kDifferent);
  EXPECT_EQ(out.pages.front().metrics[0].finding.shift.estimate, -100);
}

TEST(Compare, RefusesToGuessWhichConditionsAreMeant) {
  auto both = loads_like({.protocol = "h1"});
  for (auto& each : loads_like({.protocol = "h2"})) both.push_back(each);
  EXPECT_THAT(refusals(read(both), read(both)), IsEmpty());
  EXPECT_THAT(refusals(read(both), read(loads_like({})), {.allowed = {Mismatch::kProtocol}}),
              ElementsAre(HasSubstr("protocol: A has both h1 and h2 of https://a.test/")));
}

TEST(Compare, TakesOneFailedLoadForChanceAndSaysSo) {
  auto const a = failing(0), b = failing(1);
  auto const out = compare(a, b, {});
  EXPECT_EQ(out.verdict, Verdict::kSame);
  EXPECT_FALSE(out.pages.front().failures_differ);
  EXPECT_EQ(out.pages.front().b.failed, 1U);
  EXPECT_THAT(out.pages.front().b.failures, ElementsAre("timed-out: "));
  EXPECT_THAT(out.remarks, ElementsAre(HasSubstr("1 of 11 loads failed in B and none")));
  EXPECT_THAT(compare(b, a, {}).remarks, ElementsAre(HasSubstr("failed in A and none")));
  EXPECT_EQ(compare(b, b, {}).verdict, Verdict::kSame);
  EXPECT_THAT(compare(b, b, {}).remarks, IsEmpty());
}

TEST(Compare, IsNotTheSameIfMoreThanAFifthFailedOnOneSideAlone) {
  EXPECT_EQ(compare(failing(0), failing(2), {}).verdict, Verdict::kSame);
  EXPECT_EQ(compare(failing(0), failing(3), {}).verdict, Verdict::kUndecided);
  EXPECT_EQ(compare(failing(3), failing(0), {}).verdict, Verdict::kUndecided);
}

TEST(Compare, CallsManyMoreFailedLoadsDifferent) {
  EXPECT_TRUE(compare(failing(0), failing(10), {}).pages.front().failures_differ);
  auto const out = compare(failing(1), failing(30), {});
  EXPECT_EQ(out.verdict, Verdict::kDifferent);
  EXPECT_TRUE(out.pages.front().failures_differ);
  EXPECT_FALSE(compare(failing(1), failing(2), {}).pages.front().failures_differ);
  // What is left of them is not the page.
  EXPECT_EQ(compare(failing(11), failing(11), {}).verdict, Verdict::kUndecided);
  EXPECT_EQ(compare(failing(10), failing(10), {}).verdict, Verdict::kSame);
}

TEST(Compare, KnowsWhatMoreLoadsCanStillDecide) {
  auto const a = read(loads_like({}));
  EXPECT_FALSE(has_undecided(compare(a, a, {})));
  EXPECT_FALSE(has_undecided(compare(failing(0), failing(10), {})));
  EXPECT_TRUE(has_undecided(compare(failing(0), failing(3), {}))) << "too many failed";
  auto const failed = read({load_text({.outcome = "timed-out"})});
  EXPECT_TRUE(has_undecided(compare(a, failed, {}))) << "B has no load event";
}

TEST(Compare, TakesOneLoadThatFailedForChanceIfMoreFollow) {
  auto const failed = read({load_text({.outcome = "timed-out"})});
  auto const one = read({load_text({})});
  EXPECT_EQ(compare(one, failed, {}).verdict, Verdict::kDifferent);
  EXPECT_EQ(compare(one, failed, {.all_failed_differ = false}).verdict, Verdict::kUndecided);
}

TEST(Compare, RefusesWhereAllLoadsOfBothSidesFailed) {
  auto const failed = read({load_text({.outcome = "timed-out"})});
  EXPECT_THAT(
      refusals(failed, failed),
      ElementsAre("pages: all loads of https://a.test/ failed, in A and in B: timed-out: "));
  EXPECT_EQ(compare(read(loads_like({})), failed, {}).verdict, Verdict::kDifferent);
}

TEST(Compare, DoesNotMindABrowserThatNeverStarted) {
  EXPECT_THAT(refusals(read(loads_like({})), read(loads_like({}), {.browser = ""})), IsEmpty());
}

TEST(Compare, RefusesAnErrorPageOfOneSideHoweverFastItIs) {
  auto const page = read(loads_like({})),
             broken = read(loads_like({.load_ms = 100, .status = 500}));
  EXPECT_THAT(refusals(page, broken),
              ElementsAre("status: https://a.test/ has no error in A and the status 500 in B: the "
                          "times of an error page are not those of the page. Repair the page in "
                          "B, and measure again"));
  EXPECT_FALSE(compare(page, broken, {}).refusals.front().may_pass);
  EXPECT_THAT(refusals(read(loads_like({.requests = {"https://a.test/", "https://a.test/x"}})),
                       read(loads_like({.status = 500}))),
              ElementsAre(HasSubstr("the status 500 in B"), HasSubstr("request different")));
  EXPECT_THAT(refusals(broken, page), ElementsAre(HasSubstr("Repair the page in A,")));
  EXPECT_THAT(refusals(broken, read(loads_like({.status = 404}))),
              ElementsAre(HasSubstr("has the status 500 in A and the status 404 in B")));
  auto const allowed = compare(page, broken, {.allowed = {Mismatch::kStatus}});
  EXPECT_EQ(allowed.verdict, Verdict::kDifferent);
  EXPECT_EQ(allowed.pages.at(0).b.loads.size(), 10U);
}

TEST(Compare, ComparesAnErrorPageOfBothSidesAndSaysSo) {
  auto const broken = read(loads_like({.status = 500}));
  auto const out = compare(broken, broken, {});
  EXPECT_EQ(out.verdict, Verdict::kSame);
  EXPECT_THAT(out.remarks, ElementsAre("https://a.test/ has the status 500 in A and in B: an error "
                                       "page was compared"));
}

TEST(Compare, CountsGoodLoadsOfAnErrorPageAsFailed) {
  auto const broken = read(loads_like({.load_ms = 100, .status = 500}));
  std::vector<std::string> loads;
  for (int i = 0; i < 10; ++i) {
    auto const load =
        i < 6 ? LoadText{.load_ms = 100.0 + i, .status = 500} : LoadText{.load_ms = 1000.0 + i};
    loads.push_back(load_text(load));
  }
  auto const mixed = read(loads);
  auto const out = compare(mixed, broken, {});
  EXPECT_THAT(out.refusals, IsEmpty());
  EXPECT_EQ(out.verdict, Verdict::kUndecided) << "too many of A failed to call the rest the same";
  const LoadGroup& a = out.pages.at(0).a;
  EXPECT_EQ(a.loads.size(), 6U);
  EXPECT_EQ(a.failed, 4U);
  EXPECT_THAT(a.failures, ElementsAre("the page does not have the status 500 of most loads"));
  EXPECT_THAT(out.remarks, Contains(HasSubstr("4 of 10 loads failed in A and none in the other")));
  auto const allowed = compare(mixed, broken, {.allowed = {Mismatch::kStatus}});
  EXPECT_EQ(allowed.pages.at(0).a.loads.size(), 10U);
}

TEST(Compare, FindsThatAnErrorPageDoesNotLoadAnyMore) {
  auto const broken = read(loads_like({.status = 404}));
  auto const failed = read(loads_like({.outcome = "timed-out"}));
  EXPECT_EQ(compare(broken, failed, {}).verdict, Verdict::kDifferent);
  EXPECT_EQ(compare(failed, broken, {}).verdict, Verdict::kDifferent);
}

TEST(Compare, CountsFewErrorPagesAsFailedLoads) {
  auto const with_errors = [](int count) {
    auto loads = loads_like({});
    for (int i = 0; i < count; ++i) loads.push_back(load_text({.load_ms = 9, .status = 503}));
    return read(loads);
  };
  auto const out = compare(with_errors(0), with_errors(1), {});
  EXPECT_EQ(out.verdict, Verdict::kSame);
  EXPECT_EQ(out.pages.at(0).b.failed, 1U);
  EXPECT_THAT(out.pages.at(0).b.failures, ElementsAre("the page has the status 503"));
  auto const many = compare(with_errors(0), with_errors(11), {}).refusals;
  ASSERT_EQ(many.size(), 1U);
  EXPECT_TRUE(many.front().may_pass) << "some loads of B have no error";
}

TEST(Compare, KnowsWhichDifferencesOfRequestsCanBeChance) {
  auto const with_beacon = [](int in_loads) {
    std::vector<std::string> loads;
    for (int i = 0; i < 5; ++i) {
      LoadText load;
      if (i < in_loads) load.requests.push_back("https://a.test/beacon");
      loads.push_back(load_text(load));
    }
    return read(loads);
  };
  auto const may_pass = [](const Measurements& a, const Measurements& b) {
    auto const refused = compare(a, b, {}).refusals;
    EXPECT_EQ(refused.size(), 1u);
    return refused.empty() || refused.front().may_pass;
  };
  EXPECT_TRUE(may_pass(with_beacon(2), with_beacon(3)));
  EXPECT_TRUE(may_pass(with_beacon(1), with_beacon(5)));
  EXPECT_FALSE(may_pass(with_beacon(0), with_beacon(5)));
}

TEST(Compare, SaysThatTheMachinesDiffer) {
  auto const out = compare(read(loads_like({})), read(loads_like({}), {.cpu = "Other"}), {});
  EXPECT_THAT(out.remarks, ElementsAre("the machines differ: Example, 2 cores and Other, 2 cores"));
}

TEST(Compare, SaysThatSlowLoadsLostPacketsInTheQueue) {
  auto loads = loads_like({});
  loads.push_back(load_text({.load_ms = 1700, .replay = 1}));
  ResultText const dropping{
      .doubtful_replay =
          R"({"run":1,"exit_code":0,"report":{"distinct_misses":[],"link":{"shaper":"packet",)"
          R"("self_check":{"ok":true},"doubts":[],"down":{"queue_drops":3}}}})"};
  CompareOptions const options{.allowed = {Mismatch::kMisses}};
  EXPECT_THAT(compare(read(loads_like({})), read(loads, dropping), options).remarks,
              ElementsAre("https://a.test/ in B: 1 of 11 loads took 695 ms longer, and the link's "
                          "queue dropped packets in it: when the last packets of a response are "
                          "dropped, it waits for a timeout. A longer queue has room for them: "
                          "--link LINK,queue=1000p"));
  EXPECT_THAT(compare(read(loads), read(loads_like({})), options).remarks, IsEmpty());
}

TEST(Compare, NamesAPageThatOnlyOneSideHasWhereThatIsAllowed) {
  auto both = loads_like({});
  for (auto const* const protocol : {"h1", "h2"}) {
    for (auto& each : loads_like({.url = "https://b.test/", .protocol = protocol})) {
      both.push_back(each);
    }
  }
  auto const a = read(both), b = read(loads_like({}));
  EXPECT_THAT(refusals(a, b), ElementsAre("pages: only A has loads of https://b.test/"));
  EXPECT_TRUE(compare(a, b, {}).refusals.front().may_be_allowed);
  CompareOptions const options{.allowed = {Mismatch::kPages}};
  auto const out = compare(a, b, options);
  EXPECT_EQ(out.verdict, Verdict::kSame);
  EXPECT_EQ(out.pages.size(), 1U);
  EXPECT_THAT(out.remarks, ElementsAre("not compared: only A has loads of https://b.test/"));
  EXPECT_THAT(compare(b, a, options).remarks,
              ElementsAre("not compared: only B has loads of https://b.test/"));
}

TEST(Compare, RefusesSidesWithoutACommonPageWhateverIsAllowed) {
  auto const a = read(loads_like({})), b = read(loads_like({.url = "https://b.test/"}));
  CompareOptions const options{.allowed = {Mismatch::kPages}};
  EXPECT_THAT(refusals(a, b, options), ElementsAre("pages: no page has loads in both A and B"));
  for (auto const& refused : {compare(a, b, options), compare(a, b, {})}) {
    EXPECT_FALSE(refused.refusals.front().may_be_allowed);
    EXPECT_FALSE(refused.refusals.front().may_pass);
  }
  EXPECT_THAT(refusals(read({}), read({}), options),
              ElementsAre("pages: no page has loads in both A and B"));
}

TEST(Compare, KnowsWhichLinksMoreLoadsDoNotMakeAlike) {
  auto const over = [](const std::string& shapers) {
    auto all = read(loads_like({}));
    all.replays.clear();
    for (char const c : shapers) {
      all.replays.push_back({.calibration = c == 'p' ? "packet" : "stream"});
    }
    for (std::size_t i = 0; i < all.loads.size(); ++i) {
      all.loads[i].replay = i % all.replays.size();
    }
    return all;
  };
  CompareOptions const options{.allowed = {Mismatch::kMisses}};
  EXPECT_FALSE(compare(over("p"), over("s"), options).refusals.at(0).may_pass);
  EXPECT_TRUE(compare(over("ps"), over("s"), options).refusals.at(0).may_pass);
}

TEST(Compare, RefusesPagesThatOnlyOneSideHas) {
  EXPECT_THAT(refusals(read(loads_like({})), read(loads_like({.url = "https://b.test/"}))),
              ElementsAre("pages: only A has loads of https://a.test/",
                          "pages: only B has loads of https://b.test/"));
}
