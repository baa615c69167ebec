#include "archive/match/index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "archive/match/candidates.h"
#include "archive/match/learn.h"
#include "tests/test_seed.h"

namespace reprise {
namespace {

constexpr std::uint64_t kGroup = 0x1234'5678'9abc'def0;

std::vector<Feature> features(const std::string& target) {
  return features_of({.key = {.method = "GET", .host = "a.test", .target = target}});
}

/// One group, whose exchanges are asked for by `targets` and answered by `responses`.
MatchContents contents_of(const std::vector<std::string>& targets,
                          const std::vector<std::uint64_t>& responses) {
  MatchContents contents;
  std::vector<std::vector<Feature>> all;
  std::vector<Observation> observed;
  for (auto const& target : targets) all.push_back(features(target));
  for (std::size_t i = 0; i < all.size(); ++i) {
    observed.push_back({.features = all[i], .response = responses[i]});
  }
  auto& group = contents.groups.emplace_back();
  group.hash = kGroup;
  group.learnt = learn(observed);
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    mark(group.learnt, all[i]);
    group.members.push_back({.ordinal = i,
                             .is_partial = 0,
                             .first_feature = static_cast<std::uint32_t>(contents.features.size()),
                             .feature_count = static_cast<std::uint32_t>(all[i].size())});
    contents.features.insert(contents.features.end(), all[i].begin(), all[i].end());
  }
  contents.representations.resize(targets.size());
  contents.sites = {1, 2, 2, 3};
  return contents;
}

struct Cost {
  std::size_t candidates = 0;
  std::size_t lists = 0;
};

/// The most that look-ups among `count` exchanges of one path cost.
Cost cost_among(std::size_t count) {
  std::vector<std::string> targets;
  std::vector<std::uint64_t> responses;
  for (std::size_t i = 0; i < count; ++i) {
    targets.push_back("/p?id=" + std::to_string(i) + "&lang=" + (i % 2 == 0 ? "de" : "en") +
                      "&page=" + std::to_string(i % 40) + "&fmt=json");
    responses.push_back(i);
  }
  auto const payload = build_match_index(contents_of(targets, responses));
  auto const index = MatchIndexView::parse(payload, count).value();
  Cost most;
  for (auto const* asked :
       {"/p?id=7&lang=de&page=7&fmt=xml", "/p?id=none&lang=de&page=7&fmt=json", "/p?fmt=json",
        "/p?id=none&lang=de", "/p?other=1", "/p", "/p?id=7&id=8&lang=de&lang=en&page=1"}) {
    auto const found = find_candidates(index, kGroup, features(asked), 0);
    most.candidates = std::max(most.candidates, found.count);
    most.lists = std::max<std::size_t>(most.lists, found.lists_read);
  }
  return most;
}

TEST(MatchIndex, ComparesAsManyExchangesAmongAHundredThousandAsAmongAThousand) {
  auto const few = cost_among(1'000);
  auto const many = cost_among(100'000);
  EXPECT_EQ(few.candidates, Candidates::kMax);
  EXPECT_EQ(many.candidates, Candidates::kMax);
  EXPECT_EQ(few.lists, many.lists);
  EXPECT_LE(many.lists, 7U);
}

TEST(MatchIndex, LooksAtOneExchangeWhereNoOtherCanBeAsGood) {
  std::vector<std::string> targets;
  std::vector<std::uint64_t> responses;
  for (std::size_t i = 0; i < 5'000; ++i) {
    targets.push_back("/p?id=" + std::to_string(i) +
                      "&fmt=json&_=" + std::to_string(1'700'000'000'000 + i));
    responses.push_back(i);
  }
  auto const payload = build_match_index(contents_of(targets, responses));
  auto const index = MatchIndexView::parse(payload, targets.size()).value();
  auto const found =
      find_candidates(index, kGroup, features("/p?id=4321&fmt=json&_=1800000000000"), 0);
  ASSERT_EQ(found.count, 1U);
  EXPECT_EQ(found.all[0].ordinal, 4321U);
  EXPECT_GT(found.all[0].score, 90U);
}

TEST(MatchIndex, FindsTheBestOfAllInRandomGroups) {
  TestSeed const seed;
  std::mt19937 random(seed.value());
  auto const draw = [&random](unsigned below) { return random() % below; };
  auto const target = [&draw] {
    std::string text = "/p?";
    for (auto const* name : {"a", "b", "c", "d", "e", "t"}) {
      for (unsigned times = draw(8) == 0 ? 2 : (draw(4) == 0 ? 0 : 1); times > 0; --times) {
        auto const value = name[0] == 't' ? 1'700'000'000'000 + draw(9) : draw(4);
        text += std::string(name) + "=" + std::to_string(value) + "&";
      }
    }
    return text;
  };
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> targets(1 + draw(200));
    std::ranges::generate(targets, target);
    std::vector<std::uint64_t> responses(targets.size());
    std::ranges::generate(responses, [&] { return draw(1 + static_cast<unsigned>(round) % 9); });
    auto const contents = contents_of(targets, responses);
    auto const payload = build_match_index(contents);
    auto const index = MatchIndexView::parse(payload, targets.size()).value();
    for (int asked = 0; asked < 10; ++asked) {
      auto wanted = features(target());
      auto const found = find_candidates(index, kGroup, wanted, 0);
      mark(contents.groups[0].learnt, wanted);
      unsigned best = 0;
      for (auto const& member : contents.groups[0].members) {
        auto const own =
            std::span(contents.features).subspan(member.first_feature, member.feature_count);
        best = std::max(best, score(wanted, own));
      }
      unsigned best_found = 0;
      for (auto const& each : found.found()) best_found = std::max(best_found, each.score);
      ASSERT_EQ(best_found, best);
    }
  }
}

TEST(MatchIndex, WithAnyByteOrLengthChangedNeverLeadsOutside) {
  std::vector<std::string> targets;
  for (int i = 0; i < 6; ++i) targets.push_back("/p?id=" + std::to_string(i) + "&x=1");
  auto const payload = build_match_index(contents_of(targets, {1, 2, 3, 4, 4, 4}));
  std::size_t accepted = 0;
  auto const use = [&](const std::vector<std::byte>& changed) {
    auto const index = MatchIndexView::parse(changed, targets.size());
    if (!index) return;
    ++accepted;
    for (auto const* asked : {"/p?id=3&x=2", "/p?x=1", "/p"}) {
      auto const found = find_candidates(*index, kGroup, features(asked), 2);
      for (auto const& each : found.found()) EXPECT_LT(each.ordinal, targets.size());
    }
    EXPECT_EQ(index->representations().size(), targets.size());
    static_cast<void>(index->has_site(2));
  };
  for (std::size_t at = 0; at < payload.size(); ++at) {
    for (int const mask : {0x01, 0x80, 0xff}) {
      auto changed = payload;
      changed[at] ^= static_cast<std::byte>(mask);
      use(changed);
    }
    EXPECT_FALSE(MatchIndexView::parse(std::span(payload).first(at), targets.size()));
  }
  EXPECT_GT(accepted, payload.size()) << "hashes and features may be anything";
  EXPECT_FALSE(MatchIndexView::parse(payload, targets.size() + 1));
}

}  // namespace
}  // namespace reprise
