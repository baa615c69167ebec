#include <algorithm>
#include <map>

#include "analysis/verdict.h"
#include "tools/why/why_run.h"

namespace reprise {
namespace {

constexpr std::size_t kRowsMax = 8;  // of the waterfalls, for each cause

/// Of requests, by URL, in the loads that count.
class Waterfall {
 public:
  void add(const PageLoad& load) {
    std::set<std::string> known;
    for (auto const& request : load.requests) {
      if (request.start_ms < 0 || request.end_ms < 0 || !known.insert(request.url).second) continue;
      starts_[request.url].push_back(request.start_ms);
      ends_[request.url].push_back(request.end_ms);
    }
  }
  std::optional<std::pair<double, double>> row(const std::string& url) const {
    auto const found = starts_.find(url);
    if (found == starts_.end()) return std::nullopt;
    return std::pair(median(found->second), median(ends_.at(url)));
  }

 private:
  std::map<std::string, std::vector<double>> starts_;
  std::map<std::string, std::vector<double>> ends_;
};

}  // namespace

void WhyRun::rank(const CauseSearch& search) {
  for (std::size_t i = 0; i < search.parts().size(); ++i) {
    Cause cause{.groups = {}, .effect = effects_->parts[i], .evidence = {}};
    for (auto const each : search.parts()[i]) cause.groups.push_back(candidates_[each]);
    bool const shown = cause.effect.is_shown();
    if (shown) cause.evidence = evidence_of(cause.groups);
    (shown ? causes_ : others_).push_back(std::move(cause));
  }
  auto const sign = effects_->total.estimate < 0 ? -1.0 : 1.0;
  for (auto* const list : {&causes_, &others_}) {
    std::ranges::sort(*list, [sign](const Cause& a, const Cause& b) {
      return std::pair(-sign * a.effect.estimate, a.groups) <
             std::pair(-sign * b.effect.estimate, b.groups);
    });
  }
}

std::vector<EvidenceRow> WhyRun::evidence_of(const std::vector<std::size_t>& groups) const {
  Waterfall of_a;
  Waterfall of_b;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (!rows_[i].counts) continue;
    auto const& load = loads_.loads[i].page;
    if (rows_[i].row.is_b) of_b.add(load);
    if (std::ranges::find(rows_[i].row.in, true) == rows_[i].row.in.end()) of_a.add(load);
  }
  std::vector<EvidenceRow> rows;
  std::set<std::string> known;
  auto const add = [&](const RecordedExchange* a, const RecordedExchange* b) {
    auto const url = (b != nullptr ? b : a)->url();
    EvidenceRow row{.url = url,
                    .a = a != nullptr ? of_a.row(a->url()) : std::nullopt,
                    .b = b != nullptr ? of_b.row(b->url()) : std::nullopt};
    if ((row.a || row.b) && rows.size() < kRowsMax && known.insert(url).second) {
      rows.push_back(std::move(row));
    }
  };
  auto const& pairs = differences_.alignment.pairs;
  auto const pair_of = [&](std::size_t i) {
    add(&differences_.a.exchanges[pairs[i].a], &differences_.b.exchanges[pairs[i].b]);
  };
  for (auto const group : groups) {
    for (auto const number : differences_.groups[group].differences) {
      const PageDifference& each = differences_.all[number];
      if (each.pair) {
        pair_of(*each.pair);
      } else if (each.kind == DifferenceKind::kCame || each.kind == DifferenceKind::kWent) {
        bool const came = each.kind == DifferenceKind::kCame;
        for (auto const& of : (came ? differences_.b : differences_.a).exchanges) {
          if (of.url() == each.where) add(came ? nullptr : &of, came ? &of : nullptr);
        }
      } else {
        for (std::size_t i = 0; i < pairs.size(); ++i) {
          if (differences_.b.exchanges[pairs[i].b].host == each.host) pair_of(i);
        }
      }
    }
  }
  return rows;
}

std::vector<std::size_t> WhyRun::not_measured() const {
  std::vector<std::size_t> groups;
  for (std::size_t i = 0; i < differences_.groups.size(); ++i) {
    if (!differences_.groups[i].can_be_put_in) groups.push_back(i);
  }
  return groups;
}

}  // namespace reprise
