#include "tools/why/aligned_rows.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/verdict.h"
#include "base/text/printable.h"

namespace reprise {
namespace {

namespace json = boost::json;

/// -1, unless it is known of more than half of the requests.
template <class Time>
double median_time(const std::vector<const PageRequest*>& requests, const Time& time_of) {
  std::vector<double> times;
  for (auto const* const request : requests) {
    if (double const time = time_of(*request); time >= 0) times.push_back(time);
  }
  return 2 * times.size() > requests.size() ? median(times) : -1;
}

json::value time_json(double ms) {
  return ms < 0 ? json::value() : json::value(ms);
}

json::value request_json(const std::optional<PageRequest>& of) {
  if (!of) return nullptr;
  json::object made{{"url", as_utf8(of->url)},
                    {"method", as_utf8(of->method)},
                    {"type", as_utf8(of->resource_type)},
                    {"status", of->status},
                    {"protocol", as_utf8(of->protocol)},
                    {"priority", as_utf8(of->priority)},
                    {"from_cache", of->from_cache},
                    {"encoded_bytes", of->encoded_bytes},
                    {"start_ms", time_json(of->start_ms)},
                    {"end_ms", time_json(of->end_ms)}};
  auto const timing = of->timing.value_or(RequestTiming());
  for (auto const& [name, at_ms] : kRequestTimes) made[name] = time_json(timing.*at_ms);
  return made;
}

}  // namespace

void Waterfall::add(const PageLoad& load) {
  std::set<std::string> known;
  for (auto const& request : load.requests) {
    if (request.start_ms < 0 || request.end_ms < 0 || !known.insert(request.url).second) continue;
    requests_[request.url].push_back(&request);
  }
}

std::optional<PageRequest> Waterfall::request(const std::string& url) const {
  auto const found = requests_.find(url);
  if (found == requests_.end()) return std::nullopt;
  auto const& all = found->second;
  auto made = *all.front();
  made.start_ms = median_time(all, [](const PageRequest& of) { return of.start_ms; });
  made.end_ms = median_time(all, [](const PageRequest& of) { return of.end_ms; });
  RequestTiming timing;
  for (auto const& each : kRequestTimes) {
    timing.*each.at_ms = median_time(
        all, [&](const PageRequest& of) { return of.timing ? (*of.timing).*each.at_ms : -1; });
  }
  made.timing = timing;
  return made;
}

AlignedRows::AlignedRows(const Differences& differences, const Waterfall& a, const Waterfall& b)
    : differences_(differences) {
  auto const in_a = [&](std::size_t i) { return a.request(differences.a.exchanges[i].url()); };
  auto const in_b = [&](std::size_t i) { return b.request(differences.b.exchanges[i].url()); };
  for (auto const& pair : differences.alignment.pairs) add(in_a(pair.a), in_b(pair.b));
  for (auto const i : differences.alignment.only_a) add(in_a(i), std::nullopt);
  for (auto const i : differences.alignment.only_b) add(std::nullopt, in_b(i));
  auto const start = [](const AlignedRow& row) { return (row.a ? row.a : row.b)->start_ms; };
  std::ranges::sort(rows_, {}, [&](const AlignedRow& row) {
    return std::tuple(start(row), row.url(), row.b.has_value());
  });
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].a) place_in_a_[rows_[i].a->url] = i;
    if (rows_[i].b) place_in_b_[rows_[i].b->url] = i;
  }
}

void AlignedRows::add(std::optional<PageRequest> a, std::optional<PageRequest> b) {
  if (a && !place_in_a_.try_emplace(a->url, 0).second) a.reset();
  if (b && !place_in_b_.try_emplace(b->url, 0).second) b.reset();
  if (a || b) rows_.push_back({.a = std::move(a), .b = std::move(b)});
}

std::vector<std::size_t> AlignedRows::of_groups(const std::vector<std::size_t>& groups) const {
  std::vector<std::size_t> found;
  std::set<std::size_t> known;
  auto const add_place = [&](const std::map<std::string, std::size_t>& places,
                             const std::string& url) {
    auto const place = places.find(url);
    if (place != places.end() && known.insert(place->second).second) {
      found.push_back(place->second);
    }
  };
  auto const& pairs = differences_.alignment.pairs;
  auto const& [a, b] = std::tie(differences_.a.exchanges, differences_.b.exchanges);
  auto const add_pair = [&](const AlignedPair& pair) {
    add_place(place_in_a_, a[pair.a].url());
    add_place(place_in_b_, b[pair.b].url());
  };
  for (auto const group : groups) {
    for (auto const number : differences_.groups[group].differences) {
      const PageDifference& each = differences_.all[number];
      if (each.pair) {
        add_pair(pairs[*each.pair]);
      } else if (each.kind == DifferenceKind::kCame || each.kind == DifferenceKind::kWent) {
        add_place(each.kind == DifferenceKind::kCame ? place_in_b_ : place_in_a_, each.where);
      } else {
        for (auto const& pair : pairs) {
          if (b[pair.b].host == each.host) add_pair(pair);
        }
      }
    }
  }
  return found;
}

double AlignedRows::change_ms(std::size_t group) const {
  auto const took = [](const std::optional<PageRequest>& of) {
    return of ? of->end_ms - of->start_ms : 0;
  };
  double most = 0;
  for (auto const i : of_groups({group})) {
    most = std::max(most, std::abs(took(rows_[i].b) - took(rows_[i].a)));
  }
  return most;
}

json::array rows_json(const std::vector<AlignedRow>& rows) {
  json::array made;
  for (const AlignedRow& row : rows) {
    made.push_back(json::object{{"a", request_json(row.a)}, {"b", request_json(row.b)}});
  }
  return made;
}

json::array differences_json(const Differences& all, const DifferenceGroup& group) {
  json::array differences;
  for (auto const i : group.differences) {
    const PageDifference& each = all.all[i];
    differences.push_back({{"kind", to_string(each.kind)},
                           {"where", as_utf8(each.where)},
                           {"what", as_utf8(each.what)},
                           {"measured", each.can_be_put_in()}});
  }
  return differences;
}

}  // namespace reprise
