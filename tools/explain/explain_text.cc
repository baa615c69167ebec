#include "tools/explain/explain_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <span>
#include <utility>

#include "base/text/counted.h"
#include "base/text/printable.h"
#include "base/text/text_table.h"

namespace reprise {
namespace {

constexpr std::size_t kKindsExplained = 3;
constexpr std::size_t kCallsShown = 5;
constexpr std::size_t kNameBytes = 70;

std::string thousandth(double number) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", std::abs(number) < 9'950 ? 1 : 0, number / 1000);
  return text;
}

constexpr auto ms = thousandth;  // of us
constexpr auto kilobytes = thousandth;

std::string percent(double part, double whole) {
  char text[64];
  std::snprintf(text, sizeof text, "%.1f", whole > 0 ? 100 * part / whole : 0);
  return text;
}

std::string shortened(const std::string& name) {
  auto const text = printable(name);
  if (text.size() <= kNameBytes) return text;
  return text.substr(0, kNameBytes / 2) + "..." + text.substr(text.size() - kNameBytes / 2);
}

std::string tags_text(const std::vector<Attribute>& tags) {
  std::string text;
  for (auto const& [name, value] : tags) {
    text += ", " + printable(name) + " " + (value.empty() ? "unknown" : printable(value));
  }
  return text;
}

std::string part_text(double slowest_percent) {
  if (slowest_percent >= 100) return {};
  char text[64];
  std::snprintf(text, sizeof text, "\nThe slowest %g %% of each.\n", slowest_percent);
  return text;
}

std::string heading(const Slice& slice) {
  std::string text = counted(slice.views, "view") + ", mean " + ms(slice.mean_us) + " ms";
  if (slice.views > 1) {
    text += ", median " + ms(static_cast<double>(slice.median_us)) + ", slowest " +
            ms(static_cast<double>(slice.max_us));
  }
  return text + tags_text(slice.tags);
}

std::string kinds_table(const Slice& slice, const KindRules& rules) {
  std::vector<TableRow> rows{{"kind", "share ms", "%", "chain ms", "%", ""}};
  for (MeanShare const& share : slice.shares) {
    rows.push_back({printable(rules.kinds()[share.kind].name), ms(share.us),
                    percent(share.us, slice.mean_us), ms(share.chain_us),
                    percent(share.chain_us, slice.mean_us), ""});
  }
  return text_table(rows);
}

std::string fixes(const Slice& slice, const KindRules& rules) {
  std::string text;
  for (std::size_t i = 0; i < std::min(slice.shares.size(), kKindsExplained); ++i) {
    auto const kind = slice.shares[i].kind;
    auto const& known = rules.kinds()[kind];
    text += "\n" + printable(known.name) + ": " + printable(known.fix) + "\n";
    std::vector<TableRow> rows;
    for (CallShare const& call : slice.calls) {
      if (call.share.kind != kind || rows.size() == kCallsShown) continue;
      auto const name = shortened(call.name);
      rows.push_back({ms(call.share.us) + " ms", percent(call.share.us, slice.mean_us) + " %",
                      call.bytes > 0 ? kilobytes(call.bytes) + " kB" : "",
                      call.detail.empty() ? name : name + " (" + printable(call.detail) + ")"});
    }
    text += text_table(rows);
  }
  return text;
}

/// What costs most, by each kind of cause.
std::string costs_text(const Slice& slice) {
  constexpr std::string_view kTitles[] = {"host", "entity", "script", "header or setting"};
  std::string text;
  for (std::size_t kind = 0; kind < kCauseKindCount; ++kind) {
    auto const& costs = slice.costs[kind];
    if (costs.empty()) continue;
    text += "\nBy " + std::string(kTitles[kind]) + "\n";
    std::vector<TableRow> rows{{"", "share ms", "%", "processor ms", "kB", "requests", ""}};
    for (std::size_t i = 0; i < std::min(costs.size(), kCallsShown); ++i) {
      char requests[32];
      std::snprintf(requests, sizeof requests, "%.3g", costs[i].requests);
      rows.push_back({shortened(costs[i].name), ms(costs[i].us),
                      percent(costs[i].us, slice.mean_us), ms(costs[i].processor_us),
                      kilobytes(costs[i].bytes), requests, ""});
    }
    text += text_table(rows);
  }
  return text;
}

/// A value of RFC 4180: in quotes if it needs them. Spreadsheets run a cell that begins with =, +,
/// - or @ as a formula; such text gets an apostrophe before it.
std::string csv_cell(const std::string& value) {
  auto text = as_utf8(value);
  if (!text.empty() && std::string_view("=+-@\t\r").contains(text.front())) text.insert(0, "'");
  if (text.find_first_of("\",\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char const c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string csv_row(const Slice& slice, const MeanShare& share, const std::string& kind,
                    const CallShare* call) {
  std::string row;
  for (auto const& [name, value] : slice.tags) row += csv_cell(value) + ",";
  row += std::to_string(slice.views) + "," + csv_cell(kind) + ",";
  if (call != nullptr) row += csv_cell(call->name);
  row += "," + (call == nullptr ? std::string() : csv_cell(call->detail)) + ",";
  char numbers[160];
  std::snprintf(numbers, sizeof numbers, "%lld,%.2f,%lld,%.2f", std::llround(share.us),
                slice.mean_us > 0 ? 100 * share.us / slice.mean_us : 0,
                std::llround(share.chain_us),
                slice.mean_us > 0 ? 100 * share.chain_us / slice.mean_us : 0);
  return row + numbers + "," + (call == nullptr ? "" : std::to_string(call->count)) + "\r\n";
}

/// The kinds that have a share, largest first, as places in the rules' kinds.
std::vector<std::size_t> kinds_by_share(std::span<const double> shares) {
  std::vector<std::size_t> kinds;
  for (std::size_t kind = 0; kind < shares.size(); ++kind) {
    if (shares[kind] > 0) kinds.push_back(kind);
  }
  std::ranges::sort(kinds, {}, [&](std::size_t kind) { return std::pair(-shares[kind], kind); });
  return kinds;
}

}  // namespace

std::string explanation_text(const Explanation& explanation, const KindRules& rules,
                             const ExplainOptions& options, const ExplanationFacts& facts) {
  std::string text;
  for (Slice const& slice : explanation.slices) {
    if (!text.empty()) text += "\n";
    text += heading(slice) + "\n" + kinds_table(slice, rules);
    if (&slice == &explanation.slices.front()) text += fixes(slice, rules) + costs_text(slice);
  }
  if (!explanation.trend.empty()) text += "\n";
  for (Slice const& day : explanation.trend) text += heading(day) + "\n" + kinds_table(day, rules);
  text += part_text(options.slowest_percent);
  auto const lost = losses_text(explanation, facts);
  return text + (lost.empty() ? "" : "\n") + lost;
}

std::string losses_text(const Explanation& explanation, const ExplanationFacts& facts) {
  std::string lost;
  for (auto const* const losses : {&facts.losses, &explanation.losses}) {
    for (CallLoss const& loss : *losses) {
      lost += "  " + std::to_string(loss.count) + " " + printable(loss.what) + "\n";
    }
  }
  return lost.empty() ? lost : "Not in these figures:\n" + lost;
}

std::string explanation_csv(const Explanation& explanation, const KindRules& rules,
                            const ExplainOptions& options) {
  std::string text;
  for (std::string const& name : options.by) text += csv_cell(name) + ",";
  text += "views,kind,call,detail,us,percent,chain_us,chain_percent,count\r\n";
  for (Slice const& slice : explanation.slices) {
    // With tags asked for, the slice of all views has empty ones.
    Slice row = slice;
    if (row.tags.empty()) {
      for (std::string const& name : options.by) row.tags.emplace_back(name, "");
    }
    for (MeanShare const& share : slice.shares) {
      text += csv_row(row, share, rules.kinds()[share.kind].name, nullptr);
    }
    for (CallShare const& call : slice.calls) {
      text += csv_row(row, call.share, rules.kinds()[call.share.kind].name, &call);
    }
  }
  return text;
}

std::string partials_text(std::span<const PartialSlice> slices, const KindRules& rules,
                          double slowest_percent) {
  std::string text;
  for (PartialSlice const& slice : slices) {
    auto const views = slice.sums[0];
    auto const window = slice.sums[1];
    auto const shares = std::span(slice.sums).subspan(2);
    if (!text.empty()) text += "\n";
    text += counted(static_cast<std::uint64_t>(std::llround(views)), "view") + ", mean " +
            ms(views > 0 ? window / views : 0) + " ms" + tags_text(slice.values) + "\n";
    std::vector<TableRow> rows{{"kind", "share ms", "%", ""}};
    for (auto const kind : kinds_by_share(shares)) {
      rows.push_back({printable(rules.kinds()[kind].name), ms(shares[kind] / views),
                      percent(shares[kind], window), ""});
    }
    text += text_table(rows);
  }
  return text + part_text(slowest_percent);
}

std::string partials_csv(std::span<const PartialSlice> slices, const KindRules& rules,
                         const std::vector<std::string>& by) {
  std::string text;
  for (std::string const& name : by) text += csv_cell(name) + ",";
  text += "views,kind,us,percent\r\n";
  for (PartialSlice const& slice : slices) {
    std::string start;
    for (std::size_t i = 0; i < by.size(); ++i) {
      start += (slice.values.empty() ? std::string() : csv_cell(slice.values[i].second)) + ",";
    }
    auto const shares = std::span(slice.sums).subspan(2);
    for (auto const kind : kinds_by_share(shares)) {
      char views[32];
      std::snprintf(views, sizeof views, "%.10g,", slice.sums[0]);
      char numbers[160];
      std::snprintf(numbers, sizeof numbers, ",%lld,%s\r\n",
                    std::llround(shares[kind] / slice.sums[0]),
                    percent(shares[kind], slice.sums[1]).c_str());
      text += start + views + csv_cell(rules.kinds()[kind].name) + numbers;
    }
  }
  return text;
}

}  // namespace reprise
