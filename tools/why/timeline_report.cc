#include "tools/why/timeline_report.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/metric.h"
#include "base/text/counted.h"
#include "base/text/formatted.h"
#include "base/text/markdown.h"
#include "tools/why/aligned_rows.h"
#include "tools/why/server_traces.h"

namespace reprise {
namespace {

namespace json = boost::json;

constexpr std::size_t kRequestsListedMax = 20;  // requests in the text
constexpr std::int64_t kLeastUs = 1'000;        // a smaller change is not listed as a cause
constexpr double kLeastShare = 0.01;            // of the change of the window

std::string change_text(std::int64_t us) {
  return metric_text(Metric::Unit::kMs, static_cast<double>(us) / kUsPerMs, true);
}

/// "538 ms instead of 48 ms".
std::string instead_text(const TimePair& time) {
  return ms_text(static_cast<double>(time.b_us) / kUsPerMs) + " instead of " +
         ms_text(static_cast<double>(time.a_us) / kUsPerMs);
}

/// "wait 538 ms instead of 48 ms".
std::string phase_text(const PhaseCost& phase) {
  return phase.name + " " + instead_text(phase.time);
}

/// One line of the ranking: a request, or of two requests a phase.
struct ListedCost {
  std::string title;
  std::int64_t change_us = 0;
  std::vector<std::pair<std::string, std::string>> differences;  ///< kind and what
  std::size_t row = 0;
};

class Ranking {
 public:
  explicit Ranking(const TimelineReport& report) : report_(report) {
    auto const& requests = report.found.requests;
    bool const is_request = report.a.request.has_value();
    for (auto const& cost : requests) {
      if (is_request) {
        add_phases(cost);
      } else {
        add(cost);
      }
      rows_.push_back({.a = request_of(report.a, cost.a), .b = request_of(report.b, cost.b)});
    }
    auto const sign = report.found.window.change_us() < 0 ? -1 : 1;
    for (auto* const list : {&causes, &others}) {
      std::vector<std::size_t> order(list->size());
      for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
      std::ranges::sort(order, {},
                        [&](std::size_t i) { return std::pair(-sign * (*list)[i].change_us, i); });
      std::vector<ListedCost> sorted;
      for (auto const i : order) sorted.push_back(std::move((*list)[i]));
      *list = std::move(sorted);
    }
    sort_rows();
  }

  std::vector<ListedCost> causes;
  std::vector<ListedCost> others;
  std::vector<std::string> facts;  ///< of two requests, beside their times

  const std::vector<AlignedRow>& rows() const { return rows_; }
  /// What is left of the change: between requests.
  std::int64_t unexplained_us() const {
    auto left = report_.found.window.change_us();
    for (auto const* const list : {&causes, &others}) {
      for (auto const& each : *list) left -= each.change_us;
    }
    return left;
  }

 private:
  static std::optional<PageRequest> request_of(const TimelineSide& side,
                                               const std::optional<std::size_t>& place) {
    if (!place) return std::nullopt;
    return side.timeline.load.requests[*place];
  }
  std::string url(const RequestCost& cost) const {
    return cost.b ? report_.b.timeline.load.requests[*cost.b].url
                  : report_.a.timeline.load.requests[*cost.a].url;
  }

  void keep(ListedCost entry) {
    auto const whole = std::abs(report_.found.window.change_us());
    auto const size = std::abs(entry.change_us);
    bool const matters =
        size >= kLeastUs && static_cast<double>(size) >= kLeastShare * static_cast<double>(whole);
    (matters ? causes : others).push_back(std::move(entry));
  }

  void add(const RequestCost& cost) {
    ListedCost entry{.title = url(cost), .change_us = cost.time.change_us(), .row = rows_.size()};
    if (!cost.a) entry.title += ": only in B";
    if (!cost.b) entry.title += ": only in A";
    if (cost.a && cost.b && !cost.phases.empty()) {
      auto const most = std::ranges::max_element(
          cost.phases, {}, [](const PhaseCost& phase) { return std::abs(phase.time.change_us()); });
      entry.title += ": " + phase_text(*most);
    }
    for (auto const& phase : cost.phases) {
      entry.differences.emplace_back(phase.name, phase_text(phase));
    }
    for (auto const& fact : cost.facts) entry.differences.emplace_back("request", fact);
    if (entry.change_us != 0 || !entry.differences.empty()) keep(std::move(entry));
  }

  void add_phases(const RequestCost& cost) {
    for (auto const& phase : cost.phases) {
      keep({.title = phase_text(phase), .change_us = phase.time.change_us(), .differences = {}});
    }
    facts = cost.facts;
  }

  /// By start, in A or else in B, as AlignedRows has them; those without a start come last.
  void sort_rows() {
    auto const start_ms = [this](std::size_t i) {
      for (auto const* const of : {&rows_[i].a, &rows_[i].b}) {
        if (*of && (*of)->start_ms >= 0) return (*of)->start_ms;
      }
      return std::numeric_limits<double>::infinity();
    };
    std::vector<std::size_t> order(rows_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(start_ms(i), i); });
    std::vector<std::size_t> places(rows_.size());
    std::vector<AlignedRow> sorted;
    for (auto const i : order) {
      places[i] = sorted.size();
      sorted.push_back(std::move(rows_[i]));
    }
    rows_ = std::move(sorted);
    for (auto* const list : {&causes, &others}) {
      for (ListedCost& each : *list) each.row = places[each.row];
    }
  }

  const TimelineReport& report_;
  std::vector<AlignedRow> rows_;
};

json::object entry_json(const ListedCost& entry, std::size_t number, const std::string& where) {
  json::array differences;
  for (auto const& [kind, what] : entry.differences) {
    differences.push_back(json::object{
        {"kind", kind}, {"where", as_utf8(where)}, {"what", as_utf8(what)}, {"measured", false}});
  }
  json::array groups;
  groups.push_back(json::object{
      {"group", number}, {"title", as_utf8(entry.title)}, {"differences", std::move(differences)}});
  return {{"estimate", static_cast<double>(entry.change_us) / 1000},
          {"groups", std::move(groups)},
          {"rows", json::array{entry.row}}};
}

json::object effect(std::int64_t us) {
  return {{"estimate", static_cast<double>(us) / 1000}};
}

}  // namespace

std::string timeline_text(const TimelineReport& report, bool markdown) {
  Ranking const ranking(report);
  auto const change = report.found.window.change_us();
  std::string text = markdown ? "### " : "";
  text += (change == 0  ? std::string("B takes as long as A: ")
           : change < 0 ? std::string("B is faster than A: ")
                        : std::string("B is slower than A: ")) +
          change_text(change) + ", " + instead_text(report.found.window) + ", by the timelines\n\n";
  std::size_t number = 0;
  for (auto const& each : ranking.causes) {
    if (++number > kRequestsListedMax) break;
    text += std::to_string(number) + ". " + change_text(each.change_us) + " " +
            safe_text(each.title, markdown) + "\n";
    for (auto const& [kind, what] : each.differences) {
      text += std::string(markdown ? "   - " : "     ") + safe_text(what, markdown) + "\n";
    }
  }
  if (ranking.causes.size() > kRequestsListedMax) {
    text += counted(ranking.causes.size() - kRequestsListedMax, "request") + " more\n";
  }
  if (ranking.causes.empty()) text += "Nothing costs more in one of both.\n";
  if (!report.a.request) {
    return text + "\nBetween requests: " + change_text(ranking.unexplained_us()) + "\n";
  }
  if (!ranking.facts.empty()) text += "\nWhat else differs:\n";
  for (auto const& fact : ranking.facts) text += "- " + safe_text(fact, markdown) + "\n";
  return text;
}

json::object timeline_json(const TimelineReport& report) {
  Ranking const ranking(report);
  auto const& found = report.found;
  auto const list = [&](const std::vector<ListedCost>& entries, std::size_t first) {
    json::array all;
    for (auto const& each : entries) {
      auto const where = ranking.rows()[each.row].url();
      all.push_back(entry_json(each, first++, where));
    }
    return all;
  };
  return {{"schema", "reprise-why/1"},
          {"reprise", REPRISE_VERSION},
          {"sides", json::array{as_utf8(report.a.name), as_utf8(report.b.name)}},
          {"measured", false},
          {"interrupted", false},
          {"metric", "time"},
          {"metric_title", "time"},
          {"unit", "ms"},
          {"base", static_cast<double>(found.window.a_us) / 1000},
          {"total", effect(found.window.change_us())},
          {"causes", list(ranking.causes, 0)},
          {"unexplained", effect(ranking.unexplained_us())},
          {"no_effect_shown", list(ranking.others, ranking.causes.size())},
          {"facts", json::array(ranking.facts.begin(), ranking.facts.end())},
          {"not_measured", json::array()},
          {"rows", rows_json(ranking.rows())},
          {"traces", json::object{{"a", json::array()}, {"b", json::array()}}},
          {"traces_skipped",
           json::object{{"a", ServerTraces().skipped()}, {"b", ServerTraces().skipped()}}},
          {"loads", json::array()}};
}

}  // namespace reprise
