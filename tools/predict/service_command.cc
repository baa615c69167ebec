#include <algorithm>
#include <boost/json.hpp>
#include <cstdio>
#include <expected>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include "analysis/service/latency_profile.h"
#include "analysis/service/service_prediction.h"
#include "analysis/sources/span_input.h"
#include "archive/import/source/opened_file.h"
#include "base/system/json_file.h"
#include "base/system/private_file.h"
#include "base/system/text_file.h"
#include "base/text/counted.h"
#include "base/text/printable.h"
#include "tools/commands.h"
#include "tools/predict/prediction_report.h"
#include "tools/predict/service_profile.h"
#include "tools/predict/service_report.h"
#include "tools/process/command_line.h"
#include "tools/process/say.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

/// More can be given, for replays of many loads.
constexpr std::size_t kThinkTimesMax = 100'000;

struct ServiceFlags {
  std::vector<fs::path> traces, measured;
  std::string service, endpoint;
  std::vector<std::string> scenarios;
  fs::path profile, think, kept_profile;
  std::string conditions;
  std::uint32_t workers = 1;
  double service_demand_ms = 0;
  std::uint64_t seed = 1;
  bool json = false;
};

/// Of one or more files. The error was printed; it is an exit code.
std::expected<SpanSet, int> read_traces(const std::vector<fs::path>& paths) {
  SpanSet all;
  for (fs::path const& path : paths) {
    auto file = importing::OpenedFile::open(path);
    if (!file) return std::unexpected(say(kExitFailed, path.string() + ": " + file.error()));
    auto set = read_spans(*file->source());
    if (!set) return std::unexpected(say(kExitFailed, path.string() + ": " + set.error()));
    all.add(std::move(*set));
  }
  return all;
}

/// At most so many of them, from the whole of it: they are in the order of the requests.
std::vector<double> evenly_taken(const std::vector<double>& all, std::size_t most) {
  if (all.size() <= most) return all;
  std::vector<double> taken;
  for (std::size_t i = 0; i < most; ++i) taken.push_back(all[i * all.size() / most]);
  return taken;
}

class ServiceRun {
 public:
  explicit ServiceRun(const ServiceFlags& flags) : flags_(flags) {}

  int run() {
    if (!replaces_nothing("TRACES", flags_.traces) ||
        !replaces_nothing("--measured", flags_.measured)) {
      return kExitUsage;
    }
    if (auto const code = read_scenarios()) return *code;
    auto const endpoint = endpoint_in(flags_.traces, flags_.service, flags_.endpoint);
    if (!endpoint) return endpoint.error();
    if (!flags_.measured.empty()) {
      auto const other = endpoint_in(flags_.measured, endpoint->service, endpoint->endpoint);
      if (!other) return other.error();
      for (auto const& request : other->requests) {
        measured_.push_back(static_cast<double>(request.took_us));
      }
    }
    if (!flags_.kept_profile.empty()) return keep_profile(*endpoint);
    auto const& requests = endpoint->requests;
    if (requests.size() < ServiceGraph::kRequestsMin) {
      remark("the graph is inferred from " + counted(requests.size(), "request") + "; from " +
             std::to_string(ServiceGraph::kRequestsMin) + " on it can be trusted");
    }
    auto const graph = learn_service(*endpoint);
    if (graph.calls_not_kept > 0) {
      remark(counted(graph.calls_not_kept, "call") + " beyond the " +
             std::to_string(ServiceGraph::kCallsMax) +
             " most frequent kinds: counted as the service's own work");
    }
    auto const change = service_change(graph, requests, scenarios_, profile_);
    if (!change) return say(kExitUsage, change.error());
    for (auto const& each : change->remarks) remark(each);
    auto const prediction =
        predict_service(graph, requests, *change,
                        {.seed = flags_.seed,
                         .workers = flags_.workers,
                         .service_demand_us = flags_.service_demand_ms * 1'000});
    if (!prediction.within_bound) {
      remark("the quantiles are not within 1 % after " +
             counted(prediction.times.predicted_us.size(), "sample"));
    }
    remark_demand(*change, prediction);
    if (flags_.service_demand_ms == 0 && prediction.work_factor < 1) {
      char share[16];
      std::snprintf(share, sizeof share, "%.0f %%", prediction.work_factor * 100);
      remark(counted(change->observed_users, "user") + " at a time were observed: " + share +
             " of the time between calls is taken as work, the rest as waiting for each other");
    }
    return tell(*endpoint, graph, prediction);
  }

 private:
  /// Whether no output replaces one of these inputs or the profile. Prints an error.
  bool replaces_nothing(const char* flag, const std::vector<fs::path>& inputs) const {
    return are_different_files(flag, inputs,
                               {{"--profile", flags_.profile},
                                {"--add-to-profile", flags_.kept_profile},
                                {"-o", flags_.think}});
  }

  void remark(std::string text) {
    say(0, text);
    remarks_.push_back(std::move(text));
  }

  void remark_demand(const ServiceChange& change, const ServicePrediction& prediction) {
    constexpr double kFactorMax = 10;
    if (flags_.workers > 1 && change.users == 0) {
      remark("--workers is not used: no scenario has users=N or lost=K/N of the service");
    }
    if (flags_.service_demand_ms == 0) return;
    if (change.users == 0) {
      remark("--service-demand is not used: no scenario has users=N or lost=K/N of the service");
    } else if (prediction.work_factor * kFactorMax < 1 || prediction.work_factor > kFactorMax) {
      remark("--service-demand differs much from the work that the spans show: check its unit, ms");
    }
  }

  std::optional<int> read_scenarios() {
    for (auto const& text : flags_.scenarios) {
      auto scenario = parse_service_scenario(text);
      if (!scenario) return say(kExitUsage, "--scenario " + scenario.error());
      scenarios_.push_back(std::move(*scenario));
    }
    if (flags_.profile.empty()) return std::nullopt;
    auto const text = read_text_file(flags_.profile, LatencyProfile::kBytesMax);
    if (!text) {
      return say(kExitFailed,
                 flags_.profile.string() + " cannot be read: " + text.error().message());
    }
    auto profile = read_latency_profile(*text);
    if (!profile) return say(kExitFailed, flags_.profile.string() + ": " + profile.error());
    profile_ = std::move(*profile);
    return std::nullopt;
  }

  /// The one that is asked for (empty: any), or the only one that calls something.
  std::expected<ServiceEndpoint, int> endpoint_in(const std::vector<fs::path>& paths,
                                                  const std::string& service,
                                                  const std::string& name) {
    auto set = read_traces(paths);
    if (!set) return std::unexpected(set.error());
    auto losses = set->losses;
    auto all = service_endpoints(*set, losses);
    for (CallLoss const& loss : losses) remark(loss.what + ": " + std::to_string(loss.count));
    std::erase_if(all, [&](const ServiceEndpoint& each) {
      return (!service.empty() && each.service != service) ||
             (!name.empty() && each.endpoint != name);
    });
    if (all.empty()) {
      auto const asked = name.empty() && service.empty()
                             ? std::string("requests to a service")
                             : "requests to " + (name.empty() ? "a service" : name) +
                                   (service.empty() ? "" : " of " + service);
      return std::unexpected(
          say(kExitFailed, paths.front().string() + " has no " + printable(asked)));
    }
    auto calling = all;
    std::erase_if(calling, [](const ServiceEndpoint& each) {
      return std::ranges::all_of(
          each.requests, [](const ServiceRequest& request) { return request.calls.empty(); });
    });
    if (all.size() > 1 && calling.size() == 1) return std::move(calling.front());
    if (all.size() == 1) return std::move(all.front());
    std::string text =
        "the traces have several endpoints; choose one with --endpoint or --service:";
    for (ServiceEndpoint const& each : all) {
      text += "\n  " + printable(each.endpoint) + " of " + printable(each.service) + ", " +
              counted(each.requests.size(), "request");
    }
    return std::unexpected(say(kExitUsage, text));
  }

  int keep_profile(const ServiceEndpoint& endpoint) {
    auto const conditions = parse_latency_conditions(flags_.conditions);
    if (!conditions) return say(kExitUsage, "--conditions: " + conditions.error());
    LatencyProfile profile;
    if (fs::exists(flags_.kept_profile)) {
      auto const text = read_text_file(flags_.kept_profile, LatencyProfile::kBytesMax);
      auto kept =
          text ? read_latency_profile(*text) : std::unexpected(std::string(text.error().message()));
      if (!kept) return say(kExitFailed, flags_.kept_profile.string() + ": " + kept.error());
      profile = std::move(*kept);
    }
    add_latencies(profile, endpoint, *conditions);
    auto const text = latency_profile_json(profile);
    if (auto const read = read_latency_profile(text); !read) {
      return say(kExitFailed, "the times cannot be added to " + flags_.kept_profile.string() +
                                  ", which could not be read then: " + read.error());
    }
    return written(flags_.kept_profile, text) ? kExitDone : kExitFailed;
  }

  static bool written(const fs::path& path, std::string_view text) {
    auto const done = write_private_file(text, path);
    if (!done) say(kExitFailed, path.string() + " cannot be written: " + done.error().message());
    return done.has_value();
  }

  int tell(const ServiceEndpoint& endpoint, const ServiceGraph& graph,
           const ServicePrediction& prediction) {
    auto const think = evenly_taken(prediction.times.predicted_us, kThinkTimesMax);
    if (!flags_.think.empty() && !written(flags_.think, think_times_text(think))) {
      return kExitFailed;
    }
    if (flags_.json) {
      std::printf("%s\n", json::serialize(report(endpoint, graph, prediction)).c_str());
    } else if (flags_.think != "-") {
      std::printf("%s of %s, %s\n%s%s", printable(endpoint.endpoint).c_str(),
                  printable(endpoint.service).c_str(),
                  counted(endpoint.requests.size(), "request").c_str(),
                  service_graph_text(graph).c_str(),
                  times_text(prediction.times, measured_, "request").c_str());
    }
    return kExitDone;
  }

  json::object report(const ServiceEndpoint& endpoint, const ServiceGraph& graph,
                      const ServicePrediction& prediction) const {
    auto const texts = [](const std::vector<std::string>& all) {
      json::array out;
      for (auto const& each : all) out.push_back(json::string(as_utf8(each)));
      return out;
    };
    json::object out{{"schema", "reprise-service-prediction/1"},
                     {"service", as_utf8(endpoint.service)},
                     {"endpoint", as_utf8(endpoint.endpoint)},
                     {"requests", endpoint.requests.size()},
                     {"scenarios", texts(flags_.scenarios)},
                     {"remarks", texts(remarks_)},
                     {"seed", flags_.seed},
                     {"within_bound", prediction.within_bound},
                     {"work_factor", prediction.work_factor},
                     {"graph", service_graph_json(graph)}};
    for (auto& [name, value] : times_json(prediction.times, measured_)) {
      out[name] = std::move(value);
    }
    return out;
  }

  const ServiceFlags& flags_;
  std::vector<ServiceScenario> scenarios_;
  LatencyProfile profile_;
  std::vector<double> measured_;  ///< us, of the same endpoint of the changed service
  std::vector<std::string> remarks_;
};

}  // namespace

void add_predict_service_command(CLI::App& app, int& exit_code) {
  auto const flags = std::make_shared<ServiceFlags>();
  auto* const sub = add_command(
      app, "predict-service",
      "Predict how long a service would take: reprise predict-service TRACES... --scenario "
      "'DEPENDENCY: CHANGE' [-o think.txt]");
  sub->add_option("TRACES", flags->traces,
                  "Spans of 100 requests or more (OTLP/JSON, Zipkin), as for `explain`")
      ->required();
  sub->add_option("--scenario", flags->scenarios,
                  "What would be different (docs/predict-service.md); several are made together")
      ->allow_extra_args(false)
      ->type_name("'DEPENDENCY: CHANGE'");
  sub->add_option("--profile", flags->profile,
                  "How long the dependencies take under other conditions, as JSON");
  sub->add_option("--service", flags->service, "Predict for this service");
  sub->add_option("--endpoint", flags->endpoint,
                  "Predict for the requests to this endpoint, such as 'GET /cart'");
  sub->add_option("--measured", flags->measured,
                  "Show how wrong the prediction is, by spans of the same endpoint of the changed "
                  "service")
      ->allow_extra_args(false);
  sub->add_option("--workers", flags->workers,
                  "Requests that a replica works on at a time, for users=N; Node works on one")
      ->check(CLI::Range(1U, 1'000U))
      ->capture_default_str();
  sub->add_option("--service-demand", flags->service_demand_ms,
                  "How long the workers of all replicas were busy for a request in the traces, in "
                  "ms, for users=N and lost=K/N: spans do not show all of their work")
      ->check(numbers_between(.001, 1e6))
      ->type_name("MS");
  sub->add_option("--seed", flags->seed, "Seed for what is drawn")
      ->check(seeds())
      ->capture_default_str();
  sub->add_flag("--json", flags->json, "Print JSON, with the graph and all times");
  sub->add_option("-o,--output", flags->think,
                  "Write the predicted times to this file, for --what-if 'FILTER: think=FILE'; - "
                  "writes to standard output");
  auto* const conditions = sub->add_option("--conditions", flags->conditions,
                                           "The conditions of the traces, for --add-to-profile: "
                                           "tier=NAME,location=NAME,size=N,concurrency=N");
  auto* const kept = sub->add_option("--add-to-profile", flags->kept_profile,
                                     "Predict nothing; add the times of the calls to this profile");
  kept->needs(conditions);
  conditions->needs(kept);
  for (auto const* const name : {"--scenario", "--profile", "--measured", "--json", "-o"}) {
    kept->excludes(sub->get_option(name));
  }
  sub->callback([flags, &exit_code] {
    exit_code = flags->json && flags->think == "-"
                    ? say(kExitUsage, "-o - and --json both write to standard output")
                    : ServiceRun(*flags).run();
  });
}

}  // namespace reprise
