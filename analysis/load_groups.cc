#include "analysis/load_groups.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

namespace reprise {
namespace {

constexpr std::array<std::string_view, kMismatchCount> kNames{
    "pages",   "browser", "protocol", "link",   "cache",      "archive",
    "what-if", "status",  "requests", "misses", "calibration"};

void add_once(std::vector<std::string>& texts, const std::string& text) {
  if (std::ranges::find(texts, text) == texts.end()) texts.push_back(text);
}

void skip(LoadGroup& group, const std::string& why) {
  ++group.doubtful;
  if (group.warnings.size() < LoadGroup::kWarningsKept) add_once(group.warnings, why);
}

void add_failed(LoadGroup& group, const std::string& why) {
  constexpr std::size_t kFailuresKept = 10;
  ++group.failed;
  if (group.failures.size() < kFailuresKept) add_once(group.failures, why);
}

/// The status of its document, if that is an error; otherwise 0.
int error_of(const LoadRow& load) {
  return load.status >= 400 ? load.status : 0;
}

void add(LoadGroup& group, const LoadRow& load, const ReplayRow& replay, bool with_doubtful) {
  if (load.warm_up) {
    ++group.warm_ups;
  } else if (!load.skipped.empty() && !with_doubtful) {
    ++group.repeated;
  } else if (!load.loaded) {
    add_failed(group, load.failure);
  } else if (!replay.warnings.empty() && !with_doubtful) {
    skip(group, replay.warnings.front());
  } else {
    group.loads.push_back(&load);
  }
}

void skip_disturbed(LoadGroup& group, const CountedLoads& counted) {
  auto const least = counted.least.of(median(values_of(group, counted.metric)));
  std::erase_if(group.loads, [&](const LoadRow* load) {
    if (load->counts) return false;
    auto const why = disturbed(load->disturbances, least, counted.usual_steal);
    if (why) skip(group, why->text);
    return why.has_value();
  });
}

/// Of a load without it, as long as the load lasted: what a page did not get to does not make a
/// busy moment count for more.
double time_of(const PageLoad& page, std::size_t metric) {
  auto const time = page.*kMetrics[metric].value;
  return time ? *time : page.machine ? page.machine->span_ms : 0;
}

/// The conditions that can differ, each with the difference that allows it.
struct Condition {
  Mismatch difference;
  std::string LoadConfiguration::* value;
};
constexpr std::array<Condition, 4> kConditions{{{Mismatch::kBrowser, &LoadConfiguration::browser},
                                                {Mismatch::kProtocol, &LoadConfiguration::protocol},
                                                {Mismatch::kLink, &LoadConfiguration::link},
                                                {Mismatch::kCache, &LoadConfiguration::cache}}};

/// Groups with equal keys are compared.
std::vector<std::string> key_of(const LoadGroup& group, const std::set<Mismatch>& allowed) {
  std::vector<std::string> key{group.url};
  for (auto const& [difference, value] : kConditions) {
    if (!allowed.contains(difference)) key.push_back(group.conditions.*value);
  }
  return key;
}

/// The first group of that key; an obstacle when there is another.
const LoadGroup* only(std::span<const LoadGroup> groups, const std::vector<std::string>& key,
                      char side, const std::set<Mismatch>& allowed, Pairing& pairing) {
  const LoadGroup* found = nullptr;
  for (const LoadGroup& each : groups) {
    if (key_of(each, allowed) != key) continue;
    if (found == nullptr) {
      found = &each;
      continue;
    }
    for (auto const& [difference, value] : kConditions) {
      if (found->conditions.*value == each.conditions.*value) continue;
      pairing.obstacles.emplace_back(difference, std::string(1, side) + " has both " +
                                                     found->conditions.*value + " and " +
                                                     each.conditions.*value + " of " + each.url +
                                                     ", so it is unclear which to compare");
    }
  }
  return found;
}

/// Why `group` has no partner among `others`.
void explain(const LoadGroup& group, std::span<const LoadGroup> others, char side,
             const std::set<Mismatch>& allowed, Pairing& pairing) {
  auto const same_page = std::ranges::find(others, group.url, &LoadGroup::url);
  if (same_page == others.end()) {
    auto text = std::string("only ") + side + " has loads of " + group.url;
    if (allowed.contains(Mismatch::kPages)) {
      add_once(pairing.remarks, "not compared: " + text);
    } else {
      pairing.obstacles.emplace_back(Mismatch::kPages, std::move(text));
    }
    return;
  }
  for (auto const& [difference, value] : kConditions) {
    auto const& own = group.conditions.*value;
    auto const& other = same_page->conditions.*value;
    if (own == other || allowed.contains(difference)) continue;
    pairing.obstacles.emplace_back(difference, "A was loaded with " + (side == 'A' ? own : other) +
                                                   ", B with " + (side == 'A' ? other : own));
  }
}

/// The path of a trace file is in the link's text, its contents are not.
bool have_other_traces(const LoadGroup& a, const LoadGroup& b) {
  std::set<std::string_view> traces;
  for (const LoadGroup* group : {&a, &b}) {
    for (const LoadRow* load : group->loads) traces.insert(load->link_traces);
  }
  traces.erase("");
  return traces.size() > 1;
}

std::set<std::string_view> in_at_least(std::size_t least,
                                       const std::map<std::string_view, std::size_t>& loads_with) {
  std::set<std::string_view> out;
  for (auto const& [name, count] : loads_with) {
    if (count >= least) out.insert(name);
  }
  return out;
}

}  // namespace

std::string_view to_string(Mismatch difference) {
  return kNames[static_cast<std::size_t>(difference)];
}

std::expected<std::set<Mismatch>, std::string> parse_differences(std::string_view names) {
  std::set<Mismatch> out;
  while (true) {
    auto const comma = names.find(',');
    auto const* const name = std::ranges::find(kNames, names.substr(0, comma));
    if (name == kNames.end()) {
      std::string text = "unknown difference '" + std::string(names.substr(0, comma)) +
                         "' in --allow; the names are";
      for (auto const each : kNames) text += " " + std::string(each);
      return std::unexpected(text);
    }
    out.insert(static_cast<Mismatch>(name - kNames.begin()));
    if (comma == std::string_view::npos) return out;
    names.remove_prefix(comma + 1);
  }
}

double usual_steal(const Measurements& all) {
  UsualSteal usual;
  for (const LoadRow& load : all.loads) {
    if (!load.warm_up) usual.add(load.disturbances);
  }
  return usual.share();
}

std::string quota_text(const Measurements& a, const Measurements& b) {
  auto const stopped = [](const Measurements& all) {
    return static_cast<std::size_t>(std::ranges::count_if(all.loads, [](const LoadRow& load) {
      return !load.warm_up && std::ranges::any_of(load.disturbances, [](const Disturbance& each) {
        return each.by_page_ms > 0;
      });
    }));
  };
  auto const of_a = stopped(a), of_b = stopped(b);
  if (of_a + of_b == 0) return {};
  return "loads used up a processor quota and had to wait, " + std::to_string(of_a) + " of A and " +
         std::to_string(of_b) + " of B: without it they take less time";
}

std::string reason_to_skip(const LoadResult& result, const LoadResult::Load& load,
                           const CountedLoads& counted) {
  if (counted.doubtful) return {};
  auto const least = counted.least.of(time_of(load.page, counted.metric));
  return reason_to_skip(load.page, result.replay_of(load), least, counted.usual_steal);
}

std::vector<LoadGroup> groups_of(const Measurements& all, const CountedLoads& counted) {
  std::vector<LoadGroup> groups;
  std::map<std::vector<std::string>, std::size_t> known;
  for (const LoadRow& load : all.loads) {
    LoadGroup group{.url = load.url, .conditions = load.conditions};
    auto const [at, is_new] = known.try_emplace(key_of(group, {}), groups.size());
    if (is_new) groups.push_back(std::move(group));
    add(groups[at->second], load, all.replay_of(load), counted.doubtful);
  }
  if (!counted.doubtful) {
    for (LoadGroup& group : groups) skip_disturbed(group, counted);
  }
  return groups;
}

std::vector<double> values_of(const LoadGroup& group, std::size_t metric) {
  std::vector<double> out;
  for (const LoadRow* load : group.loads) {
    if (load->metrics[metric]) out.push_back(*load->metrics[metric]);
  }
  return out;
}

std::vector<LoadWithDrops> drops_of(const LoadGroup& group, const Measurements& all) {
  auto const load_event = static_cast<std::size_t>(
      std::ranges::find(kMetrics, &PageLoad::load_event_ms, &Metric::value) - kMetrics.begin());
  std::vector<LoadWithDrops> out;
  for (const LoadRow* load : group.loads) {
    auto const& time = load->metrics[load_event];
    if (time) out.push_back({*time, all.replay_of(*load).queue_drops});
  }
  return out;
}

bool share_link_seeds(const LoadGroup& a, const LoadGroup& b) {
  auto const seeds_of = [](const LoadGroup& group) {
    std::set<std::optional<double>> seeds;
    for (const LoadRow* load : group.loads) seeds.insert(load->link_seed);
    seeds.erase(std::nullopt);
    return seeds;
  };
  auto const most_are_in = [](const std::set<std::optional<double>>& seeds,
                              const LoadGroup& group) {
    auto const count = std::ranges::count_if(
        group.loads, [&](const LoadRow* load) { return seeds.contains(load->link_seed); });
    return 2 * static_cast<std::size_t>(count) > group.loads.size();
  };
  auto const of_a = seeds_of(a), of_b = seeds_of(b);
  return of_a.size() > 1 && of_b.size() > 1 && most_are_in(of_a, b) && most_are_in(of_b, a);
}

namespace {

/// What tells the blocks of two groups' loads apart.
struct BlockKeys {
  using Key = std::pair<std::string_view, std::optional<double>>;
  bool by_node = false;
  bool by_seed = false;

  static BlockKeys of(const LoadGroup& a, const LoadGroup& b) {
    auto const no_node = [](const LoadRow* load) { return load->node.empty(); };
    return {
        .by_node = std::ranges::none_of(a.loads, no_node) && std::ranges::none_of(b.loads, no_node),
        .by_seed = share_link_seeds(a, b)};
  }
  bool any() const { return by_node || by_seed; }
  Key key(const LoadRow& load) const {
    return {by_node ? std::string_view(load.node) : std::string_view(),
            by_seed ? load.link_seed : std::nullopt};
  }
};

}  // namespace

std::vector<Block> blocks_of(const LoadGroup& a, const LoadGroup& b, std::size_t metric) {
  auto const keys = BlockKeys::of(a, b);
  if (!keys.any()) return {};
  std::map<BlockKeys::Key, Block> blocks;
  for (auto const& [group, values] : {std::pair{&a, &Block::a}, {&b, &Block::b}}) {
    for (const LoadRow* load : group->loads) {
      if (!load->metrics[metric]) continue;
      (blocks[keys.key(*load)].*values).push_back(*load->metrics[metric]);
    }
  }
  std::vector<Block> out;
  for (auto& [which, block] : blocks) out.push_back(std::move(block));
  return out;
}

std::string block_text(const LoadGroup& a, const LoadGroup& b) {
  auto const keys = BlockKeys::of(a, b);
  if (!keys.any()) return {};
  if (keys.by_node && keys.by_seed) return "node and link seed";
  return keys.by_node ? "node" : "link seed";
}

std::size_t unpaired_loads(const LoadGroup& a, const LoadGroup& b) {
  auto const keys = BlockKeys::of(a, b);
  if (!keys.any()) return 0;
  std::map<BlockKeys::Key, std::pair<std::size_t, std::size_t>> loads;
  for (const LoadRow* load : a.loads) ++loads[keys.key(*load)].first;
  for (const LoadRow* load : b.loads) ++loads[keys.key(*load)].second;
  std::size_t unpaired = 0;
  for (auto const& [key, of] : loads) {
    if (of.first == 0 || of.second == 0) unpaired += of.first + of.second;
  }
  return unpaired;
}

int usual_error(const LoadGroup& group) {
  std::map<int, std::size_t> loads_with;
  for (const LoadRow* load : group.loads) ++loads_with[error_of(*load)];
  for (auto const& [error, count] : loads_with) {
    if (count >= most_loads(group)) return error;
  }
  return 0;
}

bool always_has(const LoadGroup& group, int error) {
  return std::ranges::all_of(group.loads,
                             [&](const LoadRow* load) { return error_of(*load) == error; });
}

void fail_others(LoadGroup& group, int error) {
  std::erase_if(group.loads, [&](const LoadRow* load) {
    auto const other = error_of(*load);
    if (other == error) return false;
    add_failed(group, other != 0 ? "the page has the status " + std::to_string(other)
                                 : "the page does not have the status " + std::to_string(error) +
                                       " of most loads");
    return true;
  });
}

Pairing pair_up(std::span<const LoadGroup> a, std::span<const LoadGroup> b,
                const std::set<Mismatch>& allowed) {
  Pairing pairing;
  std::set<std::vector<std::string>> done;
  for (const LoadGroup& group : a) {
    auto const key = key_of(group, allowed);
    if (!done.insert(key).second) continue;
    auto const* const ours = only(a, key, 'A', allowed, pairing);
    auto const* const theirs = only(b, key, 'B', allowed, pairing);
    if (theirs == nullptr) {
      explain(group, b, 'A', allowed, pairing);
      continue;
    }
    if (!allowed.contains(Mismatch::kLink) && have_other_traces(*ours, *theirs)) {
      pairing.obstacles.emplace_back(Mismatch::kLink,
                                     "the trace files of " + group.conditions.link +
                                         " have different contents in the loads of A and B");
    }
    pairing.pairs.push_back({*ours, *theirs});
  }
  for (const LoadGroup& group : b) {
    if (done.insert(key_of(group, allowed)).second) explain(group, a, 'B', allowed, pairing);
  }
  return pairing;
}

std::set<std::string_view> requests_of(const LoadGroup& group, std::size_t least) {
  std::map<std::string_view, std::size_t> loads_with;
  for (const LoadRow* load : group.loads) {
    for (const std::string& each : load->requests) ++loads_with[each];
  }
  return in_at_least(least, loads_with);
}

std::set<std::string_view> misses_of(const LoadGroup& group, const Measurements& all,
                                     std::size_t least) {
  // Many loads may share a replay: each is gone through once.
  std::map<const ReplayRow*, std::size_t> replays;
  for (const LoadRow* load : group.loads) ++replays[&all.replay_of(*load)];
  std::map<std::string_view, std::size_t> loads_with;
  for (auto const& [replay, loads] : replays) {
    for (const std::string& each : replay->misses) loads_with[each] += loads;
  }
  return in_at_least(least, loads_with);
}

std::set<std::string_view> calibrations(const LoadGroup& group, const Measurements& all) {
  std::set<std::string_view> out;
  for (const LoadRow* load : group.loads) out.insert(all.replay_of(*load).calibration);
  return out;
}

}  // namespace reprise
