#include "archive/match/index.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>

#include "archive/hash_directory.h"

namespace reprise {
namespace {

/// The numbers in the head, in file order.
enum Head : std::size_t {
  kVersion,
  kEntries,
  kGroups,
  kMembers,
  kFeatures,
  kPairs,
  kSites,
  kPostings,
  kLearnt,
  kGroupBits,
  kPairBits,
  kHeadNumbers,
};
static_assert(kHeadNumbers * sizeof(std::uint32_t) <= kMatchIndexHeadBytes);

/// Checked when the index was opened, and limited again here: another process may write to the
/// mapped file.
template <class T>
std::span<const T> between(std::span<const T> all, std::size_t begin, std::size_t end) {
  end = std::min(end, all.size());
  begin = std::min(begin, end);
  return all.subspan(begin, end - begin);
}

using HeadNumbers = std::array<std::uint32_t, kHeadNumbers>;

}  // namespace

/// The start of each section, computed from the head.
struct MatchIndexView::Sections {
  std::uint64_t groups, members, features, pairs, representations, sites, first_postings, postings,
      learnt, group_buckets, pair_buckets, end;

  explicit Sections(const HeadNumbers& head) {
    std::uint64_t at = kMatchIndexHeadBytes;
    auto const take = [&at](std::uint64_t count, std::size_t bytes) {
      auto const begin = at;
      at += count * bytes;
      return begin;
    };
    groups = take(std::uint64_t{head[kGroups]} + 1, sizeof(GroupRow));
    members = take(head[kMembers], sizeof(MatchMember));
    features = take(head[kFeatures], sizeof(Feature));
    pairs = take(head[kPairs], sizeof(std::uint64_t));
    representations = take(head[kEntries], sizeof(Representation));
    sites = take(head[kSites], sizeof(std::uint64_t));
    first_postings = take(std::uint64_t{head[kPairs]} + 1, sizeof(std::uint32_t));
    postings = take(head[kPostings], sizeof(std::uint32_t));
    learnt = take(head[kLearnt], sizeof(LearntName));
    group_buckets = take(directory_size(head[kGroupBits]), sizeof(std::uint32_t));
    pair_buckets = take(directory_size(head[kPairBits]), sizeof(std::uint32_t));
    end = at;
  }
};

/// Converts contents to sections.
struct MatchIndexView::Builder {
  struct Posting {
    std::uint64_t pair;
    std::uint32_t member;
    auto operator<=>(const Posting&) const = default;
  };

  std::vector<GroupRow> groups;
  std::vector<MatchMember> members;
  std::vector<LearntName> learnt;
  std::vector<Posting> all;
  std::vector<std::uint64_t> pairs;
  std::vector<std::uint32_t> first_postings;
  std::vector<std::uint32_t> postings;

  void add_group(const MatchContents::Group& group, std::span<const Feature> features);
  void finish();
};

void MatchIndexView::Builder::add_group(const MatchContents::Group& group,
                                        std::span<const Feature> features) {
  groups.push_back({.hash = group.hash,
                    .first_member = static_cast<std::uint32_t>(members.size()),
                    .first_learnt = static_cast<std::uint32_t>(learnt.size())});
  learnt.insert(learnt.end(), group.learnt.begin(), group.learnt.end());
  for (const MatchMember& member : group.members) {
    auto const number = static_cast<std::uint32_t>(members.size());
    members.push_back(member);
    if (member.feature_count == 0) continue;
    auto const own = features.subspan(member.first_feature, member.feature_count);
    auto const post = [&](std::uint64_t identity) {
      all.push_back({.pair = pair_hash(group.hash, identity), .member = number});
    };
    post(steady_identity(own));
    post(names_identity(own));
    for (auto const feature : own) {
      if (relevance_of(feature) != Relevance::kVolatile) post(identity_of(feature));
    }
  }
}

void MatchIndexView::Builder::finish() {
  groups.push_back({.hash = 0,
                    .first_member = static_cast<std::uint32_t>(members.size()),
                    .first_learnt = static_cast<std::uint32_t>(learnt.size())});
  std::ranges::sort(all);
  auto const repeated = std::ranges::unique(all);
  all.erase(repeated.begin(), repeated.end());
  for (const Posting& posting : all) {
    if (pairs.empty() || pairs.back() != posting.pair) {
      pairs.push_back(posting.pair);
      first_postings.push_back(static_cast<std::uint32_t>(postings.size()));
    }
    postings.push_back(posting.member);
  }
  first_postings.push_back(static_cast<std::uint32_t>(postings.size()));
}

std::vector<std::byte> build_match_index(MatchContents contents) {
  std::ranges::sort(contents.groups, {}, &MatchContents::Group::hash);
  std::ranges::sort(contents.sites);
  auto const repeated = std::ranges::unique(contents.sites);
  contents.sites.erase(repeated.begin(), repeated.end());
  MatchIndexView::Builder made;
  for (auto const& group : contents.groups) made.add_group(group, contents.features);
  made.finish();

  auto const group_count = contents.groups.size();
  auto const group_bits = directory_bits(group_count);
  auto const pair_bits = directory_bits(made.pairs.size());
  auto const u32 = [](std::size_t number) { return static_cast<std::uint32_t>(number); };
  HeadNumbers const head = {kMatchIndexVersion,
                            u32(contents.representations.size()),
                            u32(group_count),
                            u32(made.members.size()),
                            u32(contents.features.size()),
                            u32(made.pairs.size()),
                            u32(contents.sites.size()),
                            u32(made.postings.size()),
                            u32(made.learnt.size()),
                            group_bits,
                            pair_bits};
  MatchIndexView::Sections const at(head);
  std::vector<std::byte> payload(at.end);
  auto const store = [&payload](std::uint64_t where, const auto& values) {
    if (!values.empty()) {
      std::memcpy(payload.data() + where, values.data(), values.size() * sizeof(values[0]));
    }
  };
  store(0, head);
  store(at.groups, made.groups);
  store(at.members, made.members);
  store(at.features, contents.features);
  store(at.pairs, made.pairs);
  store(at.representations, contents.representations);
  store(at.sites, contents.sites);
  store(at.first_postings, made.first_postings);
  store(at.postings, made.postings);
  store(at.learnt, made.learnt);
  store(at.group_buckets, make_directory(group_count, group_bits,
                                         [&](std::size_t i) { return made.groups[i].hash; }));
  store(at.pair_buckets,
        make_directory(made.pairs.size(), pair_bits, [&](std::size_t i) { return made.pairs[i]; }));
  return payload;
}

std::optional<MatchIndexView> MatchIndexView::parse(Bytes payload, std::size_t entry_count) {
  if (payload.size() < kMatchIndexHeadBytes) return std::nullopt;
  HeadNumbers head{};
  std::memcpy(head.data(), payload.data(), sizeof head);
  auto const bits_hold = [](std::uint32_t bits) { return bits >= 1 && bits <= kDirectoryBitsMax; };
  if (head[kVersion] != kMatchIndexVersion || head[kEntries] != entry_count ||
      !bits_hold(head[kGroupBits]) || !bits_hold(head[kPairBits])) {
    return std::nullopt;
  }
  Sections const at(head);
  if (at.end != payload.size()) return std::nullopt;
  auto const section = [&payload]<class T>(std::span<const T>& out, std::uint64_t where,
                                           std::uint64_t count) {
    out = {reinterpret_cast<const T*>(payload.data() + where), static_cast<std::size_t>(count)};
  };
  MatchIndexView view;
  view.group_bits_ = head[kGroupBits];
  view.pair_bits_ = head[kPairBits];
  section(view.groups_, at.groups, std::uint64_t{head[kGroups]} + 1);
  section(view.members_, at.members, head[kMembers]);
  section(view.features_, at.features, head[kFeatures]);
  section(view.pairs_, at.pairs, head[kPairs]);
  section(view.representations_, at.representations, head[kEntries]);
  section(view.sites_, at.sites, head[kSites]);
  section(view.first_postings_, at.first_postings, std::uint64_t{head[kPairs]} + 1);
  section(view.postings_, at.postings, head[kPostings]);
  section(view.learnt_, at.learnt, head[kLearnt]);
  section(view.group_buckets_, at.group_buckets, directory_size(view.group_bits_));
  section(view.pair_buckets_, at.pair_buckets, directory_size(view.pair_bits_));
  if (!view.holds()) return std::nullopt;
  return view;
}

bool MatchIndexView::holds() const {
  auto const member_holds = [this](const MatchMember& member) {
    return member.ordinal < representations_.size() && member.first_feature <= features_.size() &&
           member.feature_count <= features_.size() - member.first_feature &&
           member.feature_count <= kFeaturesMax;
  };
  return is_directory(group_buckets_, groups_.size() - 1) &&
         is_directory(pair_buckets_, pairs_.size()) &&
         std::ranges::is_sorted(groups_, {}, &GroupRow::first_member) &&
         groups_.back().first_member == members_.size() &&
         std::ranges::is_sorted(groups_, {}, &GroupRow::first_learnt) &&
         groups_.back().first_learnt == learnt_.size() &&
         std::ranges::all_of(members_, member_holds) && std::ranges::is_sorted(first_postings_) &&
         first_postings_.front() == 0 && first_postings_.back() == postings_.size() &&
         std::ranges::all_of(postings_, [this](auto member) { return member < members_.size(); });
}

std::optional<MatchIndexView::Group> MatchIndexView::find_group(std::uint64_t hash) const {
  if (groups_.size() < 2) return std::nullopt;
  auto const [begin, end] = directory_bounds(group_buckets_, group_bits_, groups_.size() - 1, hash);
  auto const bucket = groups_.subspan(begin, end - begin);
  auto const found = std::ranges::lower_bound(bucket, hash, {}, &GroupRow::hash);
  if (found == bucket.end() || found->hash != hash) return std::nullopt;
  auto const at = static_cast<std::size_t>(&*found - groups_.data());
  auto const& next = groups_[at + 1];
  return Group{.first_member = found->first_member,
               .end_member = next.first_member,
               .learnt = between(learnt_, found->first_learnt, next.first_learnt)};
}

std::span<const std::uint32_t> MatchIndexView::find_pair(std::uint64_t hash) const {
  auto const [begin, end] = directory_bounds(pair_buckets_, pair_bits_, pairs_.size(), hash);
  auto const bucket = pairs_.subspan(begin, end - begin);
  auto const found = std::ranges::lower_bound(bucket, hash);
  if (found == bucket.end() || *found != hash) return {};
  auto const at = static_cast<std::size_t>(&*found - pairs_.data());
  return between(postings_, first_postings_[at], first_postings_[at + 1]);
}

std::span<const Feature> MatchIndexView::features_of(const MatchMember& member) const {
  return between(features_, member.first_feature, member.first_feature + member.feature_count);
}

bool MatchIndexView::has_site(std::uint64_t hash) const {
  return std::ranges::binary_search(sites_, hash);
}

}  // namespace reprise
