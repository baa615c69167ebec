#include "analysis/measurements.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/monotonic_resource.hpp>
#include <boost/json/parse.hpp>
#include <cmath>
#include <fstream>
#include <iterator>

namespace json = boost::json;

namespace reprise {
namespace {

/// A number that a load can have: a year in ms, a petabyte.
constexpr double kNumberMax = 1e15;
constexpr std::size_t kWarningsMax = 20;

/// Reads fields of one object. The first that is wrong is remembered; what follows has defaults.
class Fields {
 public:
  Fields(const json::object& object, std::string place, std::string& error)
      : object_(object), place_(std::move(place)), error_(error) {}

  std::string text(std::string_view name, bool may_be_null = false) {
    auto const* const value = find(name);
    if (value == nullptr || (may_be_null && value->is_null())) return {};
    if (!value->is_string()) return wrong(name, "must be a text"), std::string();
    return std::string(value->get_string());
  }

  bool flag(std::string_view name) {
    auto const* const value = find(name);
    if (value == nullptr) return false;
    if (!value->is_bool()) wrong(name, "must be true or false");
    return value->is_bool() && value->get_bool();
  }

  std::optional<double> number(std::string_view name) {
    auto const* const value = find(name);
    if (value == nullptr || value->is_null()) return {};
    if (!value->is_number()) return wrong(name, "must be a number or null"), std::nullopt;
    double const number = value->to_number<double>();
    if (!(number >= 0 && number <= kNumberMax)) {
      return wrong(name, "must be from 0 to 1e15"), std::nullopt;
    }
    return number;
  }

  const json::object& object(std::string_view name) {
    static const json::object kNone;
    auto const* const value = find(name);
    if (value == nullptr) return kNone;
    if (!value->is_object()) return wrong(name, "must be an object"), kNone;
    return value->get_object();
  }

  const json::array& array(std::string_view name, std::size_t most) {
    static const json::array kNone;
    auto const* const value = find(name);
    if (value == nullptr) return kNone;
    if (!value->is_array()) return wrong(name, "must be an array"), kNone;
    if (value->get_array().size() > most) {
      return wrong(name, "must not have more than " + std::to_string(most) + " elements"), kNone;
    }
    return value->get_array();
  }

  /// The objects of an array, each with `use(Fields)`, until one is wrong.
  template <class Use>
  void each(std::string_view name, std::size_t most, const Use& use) {
    std::size_t index = 0;
    for (const json::value& value : array(name, most)) {
      auto const place = std::string(name) + "[" + std::to_string(index++) + "]";
      if (!value.is_object()) return wrong(place, "must be an object");
      use(Fields(value.get_object(), place_ + place + ".", error_));
      if (!error_.empty()) return;
    }
  }

  Fields into(std::string_view name) {
    return {object(name), place_ + std::string(name) + ".", error_};
  }

  bool has(std::string_view name) const {
    auto const* const value = object_.if_contains(name);
    return value != nullptr && !value->is_null();
  }

  void wrong(std::string_view name, std::string_view what) {
    if (error_.empty()) error_ = place_ + std::string(name) + " " + std::string(what);
  }

 private:
  const json::value* find(std::string_view name) {
    auto const* const value = object_.if_contains(name);
    if (value == nullptr) wrong(name, "is missing");
    return value;
  }

  const json::object& object_;
  std::string place_;
  std::string& error_;
};

void sort_out_repeats(std::vector<std::string>& texts) {
  std::ranges::sort(texts);
  texts.erase(std::ranges::unique(texts).begin(), texts.end());
}

std::string calibration_of(Fields link) {
  auto text = link.text("shaper");
  auto check = link.into("self_check");
  if (check.has("skipped")) {
    text += ", self-check off (" + check.text("skipped") + ")";
  } else if (!check.flag("ok")) {
    text += ", self-check failed";
  }
  return text;
}

ReplayRow read_replay(Fields replay) {
  ReplayRow out;
  if (!replay.has("report")) return out;
  auto report = replay.into("report");
  report.each("distinct_misses", kMeasuredRequestsMax, [&](Fields miss) {
    auto const method = miss.text("method");
    out.misses.push_back(method + " " + miss.text("url"));
  });
  sort_out_repeats(out.misses);
  if (!report.has("link")) return out;
  auto link = report.into("link");
  for (const json::value& warning : link.array("doubts", kWarningsMax)) {
    if (!warning.is_string()) {
      link.wrong("doubts", "must be texts");
      break;
    }
    out.warnings.emplace_back(warning.get_string());
  }
  out.calibration = calibration_of(link);
  return out;
}

LoadRow read_load(Fields load, std::size_t replays) {
  LoadRow out;
  out.url = load.text("url");
  auto conditions = load.into("configuration");
  out.conditions = {.browser = conditions.text("browser"),
                    .protocol = conditions.text("protocol"),
                    .link = conditions.text("link"),
                    .cache = conditions.text("cache")};
  out.warm_up = load.flag("warm_up");
  auto const outcome = load.text("outcome");
  out.loaded = outcome == "loaded";
  if (!out.loaded) out.failure = outcome + ": " + load.text("failure");
  for (std::size_t i = 0; i < kMetricCount; ++i) out.metrics[i] = load.number(kMetrics[i].field);
  load.each("requests", kMeasuredRequestsMax, [&](Fields request) {
    auto const method = request.text("method");
    out.requests.push_back(method + " " + request.text("url"));
  });
  sort_out_repeats(out.requests);
  if (auto const replay = load.number("replay")) {
    if (*replay != std::floor(*replay) || *replay >= static_cast<double>(replays)) {
      load.wrong("replay", "is not an index into replays");
    } else {
      out.replay = static_cast<std::size_t>(*replay);
    }
  }
  return out;
}

}  // namespace

const ReplayRow& Measurements::replay_of(const LoadRow& load) const {
  static const ReplayRow kLive;
  return load.replay ? replays[*load.replay] : kLive;
}

std::expected<Measurements, std::string> read_measurements(const json::object& result) {
  std::string error;
  Fields fields(result, "", error);
  if (auto const schema = fields.text("schema"); error.empty() && schema != "reprise-load/1") {
    return std::unexpected("its schema is '" + schema.substr(0, 40) + "', not reprise-load/1");
  }
  Measurements out;
  out.archive = fields.text("archive", true);
  out.archive_sha256 = fields.text("archive_sha256", true);
  auto machine = fields.into("machine");
  out.machine =
      machine.text("cpu") + ", " +
      std::to_string(static_cast<int>(std::min(machine.number("cores").value_or(0), 1e6))) +
      " cores";
  fields.each("browsers", kMeasuredLoadsMax, [&](Fields browser) {
    auto const name = browser.text("name");
    out.browsers.push_back({.name = name, .version = browser.text("version")});
  });
  fields.each("replays", kMeasuredLoadsMax,
              [&](Fields replay) { out.replays.push_back(read_replay(replay)); });
  fields.each("loads", kMeasuredLoadsMax,
              [&](Fields load) { out.loads.push_back(read_load(load, out.replays.size())); });
  if (!error.empty()) return std::unexpected(error);
  return out;
}

std::expected<Measurements, std::string> parse_measurements(std::string_view text) {
  json::monotonic_resource memory;
  json::error_code error;
  auto const parsed = json::parse(text, error, &memory);  // at most 32 deep
  if (error) return std::unexpected("it is not JSON: " + error.message());
  if (!parsed.is_object()) return std::unexpected("it is not a JSON object");
  return read_measurements(parsed.get_object());
}

std::expected<Measurements, std::string> read_measurements_file(const std::filesystem::path& path) {
  std::error_code error;
  auto const size = std::filesystem::file_size(path, error);
  if (error) return std::unexpected(error.message());
  if (size > kMeasurementsBytesMax) return std::unexpected("it is larger than 256 MiB");
  std::ifstream file(path, std::ios::binary);
  std::string const text{std::istreambuf_iterator<char>(file), {}};
  if (!file) return std::unexpected("it cannot be read");
  return parse_measurements(text);
}

}  // namespace reprise
