#include "analysis/partials/partial_table.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>

#include "analysis/contribution/share.h"
#include "analysis/partials/load_bin.h"
#include "analysis/partials/slowest.h"
#include "tests/allocated_bytes.h"
#include "tests/analysis/partials/random_views.h"
#include "tests/test_seed.h"

namespace reprise {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

const Entities& entities() {
  static const Entities kEntities =
      Entities::parse(R"([{"name":"Ads","category":"ad","domains":["*.doubleclick.net"]}])")
          .value_or(Entities());
  return kEntities;
}

/// By way of the tree: what the fast way must give.
std::vector<std::int64_t> slow_sums(const BeaconView& view, const KindRules& rules) {
  auto const tree = tree_of(view);
  auto const kinds = rules.classify(tree, entities());
  auto const shares = share_evenly(tree);
  std::vector<std::int64_t> sums(rules.kinds().size());
  for (std::size_t i = 0; i < kinds.size(); ++i) sums[kinds[i]] += shares.calls[i];
  sums[rules.gap_kind()] += shares.gap_us;
  return sums;
}

void expect_fast_way_is_slow_way(const KindRules& rules, int rounds) {
  TestSeed const seed;
  std::mt19937_64 random(seed.value());
  ViewCalls calls(rules, entities());
  FlatShares shares;
  std::size_t with_shares = 0;
  for (int i = 0; i < rounds; ++i) {
    RandomView const made(random);
    auto const window = made.view.window_us();
    std::vector<std::int64_t> sums(rules.kinds().size());
    sums[rules.gap_kind()] += shares.share(calls.flatten(made.view), window, sums);
    ASSERT_EQ(sums, slow_sums(made.view, rules)) << "round " << i;
    ASSERT_EQ(std::accumulate(sums.begin(), sums.end(), std::int64_t{0}), window);
    if (std::ranges::count_if(sums, [](auto sum) { return sum > 0; }) > 2) ++with_shares;
  }
  EXPECT_GT(with_shares, static_cast<std::size_t>(rounds) / 3);
}

TEST(FlatShares, AreTheEvenSharesOfTheTree) {
  expect_fast_way_is_slow_way(KindRules::standard(), rounds_of(10'000));
}

TEST(FlatShares, AreTheEvenSharesWhateverTheRulesAskFor) {
  for (auto const* const text :
       {"a: path=*.js\nb: phase=wait,dns party=third\nc: url=*b.css*",
        "a: time>100us\nb: phase=wait", "a: size>1000\nb: kind=task\nc: status=302",
        "a: resource=image\nb: type=text/css"}) {
    auto const rules = KindRules::parse(text);
    ASSERT_TRUE(rules) << rules.error();
    expect_fast_way_is_slow_way(*rules, 500);
  }
}

/// Hosts that look alike at both ends share a place in the memory of kinds.
TEST(FlatShares, AreTheEvenSharesOfMoreHostsThanAreRemembered) {
  ViewCalls calls(KindRules::standard(), entities());
  FlatShares shares;
  std::vector<std::string> names;
  for (int i = 0; i < 100; ++i) {
    names.push_back("https://first-half-" + std::to_string(100 + i % 50) +
                    (i % 3 == 0 ? "." : "-") + "doubleclick.net/" +
                    (i == 7 ? std::string(5'000, 'x') : "") + "a.css");
    names.push_back("https://www." + std::string(2'000, 'y') + ".doubleclick.net/");
  }
  for (int round = 0; round < 3; ++round) {
    BeaconView view{.page = "https://www.shop.test/"};
    for (std::size_t i = 0; i < names.size(); ++i) {
      auto const start = static_cast<std::int64_t>(i) * 10;
      view.requests.push_back({.name = names[i],
                               .initiator = i % 2 == 0 ? "link" : "img",
                               .start_us = start,
                               .end_us = start + 25});
    }
    std::vector<std::int64_t> sums(KindRules::standard().kinds().size());
    auto const gap = shares.share(calls.flatten(view), view.window_us(), sums);
    sums[KindRules::standard().gap_kind()] += gap;
    EXPECT_EQ(sums, slow_sums(view, KindRules::standard()));
  }
}

/// 5 MiB if each was remembered.
TEST(FlatShares, RememberNoPageThatIsTooLong) {
  ViewCalls calls(KindRules::standard(), entities());
  FlatShares shares;
  auto const before = allocated_bytes();
  for (int i = 0; i < 40; ++i) {
    auto const page = std::to_string(i) + std::string(1 << 17, 'x');
    BeaconView view{.page = page};
    view.requests.push_back({.name = "https://stats.doubleclick.net/a.js",
                             .initiator = "script",
                             .start_us = 0,
                             .end_us = 25});
    std::vector<std::int64_t> sums(KindRules::standard().kinds().size());
    auto const gap = shares.share(calls.flatten(view), view.window_us(), sums);
    sums[KindRules::standard().gap_kind()] += gap;
    ASSERT_EQ(sums, slow_sums(view, KindRules::standard()));
  }
  EXPECT_LT(allocated_bytes(), before + (1 << 20));
}

TEST(FlatShares, AreTheSameOfCallsInAnyOrder) {
  TestSeed const seed;
  std::mt19937_64 random(seed.value());
  std::vector<FlatCall> calls;
  for (std::int64_t i = 0; i < 3'000; ++i) {
    calls.push_back({.start_us = i, .end_us = i + 50, .kind = static_cast<std::uint8_t>(i % 3)});
  }
  FlatShares shares;
  std::vector<std::int64_t> sorted(3), shuffled(3);
  auto const gap = shares.share(calls, 4'000, sorted);
  std::ranges::shuffle(calls, random);
  EXPECT_EQ(shares.share(calls, 4'000, shuffled), gap);
  // Among equal remainders those that start first win: that does not depend on places.
  EXPECT_EQ(shuffled, sorted);
}

/// The smallest window of a bin, in us.
std::int64_t load_bin_start_us(std::uint32_t bin) {
  auto const octave = bin / kLoadBinsInOctave;
  auto const scaled = static_cast<std::uint64_t>(kLoadBinUnitUs) << octave;
  return static_cast<std::int64_t>(
      (scaled * (kLoadBinsInOctave + bin % kLoadBinsInOctave) + kLoadBinsInOctave - 1) /
      kLoadBinsInOctave);
}

TEST(LoadBin, HasFixedBoundsThatLieCloseTogether) {
  EXPECT_EQ(load_bin(0), 0u);
  EXPECT_EQ(load_bin(100), 0u);
  EXPECT_EQ(load_bin(104), 1u);
  EXPECT_EQ(load_bin(200), 32u);
  EXPECT_EQ(load_bin(3'800'000), 15u * 32 + 5);
  EXPECT_LT(load_bin(CallTree::kWindowUsMax), kLoadBins);
  for (std::uint32_t bin = 1; bin <= load_bin(CallTree::kWindowUsMax); ++bin) {
    auto const start = load_bin_start_us(bin);
    ASSERT_EQ(load_bin(start), bin);
    ASSERT_EQ(load_bin(start - 1), bin - 1);
    auto const width = static_cast<double>(load_bin_start_us(bin + 1) - start);
    ASSERT_LE(width, static_cast<double>(start) / 32 + 1);
  }
}

class Partials : public testing::Test {
 protected:
  static PartialSink into(std::string& text) {
    return [&text](std::string_view line) { text += line; };
  }
  static std::string sorted(const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size();) {
      auto const end = text.find('\n', at);
      lines.push_back(text.substr(at, end - at + 1));
      at = end + 1;
    }
    std::ranges::sort(lines);
    return std::accumulate(lines.begin(), lines.end(), std::string());
  }
  static std::string merged(const std::string& text) {
    std::string out;
    PartialMerge merge(into(out));
    fault_.clear();
    for (std::size_t at = 0; at < text.size() && fault_.empty();) {
      auto const end = std::min(text.find('\n', at), text.size());
      fault_ = merge.add(std::string_view(text).substr(at, end - at));
      at = end + 1;
    }
    merge.finish();
    bad_lines_ = merge.bad_lines();
    return out;
  }
  static std::string map(const std::vector<std::unique_ptr<RandomView>>& views, std::size_t first,
                         std::size_t count) {
    std::string out;
    PartialTable table(KindRules::standard(), entities(), {"network"}, into(out));
    for (std::size_t i = 0; i < count; ++i) table.add(views.at(first + i)->view);
    table.flush();
    return out;
  }

  inline static std::string fault_;
  inline static std::uint64_t bad_lines_ = 0;
};

TEST_F(Partials, HaveTheSameBytesHoweverTheyAreCutAndCombined) {
  TestSeed const seed;
  std::mt19937_64 random(seed.value());
  std::vector<std::unique_ptr<RandomView>> views;
  for (int i = 0; i < 600; ++i) views.push_back(std::make_unique<RandomView>(random));
  auto const whole = map(views, 0, views.size());
  EXPECT_EQ(sorted(whole), whole);
  for (std::size_t const shard : {1u, 7u, 100u}) {
    std::string never, once, twice;
    for (std::size_t at = 0; at < views.size(); at += shard) {
      auto const part = map(views, at, std::min(shard, views.size() - at));
      never += part;
      once += merged(part);
      // A combiner of two parts' output, whose lines come again to another one.
      twice += merged(sorted(merged(part)));
    }
    EXPECT_EQ(merged(sorted(never)), whole) << shard;
    EXPECT_EQ(merged(sorted(once)), whole) << shard;
    EXPECT_EQ(merged(merged(sorted(twice))), whole) << shard;
  }
  std::ranges::shuffle(views, random);
  EXPECT_EQ(map(views, 0, views.size()), whole);
}

TEST_F(Partials, HaveKeysThatNothingInAPageCanBreak) {
  BeaconView view{.page = "https://a.test/\t|\n%\xff?secret#top"};
  view.started_unix_ms = 1795380877766.8;
  view.load_us = 3'800'000;
  view.add_tag("network", "4g|\t");
  std::string out;
  PartialTable table(KindRules::standard(), entities(), {"country", "network"}, into(out));
  table.add(view);
  table.flush();
  EXPECT_THAT(out, StartsWith("2026-11-22|https://a.test/%09%7C%0A%25\ufffd||4g%7C%09|485\t1\t"
                              "3800000\t"));
  PartialLine line;
  out.pop_back();
  ASSERT_TRUE(read_partial_line(out, line));
  EXPECT_THAT(line.sums, SizeIs(2 + KindRules::standard().kinds().size()));
  view.started_unix_ms = 1e300;
  table.add(view);
  out.clear();
  table.flush();
  EXPECT_THAT(out, StartsWith("|https://a.test/"));
}

TEST_F(Partials, AddUpLineByLine) {
  EXPECT_EQ(merged("a|1\t1\t10\t4\na|1\t2\t30\t0\na|2\t1\t5\t5\n"),
            "a|1\t3\t40\t4\na|2\t1\t5\t5\n");
  EXPECT_EQ(merged(""), "");
}

TEST_F(Partials, CountLinesThatAreNone) {
  EXPECT_EQ(merged("a\t1\t2\n\nb\nc\t-1\t3\nd\t1\tx\n\t1\t2\ne\t1\t\na\t1\t2\n"), "a\t2\t4\n");
  EXPECT_EQ(bad_lines_, 6u);
  EXPECT_EQ(fault_, "");
}

TEST_F(Partials, RefuseWhatCannotBeAdded) {
  merged("b\t1\t2\na\t1\t2\n");
  EXPECT_THAT(fault_, HasSubstr("line 2 is not in the order"));
  merged("a\t1\t2\nb\t1\t2\t3\n");
  EXPECT_THAT(fault_, HasSubstr("another number of sums"));
  merged("a\t1\t9223372036854775807\na\t1\t1\n");
  EXPECT_THAT(fault_, HasSubstr("too large"));
}

TEST(Slowest, TakesTheBinsFromTheTopAndAPartOfTheLast) {
  LoadBins bins;
  PartialLine line;
  for (auto const* const text : {"d|p|4g|10\t6\t60\t30", "d|q|4g|20\t2\t40\t40",
                                 "d|p|3g|20\t2\t44\t4", "d|p|4g|0\t10\t10\t0"}) {
    ASSERT_TRUE(read_partial_line(text, line));
    ASSERT_TRUE(bins.add(line));
  }
  EXPECT_THAT(bins.slowest(100), ElementsAre(20, 154, 74));
  EXPECT_THAT(bins.slowest(20), ElementsAre(4, 84, 44));
  EXPECT_THAT(bins.slowest(35), ElementsAre(7, 114, 59));
  EXPECT_THAT(bins.slowest(10), ElementsAre(2, 42, 22));
  for (auto const* const text :
       {"d|p|4g|1000\t6\t60\t30", "d|p|4g|x\t1\t2\t3", "dp\t1\t2\t3", "d|p|4g|10\t6\t60"}) {
    ASSERT_TRUE(read_partial_line(text, line));
    EXPECT_FALSE(bins.add(line));
  }
}

TEST(Slowest, IsCloseToTheExactAnswer) {
  TestSeed const seed;
  std::mt19937_64 random(seed.value());
  std::lognormal_distribution<double> times(14.5, .6);
  LoadBins bins;
  std::vector<std::int64_t> windows;
  for (int i = 0; i < 20'000; ++i) {
    windows.push_back(static_cast<std::int64_t>(times(random)));
    auto const key = "d|p|" + std::to_string(load_bin(windows.back()));
    ASSERT_TRUE(bins.add({.key = key, .sums = {1, windows.back()}}));
  }
  std::ranges::sort(windows, std::greater());
  for (auto const percent : {1., 10., 50.}) {
    auto const count = static_cast<std::ptrdiff_t>(200 * percent);
    auto const exact = static_cast<double>(
        std::accumulate(windows.begin(), windows.begin() + count, std::int64_t{0}));
    auto const slowest = bins.slowest(percent);
    EXPECT_THAT(slowest, ElementsAre(DoubleNear(static_cast<double>(count), 1e-6),
                                     DoubleNear(exact, exact * .005)));
  }
}

}  // namespace
}  // namespace reprise
