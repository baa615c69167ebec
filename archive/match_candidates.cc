#include "archive/match_candidates.h"

#include <algorithm>

namespace reprise {
namespace {

using Members = std::span<const std::uint32_t>;

/// Fills candidates, each member once.
class Gatherer {
 public:
  Gatherer(const MatchIndexView& index, const MatchIndexView::Group& group, Candidates& out)
      : index_(index), group_(group), out_(out) {}

  std::size_t room() const { return Candidates::kMax - out_.count; }
  void add(std::uint32_t member) {
    // Lists are what the file says they are.
    if (member < group_.first_member || member >= group_.end_member || room() == 0) return;
    auto slot = (member * 0x9e3779b1U) >> (32 - kSlotBits);
    while (slots_[slot] != 0) {
      if (slots_[slot] == member + 1) return;
      slot = (slot + 1) % slots_.size();
    }
    slots_[slot] = member + 1;
    __builtin_prefetch(&index_.members()[member]);
    out_.all[out_.count++].member = member;
  }

 private:
  static constexpr unsigned kSlotBits = 10;
  const MatchIndexView& index_;
  MatchIndexView::Group group_;
  Candidates& out_;
  std::array<std::uint32_t, std::size_t{1} << kSlotBits> slots_{};  // member + 1
};

/// Where to begin so that `room` members can be read, if there are as many: at `wanted` or before.
std::size_t window_begin(std::size_t wanted, std::size_t size, std::size_t room) {
  return std::min(wanted, size - std::min(size, room));
}

void score_all(const MatchIndexView& index, std::span<const Feature> asked,
               std::span<const std::uint32_t> ignored, Candidates& out) {
  auto const members = index.members();
  for (auto const& candidate : out.found()) {
    auto const features = index.features_of(members[candidate.member]);
    if (!features.empty()) __builtin_prefetch(features.data());
  }
  auto const body =
      std::ranges::partition_point(asked, [](auto each) { return !is_in_body(each); });
  auto const without_body = asked.first(static_cast<std::size_t>(body - asked.begin()));
  for (auto& candidate : std::span(out.all).first(out.count)) {
    auto const& member = members[candidate.member];
    candidate.ordinal = member.ordinal;
    candidate.score =
        score(member.is_partial != 0 ? without_body : asked, index.features_of(member), ignored);
  }
}

}  // namespace

Candidates find_candidates(const MatchIndexView& index, std::uint64_t group_hash,
                           std::vector<Feature> asked, std::span<const std::uint32_t> ignored,
                           std::uint32_t from) {
  Candidates out;
  auto const group = index.find_group(group_hash);
  if (!group) return out;
  out.first_member = group->first_member;
  mark(group->learnt, asked);

  std::array<Members, Candidates::kListsMax> lists;
  std::size_t count = 0;
  auto const look_up = [&](std::uint64_t identity) {
    auto const list = index.find_pair(pair_hash(group_hash, identity));
    if (!list.empty() && count < lists.size()) lists[count++] = list;
    ++out.lists_read;
  };
  if (!asked.empty()) {
    look_up(steady_identity(asked));
    look_up(names_identity(asked));
  }
  for (auto const feature : asked) {
    if (relevance_of(feature) == Relevance::kVolatile) continue;
    if (std::ranges::binary_search(ignored, name_of(feature))) continue;
    look_up(identity_of(feature));
  }
  auto const found = std::span(lists).first(count);
  std::ranges::sort(found, {}, &Members::size);

  Gatherer gatherer(index, *group, out);
  auto const wanted = group->first_member + from;
  for (auto const list : found) {
    if (gatherer.room() == 0) break;
    auto const fits = list.size() <= gatherer.room();
    auto const at = fits ? list.begin() : std::ranges::lower_bound(list, wanted);
    auto const begin =
        window_begin(static_cast<std::size_t>(at - list.begin()), list.size(), gatherer.room());
    for (auto const member : list.subspan(begin)) {
      if (gatherer.room() == 0) break;
      gatherer.add(member);
    }
  }
  if (count == 0) {
    auto const size = group->end_member - group->first_member;
    auto const begin = window_begin(from, size, Candidates::kMax);
    for (auto i = begin; i < size && gatherer.room() > 0; ++i) {
      gatherer.add(group->first_member + static_cast<std::uint32_t>(i));
    }
  }
  score_all(index, asked, ignored, out);
  return out;
}

}  // namespace reprise
