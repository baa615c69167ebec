#include "analysis/campaign/collection.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <tuple>
#include <utility>

#include "base/http/digest.h"
#include "base/text/json_fields.h"
#include "base/text/printable.h"

namespace json = boost::json;

namespace reprise {
namespace {

constexpr std::size_t kPageDigits = 8;  ///< so that text is sorted as numbers are

struct Cell {
  std::size_t loads = 0;
  std::map<std::string, std::size_t> loads_with;  ///< by request
};
using CellKey = std::tuple<std::string, std::string, std::string, std::string, std::string>;

std::map<CellKey, Cell> cells_of(const LoadResult& result) {
  std::map<CellKey, Cell> cells;
  for (const LoadResult::Load& load : result.loads) {
    if (!load.was_asked_for()) continue;
    const LoadConfiguration& conditions = load.configuration;
    auto& cell = cells[{load.page.url, conditions.browser, conditions.protocol, conditions.link,
                        conditions.cache}];
    ++cell.loads;
    std::set<std::string> requests;
    for (const PageRequest& each : load.page.requests) {
      requests.insert(each.method + " " + each.url);
    }
    for (const std::string& request : requests) ++cell.loads_with[request];
  }
  return cells;
}

/// "requests TAB digest" of those that more than half of the loads made.
std::string usual_requests_of(const Cell& cell) {
  std::string all;
  std::size_t count = 0;
  for (auto const& [request, loads] : cell.loads_with) {
    if (loads * 2 <= cell.loads) continue;
    all += request + "\n";
    ++count;
  }
  return std::to_string(count) + "\t" + sha256_hex(all);
}

std::string without_controls(std::string text) {
  std::ranges::replace_if(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return text;
}

/// What a line says beside its texts.
void read_summary(const json::object& summary, PageLine& line) {
  for (const json::value& each : array_at(summary, "failures")) {
    if (!each.is_object()) continue;
    auto const& failure = each.get_object();
    line.failures.push_back(
        failure_text({.page = line.page,
                      .name = std::string(text_at(summary, "page")),
                      .side = std::string(text_at(failure, "side")),
                      .url = std::string(text_at(failure, "url")),
                      .loads = static_cast<std::size_t>(integer_at(failure, "loads")),
                      .why = std::string(text_at(failure, "why"))}));
  }
  line.urls = array_at(summary, "urls").size();
  if (line.urls == 0 && !line.failures.empty()) line.urls = 1;
}

}  // namespace

std::string page_line_text(const PageLine& line) {
  auto number = std::to_string(line.page);
  if (number.size() < kPageDigits) number.insert(0, kPageDigits - number.size(), '0');
  json::object const out{{"summary", as_utf8(line.summary)}, {"cells", as_utf8(line.cells)}};
  return number + "\t" + json::serialize(out) + "\n";
}

std::optional<PageLine> read_page_line(std::string_view text) {
  PageLine line;
  auto const* const end = text.data() + text.size();
  auto const number = std::from_chars(text.data(), end, line.page);
  if (number.ec != std::errc() || number.ptr == end || *number.ptr != '\t') return std::nullopt;
  boost::system::error_code malformed;
  auto const value = json::parse({number.ptr + 1, end}, malformed);
  if (malformed || !value.is_object()) return std::nullopt;
  auto const& object = value.get_object();
  line.summary = text_at(object, "summary");
  line.cells = text_at(object, "cells");
  auto const summary = json::parse(line.summary, malformed);
  if (malformed || !summary.is_object()) return std::nullopt;
  read_summary(summary.get_object(), line);
  return line;
}

PageLine page_line(std::size_t page, const json::object& summary, std::string cells) {
  PageLine line{.page = page, .summary = json::serialize(summary), .cells = std::move(cells)};
  read_summary(summary, line);
  return line;
}

PageCollection::PageCollection(const Plan& plan, std::size_t page)
    : plan_(plan), page_(page), results_(plan.campaign.sides.size()) {}

std::optional<std::string> PageCollection::add(const ShardHeader& header, ShardRecord record) {
  auto const& sides = plan_.campaign.sides;
  auto const side = std::ranges::find(sides, record.side, &CampaignSide::name);
  if (side == sides.end()) return "it has a side '" + record.side + "', and the plan has not";
  LoadResult& all = results_[static_cast<std::size_t>(side - sides.begin())];
  LoadResult& more = record.result;
  if (!record.advice.empty()) advice_ = std::move(record.advice);
  for (const LoadResult::Browser& each : more.browsers) browsers_[each.name].insert(each.version);
  auto const replays_before = all.replays.size();
  auto const orders_before = static_cast<unsigned>(all.loads.size());
  for (LoadResult::Load& load : more.loads) {
    if (!load.warm_up) load.run += record.first_run - 1;
    if (load.replay) *load.replay += replays_before;
    load.order += orders_before;
    load.node = header.node;
    if (load.was_asked_for()) ++nodes_[header.node];
  }
  if (all.loads.empty()) {
    all = std::move(more);
    return std::nullopt;
  }
  if (all.archive_sha256 != more.archive_sha256) {
    return "the archive of '" + plan_.pages[page_].name + "' changed while it was measured (" +
           all.archive_sha256.substr(0, 12) + " and " + more.archive_sha256.substr(0, 12) +
           "): remove its results and run `reprise campaign resume`, or plan it again";
  }
  for (ReplayRun& replay : more.replays) all.replays.push_back(std::move(replay));
  for (LoadResult::Load& load : more.loads) all.loads.push_back(std::move(load));
  for (LoadResult::Browser& browser : more.browsers) {
    bool const known = std::ranges::any_of(all.browsers, [&](auto const& each) {
      return each.name == browser.name && each.version == browser.version;
    });
    if (!known) all.browsers.push_back(std::move(browser));
  }
  return std::nullopt;
}

void PageCollection::add_failure(PageFailure failure) {
  if (not_measured_) {
    not_measured_->loads += failure.loads;
  } else {
    not_measured_ = std::move(failure);
  }
}

std::vector<PageFailure> PageCollection::failures() const {
  std::vector<PageFailure> out;
  auto const& sides = plan_.campaign.sides;
  for (std::size_t side = 0; side < results_.size(); ++side) {
    auto const named = sides.size() > 1 ? sides[side].name : std::string();
    for (PageFailure& each : failures_of(results_[side], page_, named)) {
      out.push_back(std::move(each));
    }
  }
  bool const is_measured =
      std::ranges::any_of(results_, [](const LoadResult& each) { return !each.loads.empty(); });
  if (!is_measured && not_measured_) out.push_back(*not_measured_);
  return out;
}

std::string PageCollection::cells() const {
  std::string out;
  for (std::size_t side = 0; side < results_.size(); ++side) {
    for (auto const& [key, cell] : cells_of(results_[side])) {
      auto const& [url, browser, protocol, link, cache] = key;
      for (const std::string& field :
           {plan_.pages[page_].name, plan_.campaign.sides[side].name, url, browser, protocol, link,
            cache, std::to_string(cell.loads)}) {
        out += without_controls(field) + "\t";
      }
      out += usual_requests_of(cell) + "\n";
    }
  }
  return out;
}

json::object PageCollection::summary() const {
  json::object nodes, browsers;
  for (auto const& [name, loads] : nodes_) nodes[as_utf8(name)] = loads;
  for (auto const& [name, versions] : browsers_) {
    json::array all;
    for (const std::string& version : versions) all.emplace_back(as_utf8(version));
    browsers[as_utf8(name)] = std::move(all);
  }
  std::size_t loads = 0, failed = 0;
  std::set<std::string> urls;
  for (const LoadResult& result : results_) {
    for (const LoadResult::Load& load : result.loads) {
      if (!load.was_asked_for()) continue;
      ++loads;
      urls.insert(load.page.url);
      if (load.page.outcome != LoadOutcome::kLoaded) ++failed;
    }
  }
  json::array all_urls, failures;
  for (const std::string& url : urls) all_urls.emplace_back(as_utf8(url));
  for (const PageFailure& each : this->failures()) failures.push_back(failure_json(each));
  json::object out{{"page", as_utf8(plan_.pages[page_].name)},
                   {"loads", loads},
                   {"failed", failed},
                   {"nodes", std::move(nodes)},
                   {"browsers", std::move(browsers)},
                   {"urls", std::move(all_urls)}};
  if (!failures.empty()) out["failures"] = std::move(failures);
  if (!start_url_.empty()) out["url"] = as_utf8(start_url_);
  if (advice_.empty()) return out;
  out["advice"] = advice_;
  if (start_url_.empty()) out["url"] = "";
  json::array values;
  for (const LoadResult::Load& load : results_.front().loads) {
    out["url"] = as_utf8(load.page.url);
    if (load.counts() && load.page.load_event_ms) values.push_back(*load.page.load_event_ms);
  }
  out["load_events_ms"] = std::move(values);
  return out;
}

}  // namespace reprise
