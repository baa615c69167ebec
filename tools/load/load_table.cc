#include "tools/load/load_table.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <vector>

#include "analysis/queue_drops.h"
#include "analysis/verdict.h"
#include "base/text/counted.h"
#include "base/text/formatted.h"
#include "base/text/printable.h"
#include "tools/commands.h"

namespace reprise {
namespace {

std::string size_text(std::int64_t bytes) {
  bool const is_small = bytes < 1'000'000;
  return formatted(is_small ? "%.1f kB" : "%.2f MB",
                   static_cast<double>(bytes) / (is_small ? 1e3 : 1e6));
}

/// In percent of the mean; nothing for fewer than two values.
std::optional<double> variation(const std::vector<double>& values) {
  if (values.size() < 2) return std::nullopt;
  double const sum = std::accumulate(values.begin(), values.end(), 0.0);
  double const mean = sum / static_cast<double>(values.size());
  if (mean <= 0) return std::nullopt;
  return 100 * standard_deviation(values) / mean;
}

struct Row {
  std::size_t loaded = 0;                 ///< undisturbed
  std::size_t disturbed = 0;              ///< loaded, too, but not in what follows
  std::vector<double> load_events;        ///< of those that have one
  std::vector<LoadWithDrops> with_drops;  ///< the same
  std::vector<double> last_loads;
  std::size_t failed = 0;
  std::set<std::int64_t> misses;
};

Row row_of(const LoadResult& result, const LoadCell& cell) {
  Row row;
  for (const auto& load : result.loads) {
    if (load.warm_up || load.configuration != cell.configuration || load.page.url != cell.url) {
      continue;
    }
    if (load.page.outcome != LoadOutcome::kLoaded) {
      ++row.failed;
      continue;
    }
    if (!load.disturbed.empty()) {
      ++row.disturbed;
      continue;
    }
    ++row.loaded;
    if (auto const load_event_ms = load.page.load_event_ms) {
      row.load_events.push_back(*load_event_ms);
      auto const* const replay = result.replay_of(load);
      row.with_drops.push_back(
          {.load_event_ms = *load_event_ms,
           .queue_drops = replay != nullptr && replay->link ? replay->link->queue_drops : 0});
    }
    if (load.page.last_load_ms) row.last_loads.push_back(*load.page.last_load_ms);
    if (load.page.misses) row.misses.insert(static_cast<std::int64_t>(*load.page.misses));
  }
  return row;
}

/// "0", or "2-4" if loads differ.
std::string range_text(const std::set<std::int64_t>& values) {
  if (values.empty()) return "-";
  auto text = std::to_string(*values.begin());
  if (values.size() > 1) text += "-" + std::to_string(*values.rbegin());
  return text;
}

using Cells = std::vector<std::string>;

std::string aligned(const std::vector<Cells>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const Cells& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Cells& row : rows) {
    std::string line = row[0] + std::string(widths[0] - row[0].size(), ' ');
    for (std::size_t i = 1; i < row.size(); ++i) {
      line += "  " + std::string(widths[i] - row[i].size(), ' ') + row[i];
    }
    text += line + "\n";
  }
  return text;
}

}  // namespace

std::string load_text(const PageLoad& page) {
  if (page.outcome != LoadOutcome::kLoaded) {
    return printable(std::string(to_string(page.outcome)) + " " + page.url + ": " + page.failure);
  }
  auto const bytes = static_cast<std::int64_t>(page.encoded_bytes.value_or(0));
  auto const misses = static_cast<std::uint64_t>(page.misses.value_or(0));
  auto const status = document_status(page);
  return "loaded " + printable(page.url) + ": " + counted(page.requests.size(), "request") + ", " +
         size_text(bytes) + ", load event " +
         (page.load_event_ms ? ms_text(*page.load_event_ms, 1) : "none") +
         (misses > 0 ? ", " + counted(misses, "miss", "misses") : "") +
         (status >= 400 ? ", status " + std::to_string(status) : "");
}

std::string cell_text(const LoadCell& cell, const std::vector<LoadCell>& cells) {
  std::string text;
  for (auto const part : {&LoadConfiguration::browser, &LoadConfiguration::protocol,
                          &LoadConfiguration::link, &LoadConfiguration::cache}) {
    const std::string& value = cell.configuration.*part;
    bool const varies = std::ranges::any_of(
        cells, [&](const LoadCell& other) { return other.configuration.*part != value; });
    if (varies) text += (text.empty() ? "" : ", ") + value;
  }
  return text;
}

std::string load_table(const LoadResult& result, const std::vector<LoadCell>& cells) {
  std::vector<Cells> rows{
      {"page", "loads", "failed", "load event ms", "CV %", "last load ms", "misses"}};
  bool const any_disturbed = std::ranges::any_of(
      cells, [&](const LoadCell& cell) { return row_of(result, cell).disturbed > 0; });
  if (any_disturbed) rows.front().insert(rows.front().begin() + 2, "disturbed");
  for (const LoadCell& cell : cells) {
    auto const row = row_of(result, cell);
    auto const what = cell_text(cell, cells);
    auto const varied = variation(row.load_events);
    auto const middle = [](const std::vector<double>& values) {
      return values.empty() ? "-" : formatted("%.1f", median(values));
    };
    rows.push_back({printable(cell.url) + (what.empty() ? "" : " (" + what + ")"),
                    std::to_string(row.loaded), std::to_string(row.failed), middle(row.load_events),
                    varied ? formatted("%.2f", *varied) : "-", middle(row.last_loads),
                    range_text(row.misses)});
    auto& made = rows.back();
    if (any_disturbed) made.insert(made.begin() + 2, std::to_string(row.disturbed));
  }
  return aligned(rows);
}

std::string dropped_text(const LoadResult& result, const std::vector<LoadCell>& cells) {
  std::string text;
  for (const LoadCell& cell : cells) {
    auto const line = slow_by_drops_text(row_of(result, cell).with_drops);
    if (line.empty()) continue;
    auto const what = cell_text(cell, cells);
    text += printable(cell.url) + (what.empty() ? "" : " (" + what + ")") + ": " + line + "\n";
  }
  return text;
}

std::string strict_text(const LoadResult& result) {
  std::size_t with_misses = 0;
  std::size_t with_warnings = 0;
  const ReplaySummary::Miss* first = nullptr;
  for (const ReplayRun& replay : result.replays) {
    if (replay.exit_code != kExitGate || !replay.report) continue;
    const ReplaySummary& report = *replay.report;
    if (report.link && !report.link->warnings.empty()) ++with_warnings;
    if (report.misses.value_or(0) <= 0) continue;
    ++with_misses;
    if (first == nullptr && !report.distinct_misses.empty()) first = &report.distinct_misses[0];
  }
  auto const in_loads = [&result](std::size_t count) {
    return " in " + std::to_string(count) + " of " + counted(result.replays.size(), "load");
  };
  std::string text;
  if (with_misses > 0) text = "misses" + in_loads(with_misses);
  if (first != nullptr) {
    text += ", such as " + printable(first->method + " " + first->url + " (" + first->reason + ")");
  }
  if (with_warnings > 0) {
    text += (text.empty() ? "" : "; ") + ("the link missed its settings" + in_loads(with_warnings));
  }
  return text;
}

}  // namespace reprise
