#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/differences/builder.h"
#include "analysis/differences/mentions.h"
#include "analysis/differences/permissions.h"
#include "base/text/counted.h"

namespace reprise {
namespace {

class Union {
 public:
  explicit Union(std::size_t size) : parent_(size) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }
  std::size_t root(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::size_t a, std::size_t b) {
    a = root(a);
    b = root(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::size_t> parent_;
};

class Grouping {
 public:
  explicit Grouping(DifferenceBuilder& builder)
      : builder_(builder), all_(builder.made.all), groups_(all_.size()), permissions_(builder) {
    for (std::size_t i = 0; i < all_.size(); ++i) {
      auto const& text = builder.texts[i];
      // A policy asks for nothing: permissions_ knows what it permits.
      if (all_[i].kind != DifferenceKind::kPolicy) {
        added_.add(text.added, i);
        removed_.add(text.removed, i);
      }
      bool const is_request =
          all_[i].kind == DifferenceKind::kCame || all_[i].kind == DifferenceKind::kWent;
      if (is_request) requests_.try_emplace(all_[i].where, i);
      if (all_[i].pair && all_[i].can_be_put_in()) of_pair_.try_emplace(*all_[i].pair, i);
    }
    for (std::size_t pair = 0; pair < builder.made.alignment.pairs.size(); ++pair) {
      pair_of_url_.try_emplace(builder.b(pair).url(), pair);
      pair_of_url_.try_emplace(builder.a(pair).url(), pair);
    }
  }

  void run() {
    join_same();
    for (std::size_t i = 0; i < all_.size(); ++i) join_one(i);
    for (std::size_t i = 0; i < all_.size(); ++i) join_by_place(i);
    for (std::size_t i = 0; i < all_.size(); ++i) join_what_it_permits(i);
    collect();
  }

 private:
  /// The same change of the same kind on one host; hosts that share an address do so together.
  void join_same() {
    std::map<std::tuple<DifferenceKind, std::string, std::string>, std::size_t> known;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      auto const& same = builder_.texts[i].same;
      if (same.empty()) continue;
      auto const host = all_[i].kind == DifferenceKind::kCoalescing ? "" : all_[i].host;
      auto const [first, is_new] = known.try_emplace({all_[i].kind, host, same}, i);
      if (!is_new) groups_.join(first->second, i);
    }
  }

  /// A request with what mentions it, or with what it comes from.
  void join_one(std::size_t i) {
    auto const kind = all_[i].kind;
    if (kind != DifferenceKind::kCame && kind != DifferenceKind::kWent) return;
    bool const came = kind == DifferenceKind::kCame;
    auto const& page = came ? builder_.made.b : builder_.made.a;
    auto const& exchange = page.exchanges[exchange_of(i)];
    if (auto const speaker = (came ? added_ : removed_).of(exchange)) {
      return groups_.join(*speaker, i);
    }
    auto const from = requests_.find(exchange.referer);
    if (from != requests_.end() && from->second != i && all_[from->second].kind == kind) {
      return groups_.join(from->second, i);
    }
    auto const pair = pair_of_url_.find(exchange.referer);
    if (pair == pair_of_url_.end()) return;
    auto const changed = of_pair_.find(pair->second);
    bool const whole = changed != of_pair_.end() && all_[changed->second].edits.empty() &&
                       all_[changed->second].kind == DifferenceKind::kContent;
    if (whole) groups_.join(changed->second, i);
  }

  /// Those without an effect of their own join their request; an element that names a resource
  /// by another URL joins that resource.
  void join_by_place(std::size_t i) {
    auto const& of = all_[i];
    if (of.kind == DifferenceKind::kUrl) {
      auto const speaker = added_.of_file(builder_.b(*of.pair));
      bool const element = speaker && builder_.texts[*speaker].of_one_element;
      auto const changed = of_pair_.find(*of.pair);
      if (changed != of_pair_.end()) groups_.join(changed->second, i);
      if (element) return groups_.join(*speaker, i);
      if (changed != of_pair_.end()) return;
      if (!other_urls_) other_urls_ = i;
      return groups_.join(*other_urls_, i);
    }
    if (of.kind == DifferenceKind::kInitiator) {
      auto const changed = of_pair_.find(*of.pair);
      if (changed != of_pair_.end()) groups_.join(changed->second, i);
    }
  }

  /// Code with what lets it run: a digest of it, a policy that permits it, and for an element with
  /// `crossorigin` the policy of its file. One without the other would be blocked.
  void join_what_it_permits(std::size_t i) {
    permissions_.each_of(i, [this, i](std::size_t other) { groups_.join(other, i); });
    if (all_[i].kind != DifferenceKind::kPolicy) return;
    auto const& text = builder_.texts[i];
    if (!(text.added + text.removed).contains("access-control-allow-origin")) return;
    for (auto const* const mentions : {&added_, &removed_}) {
      auto const element = mentions->of_file(builder_.b(*all_[i].pair));
      if (element && has(*element, "crossorigin")) groups_.join(*element, i);
    }
  }

  bool has(std::size_t i, std::string_view word) const {
    return builder_.texts[i].added.contains(word) || builder_.texts[i].removed.contains(word);
  }

  /// In its page, of a request that came or went.
  std::size_t exchange_of(std::size_t i) {
    if (exchanges_.empty()) {
      auto const& made = builder_.made;
      std::size_t at_a = 0;
      std::size_t at_b = 0;
      for (std::size_t each = 0; each < all_.size(); ++each) {
        auto const kind = all_[each].kind;
        if (kind == DifferenceKind::kCame) exchanges_[each] = made.alignment.only_b[at_b++];
        if (kind == DifferenceKind::kWent) exchanges_[each] = made.alignment.only_a[at_a++];
      }
    }
    return exchanges_.at(i);
  }

  void collect() {
    auto& groups = builder_.made.groups;
    std::map<std::size_t, std::size_t> number_of_root;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      auto const [known, is_new] = number_of_root.try_emplace(groups_.root(i), groups.size());
      if (is_new) groups.emplace_back();
      all_[i].group = known->second;
      auto& group = groups[known->second];
      bool const leads = all_[i].can_be_put_in() && !group.can_be_put_in;
      group.can_be_put_in = group.can_be_put_in || leads;
      group.differences.insert(leads ? group.differences.begin() : group.differences.end(), i);
    }
    for (DifferenceGroup& group : groups) group.title = title_of(group);
  }

  std::string title_of(const DifferenceGroup& group) const {
    auto const& first = all_[group.differences.front()];
    auto title = first.where + ": ";
    if (first.kind != DifferenceKind::kContent && first.kind != DifferenceKind::kUrl) {
      title += std::string(to_string(first.kind)) + ": ";
    }
    title += first.what;
    std::size_t same = 0;
    std::vector<std::string> came;
    for (auto const i : group.differences) {
      if (all_[i].kind == first.kind) ++same;
      if (all_[i].kind == DifferenceKind::kCame && i != group.differences.front()) {
        came.push_back(all_[i].where);
      }
    }
    if (same > 1 && came.size() + 1 != same) title += ", and " + counted(same - 1, "more", "more");
    if (!came.empty() && first.kind != DifferenceKind::kCame) {
      title += ", with a request for " + came.front();
      if (came.size() > 1) title += " and " + counted(came.size() - 1, "more", "more");
    }
    return title;
  }

  DifferenceBuilder& builder_;
  std::vector<PageDifference>& all_;
  Union groups_;
  Permissions permissions_;
  Mentions added_;
  Mentions removed_;
  std::unordered_map<std::string, std::size_t> requests_;  // that came or went, by URL
  std::map<std::size_t, std::size_t> of_pair_;             // the first that can be put in
  std::unordered_map<std::string, std::size_t> pair_of_url_;
  std::map<std::size_t, std::size_t> exchanges_;
  std::optional<std::size_t> other_urls_;
};

}  // namespace

void group_differences(DifferenceBuilder& builder) {
  Grouping(builder).run();
}

}  // namespace reprise
