#include "archive/match/candidates.h"

#include <algorithm>

namespace reprise {
namespace {

using Members = std::span<const std::uint32_t>;

/// Collects candidates, each member once.
class Gatherer {
 public:
  Gatherer(const MatchIndexView& index, const MatchIndexView::Group& group, Candidates& out)
      : index_(index), group_(group), out_(out) {}

  std::size_t room() const { return Candidates::kMax - out_.count; }
  void add(std::uint32_t member) {
    // The lists come from the file, which is untrusted.
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

/// The start of a window of `room` members, if there are as many: at `wanted` or before.
std::size_t window_begin(std::size_t wanted, std::size_t size, std::size_t room) {
  return std::min(wanted, size - std::min(size, room));
}

/// The members that share something with the request.
struct List {
  Members members;
  const Feature* feature = nullptr;  ///< the shared feature, if it is one parameter
};

/// The search for one request.
class Search {
 public:
  Search(const MatchIndexView& index, std::uint64_t group_hash, const MatchIndexView::Group& group,
         std::span<const Feature> asked, Candidates& out)
      : index_(index),
        group_hash_(group_hash),
        group_(group),
        asked_(asked),
        not_shared_(asked.begin(), asked.end()),
        gatherer_(index, group, out),
        out_(out) {
    auto const in_body = std::ranges::partition_point(asked, [](auto f) { return !is_in_body(f); });
    without_body_ = asked.first(static_cast<std::size_t>(in_body - asked.begin()));
  }

  void run(std::uint32_t from);

 private:
  void find_lists();
  void look_up(std::uint64_t identity, const Feature* feature);
  void read(Members list, std::uint32_t from);
  void score_new();
  /// Whether no member outside the lists already read can be as good as the best so far.
  bool is_settled() const { return best_ > score(asked_, not_shared_); }

  const MatchIndexView& index_;
  std::uint64_t group_hash_;
  const MatchIndexView::Group& group_;
  std::span<const Feature> asked_;
  std::span<const Feature> without_body_;
  std::vector<Feature> not_shared_;  // the best possible match outside the lists already read
  std::array<List, Candidates::kListsMax> lists_;
  std::size_t list_count_ = 0;
  Gatherer gatherer_;
  std::size_t scored_ = 0;
  unsigned best_ = 0;
  Candidates& out_;
};

void Search::look_up(std::uint64_t identity, const Feature* feature) {
  auto const list = index_.find_pair(pair_hash(group_hash_, identity));
  ++out_.lists_read;
  if (list.empty()) {
    if (feature != nullptr) not_shared_[feature - asked_.data()] = with_other_value(*feature);
  } else if (list_count_ < lists_.size()) {
    lists_[list_count_++] = {.members = list, .feature = feature};
  }
}

void Search::find_lists() {
  if (asked_.empty()) return;
  look_up(steady_identity(asked_), nullptr);
  look_up(names_identity(asked_), nullptr);
  for (const Feature& feature : asked_) {
    if (relevance_of(feature) != Relevance::kVolatile) look_up(identity_of(feature), &feature);
  }
  std::ranges::sort(std::span(lists_).first(list_count_), {},
                    [](const List& list) { return list.members.size(); });
}

void Search::read(Members list, std::uint32_t from) {
  auto const fits = list.size() <= gatherer_.room();
  auto const at = fits ? list.begin() : std::ranges::lower_bound(list, group_.first_member + from);
  auto const begin =
      window_begin(static_cast<std::size_t>(at - list.begin()), list.size(), gatherer_.room());
  for (auto const member : list.subspan(begin)) {
    if (gatherer_.room() == 0) break;
    gatherer_.add(member);
  }
}

void Search::score_new() {
  auto const members = index_.members();
  auto const fresh = std::span(out_.all).subspan(scored_, out_.count - scored_);
  for (auto const& candidate : fresh) {
    auto const features = index_.features_of(members[candidate.member]);
    if (!features.empty()) __builtin_prefetch(features.data());
  }
  for (auto& candidate : fresh) {
    auto const& member = members[candidate.member];
    candidate.ordinal = member.ordinal;
    candidate.score =
        score(member.is_partial != 0 ? without_body_ : asked_, index_.features_of(member));
    best_ = std::max(best_, candidate.score);
  }
  scored_ = out_.count;
}

void Search::run(std::uint32_t from) {
  find_lists();
  for (auto const& list : std::span(lists_).first(list_count_)) {
    if (gatherer_.room() == 0 || is_settled()) return;
    read(list.members, from);
    score_new();
    // If the list was not read completely, there is no room for more either.
    if (list.feature != nullptr) {
      not_shared_[list.feature - asked_.data()] = with_other_value(*list.feature);
    }
  }
  // Members that share nothing may still be similar.
  if (gatherer_.room() == 0 || is_settled()) return;
  auto const size = group_.end_member - group_.first_member;
  auto const begin = window_begin(from, size, gatherer_.room());
  for (auto i = begin; i < size && gatherer_.room() > 0; ++i) {
    gatherer_.add(group_.first_member + static_cast<std::uint32_t>(i));
  }
  score_new();
}

}  // namespace

Candidates find_candidates(const MatchIndexView& index, std::uint64_t group_hash,
                           std::vector<Feature> asked, std::uint32_t from) {
  Candidates out;
  auto const group = index.find_group(group_hash);
  if (!group) return out;
  out.first_member = group->first_member;
  mark(group->learnt, asked);
  Search(index, group_hash, *group, asked, out).run(from);
  return out;
}

}  // namespace reprise
