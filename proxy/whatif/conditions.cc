#include "proxy/whatif/conditions.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "archive/think_time.h"
#include "base/text/counted.h"

namespace reprise::whatif {
namespace {

class Maker {
 public:
  Maker(const PageRequests& requests, std::span<const Intervention> interventions,
        std::uint64_t seed, bool has_think_times, const SpokenProtocols& spoken,
        std::vector<Effect>& effects)
      : requests_(requests),
        interventions_(interventions),
        effects_(effects),
        has_think_times_(has_think_times),
        spoken_(spoken),
        think_(std::make_shared<ThinkRules>(seed)) {
    for (const Intervention& each : interventions) {
      auto const* const think = each.as<Think>();
      rules_.push_back(think == nullptr ? nullptr
                                        : std::make_shared<ThinkRules::Rule>(ThinkRules::Rule{
                                              .change = think->change, .draws = think->draws}));
    }
    auto const* const page = requests.page();
    if (page != nullptr && page->scheme == Scheme::kHttps) conditions_.tls.page = page->host;
  }

  Conditions make() {
    for (const PageRequest& request : requests_.all()) {
      for (std::size_t const by : request.by) take(request, by);
    }
    for (auto const& [by, hosts] : speaking_) {
      for (const std::string& host : hosts) speaks(host, interventions_[by].as<Speak>()->alpn, by);
    }
    if (!think_->empty()) conditions_.think = think_;
    return std::move(conditions_);
  }

 private:
  void take(const PageRequest& request, std::size_t by) {
    const Intervention& intervention = interventions_[by];
    if (!intervention.is_condition()) return;
    ++effects_[by].selected;
    if (!request.is_answered) {
      effects_[by].remark("it has no response", request.url);
    } else if (rules_[by] != nullptr) {
      change_think_time(request, by);
    } else if (auto const* const away = intervention.as<FurtherAway>()) {
      if (!is_first_of_host(request, by)) return;
      conditions_.further_away[request.host] += away->by;
      effects_[by].add(request.host, "further away");
    } else if (auto const* const slower = intervention.as<SlowerName>()) {
      if (!is_first_of_host(request, by)) return;
      conditions_.slower_names[request.host] += slower->by;
      effects_[by].add(request.host, "slower name");
    } else if (request.scheme != Scheme::kHttps) {
      effects_[by].remark("it has no TLS", request.url);
    } else if (intervention.as<Speak>() != nullptr) {
      if (!is_first_of_host(request, by)) return;
      speaking_[by].push_back(request.host);
    } else {
      coalesce(request, by);
    }
  }

  void change_think_time(const PageRequest& request, std::size_t by) {
    using enum ThinkTimeChange::Kind;
    const ThinkRules::Rule& rule = *rules_[by];
    bool const gives_one = !rule.draws.empty() || rule.change.kind == kAdd ||
                           (rule.change.kind == kSet && rule.change.by.count() > 0);
    if (!has_think_times_ && !gives_one && !thinking_.contains(request.sequence)) {
      effects_[by].remark("it has no think time (--think-time recorded gives it the recorded one)",
                          request.url);
      return;
    }
    if (gives_one) thinking_.insert(request.sequence);
    think_->add(request.sequence, rules_[by]);
    effects_[by].add(request.url, "think time");
  }

  /// The last what-if for a host comes first. HTTP/3 comes on top of what an earlier one sets.
  void speaks(const std::string& host, const std::string& alpn, std::size_t by) {
    auto& tls = conditions_.tls;
    bool const h3 = alpn == "h3";
    if (tls.alpn.contains(host) || (h3 && tls.h3.contains(host))) {
      return effects_[by].remark("a later what-if sets the same", host);
    }
    // Also what is so already: it overrules earlier what-ifs.
    if (h3) {
      tls.h3.insert(host);
    } else {
      tls.alpn[host] = alpn;
    }
    auto const idle = values_of_no_change(host, alpn);
    if (!idle.empty()) {
      bool const always = idle.size() == spoken_.values;
      effects_[by].remark(always ? "it is so already" : "it is so already with " + named(idle),
                          host);
      if (always) return;
    }
    effects_[by].add(host, h3 ? "HTTP/3" : alpn == "h2" ? "HTTP/2" : "HTTP/1.1");
  }

  /// The values of `--protocol` with which the host speaks it without what-ifs.
  std::vector<std::string> values_of_no_change(const std::string& host,
                                               const std::string& alpn) const {
    auto const of_host = spoken_.with.find(host);
    if (of_host == spoken_.with.end()) return {};
    auto const known = of_host->second.find(alpn);
    if (known == of_host->second.end()) return {};
    // An earlier one is overruled; another protocol over TCP would end HTTP/3.
    bool const overrules = std::ranges::any_of(speaking_, [&](auto const& each) {
      bool const is_other = interventions_[each.first].template as<Speak>()->alpn != alpn;
      return is_other && std::ranges::find(each.second, host) != each.second.end();
    });
    return overrules ? std::vector<std::string>() : known->second;
  }

  static std::string named(const std::vector<std::string>& values) {
    std::string text;
    for (const std::string& each : values) text += (text.empty() ? "--protocol " : ",") + each;
    return text;
  }

  void coalesce(const PageRequest& request, std::size_t by) {
    if (!is_first_of_host(request, by)) return;
    if (conditions_.tls.page.empty()) {
      effects_[by].remark("the recording has no page with TLS", request.host);
      return;
    }
    if (request.host == conditions_.tls.page) {
      effects_[by].remark("it is the page's own host", request.host);
      return;
    }
    conditions_.tls.coalesced.insert(request.host);
    effects_[by].add(request.host, "with " + conditions_.tls.page);
  }

  bool is_first_of_host(const PageRequest& request, std::size_t by) {
    return hosts_.emplace(by, request.host).second;
  }

  const PageRequests& requests_;
  std::span<const Intervention> interventions_;
  std::vector<Effect>& effects_;
  bool has_think_times_;
  const SpokenProtocols& spoken_;
  std::set<std::uint64_t> thinking_;  // requests that a what-if gives a think time
  std::shared_ptr<ThinkRules> think_;
  std::vector<std::shared_ptr<const ThinkRules::Rule>> rules_;
  std::set<std::pair<std::size_t, std::string>> hosts_;
  std::map<std::size_t, std::vector<std::string>, std::greater<>> speaking_;  // hosts, by Speak
  Conditions conditions_;
};

}  // namespace

Conditions conditions_of(const PageRequests& requests, std::span<const Intervention> interventions,
                         std::uint64_t seed, std::vector<Effect>& effects, bool has_think_times,
                         const SpokenProtocols& spoken) {
  return Maker(requests, interventions, seed, has_think_times, spoken, effects).make();
}

}  // namespace reprise::whatif
