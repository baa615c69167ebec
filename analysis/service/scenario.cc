#include "analysis/service/scenario.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <set>

#include "archive/think_time.h"
#include "base/text/glob.h"
#include "base/text/white_space.h"

namespace reprise {
namespace {

constexpr std::string_view kChanges =
    "of a dependency tier=NAME, location=NAME, size=N, concurrency=N, rtt=+TIME, lost=K/N; of "
    "'service' cpu=xF, users=N, lost=K/N";

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number number{};
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<double> amount_of(std::string_view text) {
  auto const number = number_of<double>(text);
  return number && std::isfinite(*number) && *number > 0 && *number <= 1e12 ? number : std::nullopt;
}

std::optional<std::int64_t> signed_us(std::string_view text) {
  if (!text.starts_with('+') && !text.starts_with('-')) return std::nullopt;
  auto const by = parse_milliseconds(text.substr(1));
  if (!by) return std::nullopt;
  auto const us = std::chrono::duration_cast<std::chrono::microseconds>(*by).count();
  return text.starts_with('-') ? -us : us;
}

std::optional<LostReplicas> lost_of(std::string_view text) {
  auto const slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  auto const lost = number_of<std::uint32_t>(text.substr(0, slash));
  auto const of = number_of<std::uint32_t>(text.substr(slash + 1));
  if (!lost || !of || *lost == 0 || *lost >= *of || *of > 1'000) return std::nullopt;
  return LostReplicas{*lost, *of};
}

/// Whether `value` can be read as that change.
bool read_change(ServiceScenario& out, std::string_view name, std::string_view value) {
  bool const is_service = out.target == ServiceScenario::kService;
  if (name == "lost") return (out.lost = lost_of(value)).has_value();
  if (is_service && name == "cpu") {
    out.cpu = parse_factor(value);
    return out.cpu && *out.cpu > 0;
  }
  if (is_service && name == "users") {
    out.users = number_of<std::uint32_t>(value);
    return out.users && *out.users > 0 && *out.users <= ServiceScenario::kUsersMax;
  }
  if (is_service) return false;
  if (name == "tier") out.tier = value;
  if (name == "location") out.location = value;
  if (name == "tier" || name == "location") return !value.empty();
  if (name == "size") return (out.size = amount_of(value)).has_value();
  if (name == "concurrency") return (out.concurrency = amount_of(value)).has_value();
  if (name == "rtt") return (out.rtt_us = signed_us(value)).has_value();
  return false;
}

bool takes(const ServiceScenario& scenario, const DependencyNode& node) {
  return fits_glob(scenario.target, node.type) || fits_glob(scenario.target, node.name);
}

class ChangeMaker {
 public:
  ChangeMaker(const ServiceGraph& graph, std::span<const ServiceRequest> requests,
              std::span<const ServiceScenario> scenarios, const LatencyProfile& profile)
      : graph_(graph), requests_(requests), scenarios_(scenarios), profile_(profile) {
    change_.calls.resize(graph.answer());
  }

  std::expected<ServiceChange, std::string> run() && {
    for (ServiceScenario const& each : scenarios_) {
      if (each.target == ServiceScenario::kService) continue;
      bool const any = std::ranges::any_of(graph_.graph.nodes, [&](const DependencyNode& node) {
        return node.kind == DependencyNodeKind::kRequest && takes(each, node);
      });
      if (!any) return std::unexpected("'" + each.text + "' selects none of: " + dependencies());
    }
    if (auto why = change_service(); !why.empty()) return std::unexpected(std::move(why));
    for (std::uint32_t node = 0; node < graph_.answer(); ++node) {
      if (auto why = change_call(node); !why.empty()) return std::unexpected(std::move(why));
    }
    return std::move(change_);
  }

 private:
  std::string dependencies() const {
    std::set<std::string> names;
    for (std::uint32_t i = 0; i < graph_.answer(); ++i) names.insert(graph_.graph.nodes[i].type);
    std::string text;
    for (auto const& name : names) text += (text.empty() ? "" : ", ") + name;
    return text.empty() ? "the requests call nothing" : text;
  }

  /// Why it cannot be changed; empty if it is.
  std::string change_service() {
    double const observed = observed_concurrency(requests_, graph_.grain_us);
    double replicas = 1;
    double left = 1;
    std::uint32_t users = 0;
    std::string changing;
    for (ServiceScenario const& each : scenarios_) {
      if (each.target != ServiceScenario::kService) continue;
      if (each.cpu) change_.cpu *= *each.cpu;
      if (each.users) users = *each.users;
      if (each.users || each.lost) changing += (changing.empty() ? "'" : ", '") + each.text + "'";
      if (!each.lost) continue;
      replicas = each.lost->of;
      left = replicas - each.lost->lost;
    }
    double const of_each = (users > 0 ? users * replicas : observed) / left;
    if (replicas > 1 && of_each > ServiceScenario::kUsersMax) {
      char text[160];
      std::snprintf(text, sizeof text,
                    " gives each replica that is left %.0f users; at most %u are simulated",
                    of_each, ServiceScenario::kUsersMax);
      return changing + text;
    }
    auto const whole = [](double number) {
      return static_cast<std::uint32_t>(
          std::clamp(std::round(number), 1.0, double{ServiceScenario::kUsersMax}));
    };
    change_.observed_users = whole(observed / replicas);
    change_.users = users;
    if (replicas > 1) change_.users = whole(of_each);
    // As many users as before make as many calls as before, over however many replicas.
    has_other_calls_ = users > 0 && (replicas == 1 || users != change_.observed_users);
    calls_factor_ = left / replicas;
    return {};
  }

  /// Why it cannot be changed; empty if it is.
  std::string change_call(std::uint32_t place) {
    DependencyNode const& node = graph_.graph.nodes[place];
    CallChange& out = change_.calls[place];
    auto const* const known = profile_.find(node.type);
    auto conditions = known == nullptr ? LatencyConditions() : known->observed;
    bool is_moved = false;
    double lost_factor = 1;
    const ServiceScenario* losing = nullptr;
    out.calls_factor = calls_factor_;
    for (ServiceScenario const& each : scenarios_) {
      if (each.target == ServiceScenario::kService || !takes(each, node)) continue;
      if (each.rtt_us) out.add_us += *each.rtt_us;
      if (each.tier) conditions.tier = *each.tier;
      if (each.location) conditions.location = *each.location;
      if (each.size) conditions.size = *each.size;
      if (each.concurrency) conditions.concurrency = *each.concurrency;
      if (each.lost) {
        lost_factor *= static_cast<double>(each.lost->of) /
                       static_cast<double>(each.lost->of - each.lost->lost);
        losing = &each;
      }
      if (each.concurrency && has_users()) {
        return "'" + each.text + "' contradicts users=: the users make the calls";
      }
      bool const moves = each.tier || each.location || each.size || each.concurrency || each.lost;
      is_moved = is_moved || moves;
      if (moves && known == nullptr) {
        return "'" + each.text + "' needs a profile of " + node.type + " (--profile)";
      }
    }
    if (known == nullptr) return {};
    if (losing != nullptr && conditions.concurrency == 0) {
      return "'" + losing->text + "' needs the observed concurrency in the profile of " + node.type;
    }
    conditions.concurrency *= lost_factor;
    out.calls_factor *= lost_factor;
    auto from = known->at(node.function, known->observed);
    if (has_other_calls_) load(*known, node, conditions, from.has_value(), out);
    if (!is_moved && out.loaded.empty()) return {};
    if (out.loaded.empty()) {
      auto to = known->at(node.function, conditions);
      if (!to) return to.error();
      out.to = std::move(*to);
    } else {
      // Calls take their times from `loaded`, whatever concurrency the conditions have.
      out.to = out.loaded.front().second;
    }
    if (from) {
      out.from = std::move(*from);
    } else {
      change_.remarks.push_back("the times of " + node.name +
                                " are drawn: its profile has none under the observed conditions");
    }
    return {};
  }

  bool has_users() const {
    return std::ranges::any_of(scenarios_, [](const auto& each) { return each.users.has_value(); });
  }

  /// Sets the times of a call by concurrency.
  void load(const DependencyProfile& known, const DependencyNode& node,
            const LatencyConditions& conditions, bool is_observed, CallChange& out) {
    constexpr std::size_t kConcurrenciesMax = 100;
    if (is_observed) {
      for (double const concurrency : known.concurrencies(node.function, conditions)) {
        auto at = conditions;
        at.concurrency = concurrency;
        if (out.loaded.size() == kConcurrenciesMax) break;
        if (auto to = known.at(node.function, at)) out.loaded.emplace_back(concurrency, *to);
      }
    }
    if (out.loaded.size() < 2) {
      out.loaded.clear();
      change_.remarks.push_back("the times of " + node.name +
                                " do not grow with the users: the profile needs them "
                                "under two concurrencies, and under the observed conditions");
    } else if (auto const most = out.loaded.back().first; change_.users * out.calls_factor > most) {
      char text[160];
      std::snprintf(text, sizeof text,
                    " was measured with at most %g calls at a time: with more it takes as long",
                    most);
      change_.remarks.push_back(node.name + text);
    }
  }

  const ServiceGraph& graph_;
  std::span<const ServiceRequest> requests_;
  std::span<const ServiceScenario> scenarios_;
  const LatencyProfile& profile_;
  bool has_other_calls_ = false;  ///< there are not as many users as were observed
  double calls_factor_ = 1;       ///< of the service: the calls of lost replicas are made by others
  ServiceChange change_;
};

}  // namespace

std::expected<ServiceScenario, std::string> parse_service_scenario(std::string_view text) {
  auto const wrong = [&](const std::string& why) {
    return std::unexpected("'" + std::string(text) + "': " + why);
  };
  ServiceScenario out{.text = std::string(text)};
  auto const colon = text.rfind(": ");
  if (colon == std::string_view::npos) {
    return wrong("a scenario is 'DEPENDENCY: CHANGE' or 'service: CHANGE'");
  }
  out.target = trim(text.substr(0, colon));
  if (out.target.empty()) return wrong("there is no dependency before the colon");
  auto rest = text.substr(colon + 1);
  while (true) {
    auto const comma = rest.find(',');
    auto const one = trim(rest.substr(0, comma));
    auto const equals = one.find('=');
    bool const is_pair = equals != std::string_view::npos;
    if (!is_pair || !read_change(out, one.substr(0, equals), one.substr(equals + 1))) {
      return wrong("'" + std::string(one) + "' is not a change. Changes: " + std::string(kChanges));
    }
    if (comma == std::string_view::npos) return out;
    rest.remove_prefix(comma + 1);
  }
}

bool ServiceChange::draws() const {
  return std::ranges::any_of(calls, [](const CallChange& each) { return each.to && !each.from; });
}

double observed_concurrency(std::span<const ServiceRequest> requests, std::int64_t grain_us) {
  std::vector<std::pair<std::int64_t, std::int64_t>> sorted;  // start and end
  for (ServiceRequest const& request : requests) {
    sorted.emplace_back(request.started_ns, request.started_ns + request.took_us * 1'000);
  }
  std::ranges::sort(sorted);
  double sum_ns = 0;
  double any_ns = 0;
  auto until = sorted.empty() ? 0 : sorted.front().first;
  for (auto const& [told, told_end] : sorted) {
    auto const start = std::clamp(until, told, told + grain_us * 1'000);
    auto const end = start + (told_end - told);
    sum_ns += static_cast<double>(end - start);
    any_ns += static_cast<double>(std::max(end - std::max(start, until), std::int64_t{0}));
    until = std::max(until, end);
  }
  return any_ns > 0 ? sum_ns / any_ns : 1;
}

std::expected<ServiceChange, std::string> service_change(const ServiceGraph& graph,
                                                         std::span<const ServiceRequest> requests,
                                                         std::span<const ServiceScenario> scenarios,
                                                         const LatencyProfile& profile) {
  return ChangeMaker(graph, requests, scenarios, profile).run();
}

}  // namespace reprise
