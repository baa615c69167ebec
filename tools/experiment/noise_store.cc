#include "tools/experiment/noise_store.h"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/http/digest.h"
#include "base/system/private_file.h"
#include "base/system/text_file.h"
#include "base/system/user_folder.h"
#include "pageload/results/fields.h"
#include "pageload/results/metric.h"
#include "shaper/profile.h"
#include "shaper/trace.h"

namespace reprise {
namespace {

namespace json = boost::json;
namespace fs = std::filesystem;

constexpr std::string_view kSchema = "reprise-known-noise/2";

json::object to_json(const KnownNoise& noise) {
  json::array metrics;
  for (const MetricSpread& each : noise.spreads) {
    metrics.push_back({{"metric", kMetrics[each.metric].field},
                       {"loads", each.loads},
                       {"median", each.median},
                       {"deviation", each.deviation},
                       {"loads_of_a_seed", each.loads_of_a_seed}});
  }
  return {{"schema", kSchema},
          {"measured", noise.measured.time_since_epoch().count()},
          {"load_seconds", noise.load_seconds},
          {"metrics", std::move(metrics)}};
}

std::optional<KnownNoise> noise_of(Fields from, const std::string& error) {
  if (from.text("schema") != kSchema) return std::nullopt;
  KnownNoise noise{
      .load_seconds = from.number("load_seconds").value_or(0),
      .measured = std::chrono::sys_seconds(std::chrono::seconds(from.integer("measured")))};
  from.each("metrics", kMetricCount, [&](Fields each) {
    auto const field = each.text("metric");
    for (std::size_t i = 0; i < kMetricCount; ++i) {
      if (kMetrics[i].field != field) continue;
      noise.spreads.push_back(
          {.metric = i,
           .loads = static_cast<std::size_t>(each.integer("loads")),
           .median = each.number("median").value_or(0),
           .deviation = each.number("deviation").value_or(0),
           .loads_of_a_seed = static_cast<std::size_t>(each.integer("loads_of_a_seed"))});
    }
  });
  return error.empty() && !noise.spreads.empty() ? std::optional(noise) : std::nullopt;
}

}  // namespace

fs::path NoiseStore::default_folder() {
  return user_folder("XDG_CACHE_HOME", ".cache") / "reprise" / "noise";
}

std::string NoiseStore::key_of(const LoadResult& result, const LoadCell& cell,
                               const std::vector<std::size_t>& metrics) {
  const LoadConfiguration& conditions = cell.configuration;
  const LoadSettings& settings = result.settings;
  std::vector<std::string> parts{result.machine.cpu,
                                 std::to_string(result.machine.cores),
                                 result.machine.kernel,
                                 result.archive_sha256,
                                 cell.url,
                                 conditions.browser,
                                 conditions.protocol,
                                 conditions.link,
                                 conditions.cache,
                                 std::to_string(settings.width),
                                 std::to_string(settings.height),
                                 std::to_string(settings.cpu_throttle),
                                 settings.device};
  // The text of a link has the paths of its trace files alone.
  if (auto const link = parse_link(conditions.link)) {
    for (const LinkSettings& direction : {link->down, link->up}) {
      if (direction.trace) parts.push_back(direction.trace->sha256());
    }
  }
  for (auto const metric : metrics) parts.emplace_back(kMetrics[metric].field);
  parts.insert(parts.end(), settings.steps.begin(), settings.steps.end());
  for (const WhatIfMade& each : result.what_ifs) parts.push_back(each.text);
  if (settings.replay_options) {
    parts.insert(parts.end(), settings.replay_options->begin(), settings.replay_options->end());
  }
  std::string all;
  for (const std::string& part : parts) all += part + '\0';
  return sha256_hex(all).substr(0, 32);
}

std::optional<KnownNoise> NoiseStore::find(const std::string& key,
                                           std::chrono::sys_seconds now) const {
  boost::system::error_code broken;
  auto const value = json::parse(contents_of(path_of(key)), broken);
  if (broken || !value.is_object()) return std::nullopt;
  std::string error;
  auto noise = noise_of(Fields(value.get_object(), "", error), error);
  if (!noise || noise->measured > now || now - noise->measured > kLife) return std::nullopt;
  return noise;
}

void NoiseStore::keep(const std::string& key, const KnownNoise& noise) const {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (!error) static_cast<void>(write_private_file(json::serialize(to_json(noise)), path_of(key)));
}

}  // namespace reprise
