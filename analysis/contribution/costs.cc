#include "analysis/contribution/costs.h"

#include <algorithm>
#include <charconv>
#include <tuple>

#include "base/http/headers.h"
#include "base/http/url_parts.h"

namespace reprise {
namespace {

/// Attributes of requests that somebody sets, or a server answers with.
constexpr std::string_view kSettings[] = {"protocol",         "priority", "cache-control",
                                          "content-encoding", "cached",   "cdn"};

constexpr std::string_view kNoScript = "the browser itself";

double number(std::string_view text) {
  double value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && value > 0 && value < 1e15 ? value : 0;
}

/// The time for which tasks on the main thread had a processor, without those inside them.
std::vector<double> processor_times(const CallTree& tree) {
  std::vector<double> times(tree.calls.size());
  for (std::size_t i = 0; i < tree.calls.size(); ++i) {
    Call const& call = tree.calls[i];
    if (call.kind != CallKind::kTask) continue;
    auto const whole = static_cast<double>(std::max<std::int64_t>(call.end_us - call.start_us, 1));
    auto const took = static_cast<double>(std::min(call.end_us, tree.window_us) -
                                          std::min(call.start_us, tree.window_us)) *
                      processor_us(call) / whole;
    times[i] += took;
    bool const inside = call.parent != kNoParent;
    if (inside && tree.calls[call.parent].kind == CallKind::kTask) times[call.parent] -= took;
  }
  for (double& each : times) each = std::max(each, 0.0);
  return times;
}

/// "start (https://a.test/app.js:12)"; or the URL, or both without the line.
std::string script_name(const Call& task) {
  std::string name(without_query(task.attribute("url")));
  if (auto const line = task.attribute("line"); !line.empty()) name += ":" + std::string(line);
  auto const function = task.attribute("function");
  return function.empty() ? name : std::string(function) + " (" + name + ")";
}

void add_to(Cost& cost, const Cost& more) {
  cost.us += more.us;
  cost.processor_us += more.processor_us;
  cost.bytes += more.bytes;
  cost.requests += more.requests;
}

}  // namespace

double wire_bytes(const Call& request) {
  return number(request.attribute("bytes"));
}

std::string_view to_string(CauseKind kind) {
  constexpr std::array<std::string_view, kCauseKindCount> kNames{"host", "entity", "script",
                                                                 "setting"};
  return kNames[std::size_t(kind)];
}

Cost& CostSums::of(CauseKind kind, std::string_view name) {
  auto& sums = sums_[std::size_t(kind)];
  auto const found = sums.find(name);
  if (found != sums.end()) return found->second;
  return sums.emplace(std::string(name), Cost{.name = std::string(name)}).first->second;
}

std::string CostSums::entity_of(std::string_view host) const {
  auto const* const entity = entities_.find(host);
  return entity == nullptr ? std::string(host) : entity->name;
}

void CostSums::add(const CallTree& tree, const std::vector<std::int64_t>& own_us) {
  auto const processor_us = processor_times(tree);
  std::vector<const Call*> request(tree.calls.size());  // the call itself, or what it is in
  std::vector<const Call*> script(tree.calls.size());
  for (std::size_t i = 0; i < tree.calls.size(); ++i) {
    Call const& call = tree.calls[i];
    if (call.parent != kNoParent) {
      request[i] = request[call.parent];
      script[i] = script[call.parent];
    }
    if (call.kind == CallKind::kRequest) request[i] = &call;
    if (call.kind == CallKind::kTask && !call.attribute("url").empty()) script[i] = &call;
    if (call.kind == CallKind::kMeasure) continue;  // the page's own name for the rest
    bool const is_request = call.kind == CallKind::kRequest;
    Cost const cost{.name = {},
                    .us = static_cast<double>(own_us[i]),
                    .processor_us = processor_us[i],
                    .bytes = is_request ? wire_bytes(call) : 0,
                    .requests = is_request ? 1.0 : 0.0};
    if (request[i] == nullptr && call.kind != CallKind::kTask) continue;
    std::string_view url;
    if (request[i] != nullptr) {
      url = request[i]->name;
    } else if (script[i] != nullptr) {
      url = script[i]->attribute("url");
    }
    auto const host = lower_case(url_parts(url).host);
    add_to(of(CauseKind::kHost, host.empty() ? kNoScript : host), cost);
    add_to(of(CauseKind::kEntity, host.empty() ? kNoScript : entity_of(host)), cost);
    if (request[i] == nullptr) {
      auto const name = script[i] == nullptr ? std::string(kNoScript) : script_name(*script[i]);
      add_to(of(CauseKind::kScript, name), cost);
      continue;
    }
    if (request[i]->attribute("type") == "Script") {
      add_to(of(CauseKind::kScript, std::string(without_query(request[i]->name))), cost);
    }
    for (auto const name : kSettings) {
      auto const value = request[i]->attribute(name);
      if (value.empty()) continue;
      add_to(of(CauseKind::kSetting, std::string(name) + ": " + std::string(value)), cost);
    }
  }
}

Costs CostSums::means(std::size_t views) const {
  Costs costs;
  auto const count = static_cast<double>(std::max<std::size_t>(views, 1));
  for (std::size_t kind = 0; kind < kCauseKindCount; ++kind) {
    for (auto const& [name, sum] : sums_[kind]) {
      costs[kind].push_back({.name = name,
                             .us = sum.us / count,
                             .processor_us = sum.processor_us / count,
                             .bytes = sum.bytes / count,
                             .requests = sum.requests / count});
    }
    std::ranges::sort(costs[kind], {}, [](const Cost& cost) {
      return std::tuple(-cost.us, -cost.processor_us, -cost.bytes, cost.name);
    });
    costs[kind].resize(std::min(costs[kind].size(), kCostsMax));
  }
  return costs;
}

}  // namespace reprise
