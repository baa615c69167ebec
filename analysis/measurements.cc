#include "analysis/measurements.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "archive/match/browser_paths.h"
#include "base/http/url_parts.h"
#include "base/text/counted.h"
#include "pageload/results/result_file.h"

namespace reprise {
namespace {

void sort_out_repeats(std::vector<std::string>& texts) {
  std::ranges::sort(texts);
  texts.erase(std::ranges::unique(texts).begin(), texts.end());
}

std::string calibration_of(const LinkSummary& link) {
  if (!link.self_check_skipped.empty()) {
    return link.shaper + ", self-check off (" + link.self_check_skipped + ")";
  }
  // What its deviations cost is judged by the load.
  bool const failed = !link.self_check_ok && link.deviations.empty();
  return link.shaper + (failed ? ", self-check failed" : "");
}

ReplayRow row_of(const ReplayRun& replay) {
  ReplayRow out;
  if (!replay.report) return out;
  for (const ReplaySummary::Miss& miss : replay.report->distinct_misses) {
    out.misses.push_back(miss.method + " " + miss.url);
  }
  sort_out_repeats(out.misses);
  if (!replay.report->link) return out;
  out.warnings = unmeasured_doubts(*replay.report->link);
  out.calibration = calibration_of(*replay.report->link);
  out.queue_drops = replay.report->link->queue_drops;
  return out;
}

LoadRow row_of(const LoadResult::Load& load, const ReplaySummary* replay) {
  const PageLoad& page = load.page;
  LoadRow out{.url = page.url,
              .conditions = load.configuration,
              .warm_up = load.warm_up,
              .loaded = page.outcome == LoadOutcome::kLoaded,
              .status = document_status(page),
              .replay = load.replay,
              .skipped = load.skipped,
              .node = load.node,
              .disturbances = disturbances_of(page, replay)};
  if (replay != nullptr && replay->link) {
    out.link_seed = replay->link->seed;
    out.link_traces = replay->link->down_trace_sha256 + replay->link->up_trace_sha256;
  }
  if (!out.loaded) {
    bool const known = page.outcome != LoadOutcome::kUnknown;
    out.failure = (known ? std::string(to_string(page.outcome)) : "unknown outcome");
    out.failure += ": " + page.failure;
  }
  for (std::size_t i = 0; i < kMetricCount; ++i) out.metrics[i] = page.*kMetrics[i].value;
  for (const PageRequest& request : page.requests) {
    if (is_browser_path(url_parts(request.url).path)) continue;
    out.requests.push_back(request.method + " " + request.url);
  }
  sort_out_repeats(out.requests);
  return out;
}

/// The first missing field that a load's group needs; empty if all are there.
std::string missing_in(const LoadResult::Load& load) {
  if (load.page.url.empty()) return "url";
  if (load.configuration.browser.empty()) return "configuration.browser";
  if (load.configuration.protocol.empty()) return "configuration.protocol";
  if (load.configuration.link.empty()) return "configuration.link";
  if (load.configuration.cache.empty()) return "configuration.cache";
  for (std::size_t i = 0; i < load.page.requests.size(); ++i) {
    if (load.page.requests[i].url.empty()) return "requests[" + std::to_string(i) + "].url";
  }
  return {};
}

}  // namespace

const ReplayRow& Measurements::replay_of(const LoadRow& load) const {
  static const ReplayRow kLive;
  return load.replay ? replays[*load.replay] : kLive;
}

std::map<std::string, std::string> settings_of(const LoadSettings& settings) {
  auto const joined = [](const std::vector<std::string>& texts) {
    std::string all;
    for (const std::string& each : texts) all += (all.empty() ? "" : " ") + each;
    return all.empty() ? "none" : all;
  };
  char throttle[32];
  std::snprintf(throttle, sizeof throttle, "%g", settings.cpu_throttle);
  std::map<std::string, std::string> all{
      {"--cpu-throttle", throttle},
      {"--device", settings.device.empty() ? "none" : settings.device},
      {"--steps", joined(settings.steps)}};
  if (settings.width > 0) {
    all["--quiet"] = std::to_string(settings.quiet.count());
    all["--viewport"] = std::to_string(settings.width) + "x" + std::to_string(settings.height);
  }
  if (settings.replay_options) all["replay options"] = joined(*settings.replay_options);
  return all;
}

std::expected<Measurements, std::string> measurements_of(const LoadResult& result) {
  Measurements out{.archive = result.archive,
                   .archive_sha256 = result.archive_sha256,
                   .machine = result.machine.cpu + ", " + counted(result.machine.cores, "core"),
                   .browsers = result.browsers};
  for (const WhatIfMade& each : result.what_ifs) out.what_ifs.push_back(each.text);
  out.settings = settings_of(result.settings);
  for (const ReplayRun& replay : result.replays) out.replays.push_back(row_of(replay));
  for (const LoadResult::Load& load : result.loads) {
    if (auto const field = missing_in(load); !field.empty()) {
      return std::unexpected("loads[" + std::to_string(out.loads.size()) + "]." + field +
                             " is missing");
    }
    out.loads.push_back(row_of(load, result.replay_of(load)));
  }
  return out;
}

std::expected<Measurements, std::string> read_measurements(const std::filesystem::path& path) {
  auto const result = read_result_file(path);
  if (!result) return std::unexpected(result.error());
  return measurements_of(*result);
}

}  // namespace reprise
