#include "analysis/service/latency_profile.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <functional>

#include "base/text/formatted.h"
#include "base/text/glob.h"
#include "base/text/printable.h"
#include "pageload/results/fields.h"

namespace reprise {
namespace {

namespace json = boost::json;

/// The longest latency, a day.
constexpr double kTimeMsMax = 86'400'000;

/// The value at a place between two points.
double interpolated(const std::vector<double>& points, double place) {
  auto const below = std::min(static_cast<std::size_t>(place), points.size() - 1);
  auto const above = std::min(below + 1, points.size() - 1);
  return std::lerp(points[below], points[above], place - static_cast<double>(below));
}

/// Two measured values around one, and where it is between them. The error: it is outside.
struct Around {
  double below = 0, above = 0, part = 0;
};
std::expected<Around, std::string> around(std::vector<double> measured, double value,
                                          std::string_view name) {
  std::ranges::sort(measured);
  if (value < measured.front() || value > measured.back()) {
    return std::unexpected(std::string(name) +
                           formatted(" %g is outside of what was measured, %g to %g", value,
                                     measured.front(), measured.back()));
  }
  double const above = *std::ranges::lower_bound(measured, value);
  if (above == value) return Around{value, value, 0};
  double const below = *std::prev(std::ranges::lower_bound(measured, value));
  double const part = below > 0 ? std::log(value / below) / std::log(above / below)
                                : (value - below) / (above - below);
  return Around{below, above, part};
}

std::vector<double> values_of(const std::vector<const MeasuredLatency*>& all,
                              double LatencyConditions::* field) {
  std::vector<double> values;
  for (MeasuredLatency const* each : all) values.push_back(each->conditions.*field);
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

/// The rest, between the values of a field that are around the one asked for.
template <class At>
std::expected<LatencyQuantiles, std::string> between(const std::vector<const MeasuredLatency*>& all,
                                                     double LatencyConditions::* field,
                                                     double value, std::string_view name,
                                                     const At& at) {
  auto const place = around(values_of(all, field), value, name);
  if (!place) return std::unexpected(place.error());
  auto const with = [&](double one) {
    auto some = all;
    std::erase_if(some, [&](const auto* each) { return each->conditions.*field != one; });
    return at(some);
  };
  auto below = with(place->below);
  if (!below || place->part == 0) return below;
  auto const above = with(place->above);
  if (!above) return above;
  return LatencyQuantiles::between(*below, *above, place->part);
}

LatencyConditions read_conditions(Fields& fields) {
  LatencyConditions out{.tier = fields.text("tier"), .location = fields.text("location")};
  out.size = fields.number("size").value_or(0);
  out.concurrency = fields.number("concurrency").value_or(0);
  return out;
}

json::object object_of(const LatencyConditions& conditions) {
  json::object out;
  if (!conditions.tier.empty()) out["tier"] = as_utf8(conditions.tier);
  if (!conditions.location.empty()) out["location"] = as_utf8(conditions.location);
  if (conditions.size != 0) out["size"] = conditions.size;
  if (conditions.concurrency != 0) out["concurrency"] = conditions.concurrency;
  return out;
}

MeasuredLatency read_latency(Fields& fields) {
  MeasuredLatency out{.conditions = read_conditions(fields)};
  if (fields.has("operation")) out.operation = fields.text("operation");
  out.times_us = fields.numbers("ms");
  if (out.times_us.empty()) fields.wrong("ms", "must be times");
  for (double& time : out.times_us) {
    if (time < 0 || time > kTimeMsMax) fields.wrong("ms", "must be times from 0 to a day");
    time *= kUsPerMs;
  }
  return out;
}

DependencyProfile read_dependency(Fields& fields) {
  DependencyProfile out{.name = fields.text("name")};
  if (out.name.empty()) fields.wrong("name", "must be a text");
  auto observed = fields.into("observed");
  out.observed = read_conditions(observed);
  fields.each("latencies", LatencyProfile::kLatenciesMax,
              [&](Fields each) { out.latencies.push_back(read_latency(each)); });
  return out;
}

}  // namespace

LatencyQuantiles LatencyQuantiles::of(std::vector<double> times_us) {
  std::ranges::sort(times_us);
  LatencyQuantiles out;
  auto const last = static_cast<double>(times_us.size() - 1);
  for (std::size_t i = 0; i < kPoints; ++i) {
    out.points_.push_back(interpolated(times_us, last * static_cast<double>(i) / (kPoints - 1)));
  }
  return out;
}

LatencyQuantiles LatencyQuantiles::between(const LatencyQuantiles& a, const LatencyQuantiles& b,
                                           double part) {
  LatencyQuantiles out;
  for (std::size_t i = 0; i < kPoints; ++i) {
    out.points_.push_back(std::lerp(a.points_[i], b.points_[i], part));
  }
  return out;
}

double LatencyQuantiles::at(double share) const {
  return interpolated(points_, std::clamp(share, 0.0, 1.0) * (kPoints - 1));
}

double share_below(std::span<const double> sorted, double value) {
  auto const [low, high] = std::ranges::equal_range(sorted, value);
  auto const middle = static_cast<double>((low - sorted.begin()) + (high - sorted.begin())) / 2;
  auto const count = static_cast<double>(sorted.size());
  return std::clamp(middle / count, .5 / count, 1 - .5 / count);
}

std::vector<const MeasuredLatency*> DependencyProfile::matching(
    std::string_view operation, const LatencyConditions& conditions) const {
  std::vector<const MeasuredLatency*> all;
  for (MeasuredLatency const& each : latencies) {
    bool const fits = fits_glob(each.operation, operation) &&
                      each.conditions.tier == conditions.tier &&
                      each.conditions.location == conditions.location;
    if (fits) all.push_back(&each);
  }
  // Names from traces can look like globs: "SELECT * FROM cart".
  auto const is_named = [&](const auto* each) { return each->operation == operation; };
  if (std::ranges::any_of(all, is_named)) std::erase_if(all, std::not_fn(is_named));
  return all;
}

std::expected<LatencyQuantiles, std::string> DependencyProfile::at(
    std::string_view operation, const LatencyConditions& conditions) const {
  auto const all = matching(operation, conditions);
  if (all.empty()) {
    return std::unexpected("the profile of " + name + " has no times of '" +
                           std::string(operation) + "' with tier '" + conditions.tier +
                           "' and location '" + conditions.location + "'");
  }
  auto found =
      between(all, &LatencyConditions::size, conditions.size, "size", [&](const auto& of_size) {
        return between(of_size, &LatencyConditions::concurrency, conditions.concurrency,
                       "concurrency", [](const auto& same) {
                         std::vector<double> times;
                         for (MeasuredLatency const* each : same) {
                           times.insert(times.end(), each->times_us.begin(), each->times_us.end());
                         }
                         return std::expected<LatencyQuantiles, std::string>(
                             LatencyQuantiles::of(std::move(times)));
                       });
      });
  if (!found) return std::unexpected("the profile of " + name + ": " + found.error());
  return found;
}

std::vector<double> DependencyProfile::concurrencies(std::string_view operation,
                                                     const LatencyConditions& conditions) const {
  return values_of(matching(operation, conditions), &LatencyConditions::concurrency);
}

const DependencyProfile* LatencyProfile::find(std::string_view name) const {
  auto const found = std::ranges::find(dependencies, name, &DependencyProfile::name);
  return found == dependencies.end() ? nullptr : &*found;
}

std::expected<LatencyProfile, std::string> read_latency_profile(std::string_view text) {
  auto const object = parse_object(text, LatencyProfile::kBytesMax >> 20);
  if (!object) return std::unexpected(object.error());
  std::string wrong;
  Fields fields(*object, "", wrong);
  if (fields.text("schema") != kLatencyProfileSchema) {
    return std::unexpected("schema must be " + std::string(kLatencyProfileSchema));
  }
  LatencyProfile profile;
  fields.each("dependencies", LatencyProfile::kDependenciesMax, [&](Fields each) {
    auto dependency = read_dependency(each);
    if (profile.find(dependency.name) != nullptr) each.wrong("name", "comes twice");
    profile.dependencies.push_back(std::move(dependency));
  });
  if (!wrong.empty()) return std::unexpected(wrong);
  return profile;
}

std::string latency_profile_json(const LatencyProfile& profile) {
  json::array dependencies;
  for (DependencyProfile const& each : profile.dependencies) {
    json::array latencies;
    for (MeasuredLatency const& latency : each.latencies) {
      json::object out = object_of(latency.conditions);
      out["operation"] = as_utf8(latency.operation);
      json::array times;
      for (double const time : latency.times_us) times.push_back(time / kUsPerMs);
      out["ms"] = std::move(times);
      latencies.push_back(std::move(out));
    }
    dependencies.push_back(json::object{{"name", as_utf8(each.name)},
                                        {"observed", object_of(each.observed)},
                                        {"latencies", std::move(latencies)}});
  }
  return json::serialize(json::object{{"schema", kLatencyProfileSchema},
                                      {"dependencies", std::move(dependencies)}}) +
         "\n";
}

}  // namespace reprise
