#include "tests/analysis/service/generated_service.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <random>

namespace reprise {
namespace {

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : random_(seed) {}

  GeneratedService run() && {
    service_.rounds_starts = chance(.5);
    auto const stages = 2 + random_() % 3;
    for (std::size_t stage = 0; stage < stages; ++stage) add_stage();
    // What comes next does not wait for it.
    if (chance(.3)) one(10, 60);
    service_.answer_all_of = all_of_;
    service_.answer_first_of = first_of_;
    return std::move(service_);
  }

 private:
  bool chance(double share) { return std::uniform_real_distribution(0., 1.)(random_) < share; }

  /// A call after the frontier.
  std::uint32_t one(double least_ms, double most_ms) {
    static constexpr std::array kDependencies = {"postgresql", "redis", "search", "prices"};
    GeneratedCall call{.dependency = kDependencies[random_() % kDependencies.size()],
                       .operation = "op" + std::to_string(service_.calls.size()),
                       .all_of = all_of_,
                       .first_of = first_of_};
    call.median_ms = std::uniform_real_distribution(least_ms, most_ms)(random_);
    call.spread = std::uniform_real_distribution(.3, .8)(random_);
    call.own_ms = std::uniform_real_distribution(.05, .8)(random_);
    service_.calls.push_back(std::move(call));
    return static_cast<std::uint32_t>(service_.calls.size() - 1);
  }

  void wait_for(std::vector<std::uint32_t> calls) {
    all_of_ = std::move(calls);
    first_of_.clear();
  }

  void add_stage() {
    switch (random_() % 7) {
      case 0: {  // one call, perhaps made again
        auto const call = one(2, 40);
        if (chance(.5)) service_.calls[call].fails = .1;
        wait_for({call});
        break;
      }
      case 1: {  // all of some
        std::vector<std::uint32_t> calls;
        auto const count = 2 + random_() % 3;
        for (std::size_t i = 0; i < count; ++i) calls.push_back(one(8, 25));
        wait_for(calls);
        break;
      }
      case 2: {  // two chains
        auto const all_of = all_of_;
        auto const first_of = first_of_;
        std::vector<std::uint32_t> ends;
        for (int chain = 0; chain < 2; ++chain) {
          all_of_ = all_of;
          first_of_ = first_of;
          wait_for({one(5, 25)});
          ends.push_back(one(5, 25));
        }
        wait_for(ends);
        break;
      }
      case 3: {  // the first of two replicas
        double const median = std::uniform_real_distribution(5., 30.)(random_);
        auto const a = one(median, median * 1.2);
        auto const b = one(median, median * 1.2);
        all_of_.clear();
        first_of_ = {a, b};
        // Something after it, or it cannot be told from two calls that nothing waits for.
        wait_for({one(2, 10)});
        break;
      }
      case 4: {  // the same thing several times
        auto const first = one(2, 15);
        auto call = first;
        for (std::uint32_t i = 1; i < 3; ++i) {
          wait_for({call});
          call = one(2, 15);
          service_.calls[call].dependency = service_.calls[first].dependency;
          service_.calls[call].operation = service_.calls[first].operation;
          service_.calls[call].occurrence = i;
        }
        wait_for({call});
        break;
      }
      case 5: {  // a cache, and what is asked when it does not know
        auto const cache = one(1, 4);
        wait_for({cache});
        auto const query = one(5, 40);
        service_.calls[query].there = .4;
        wait_for({cache, query});
        break;
      }
      default: {  // a slow call beside two short ones in a row
        auto const all_of = all_of_;
        auto const first_of = first_of_;
        auto const slow = one(20, 40);
        wait_for({one(8, 15)});
        auto const later = one(8, 15);
        service_.calls[slow].all_of = all_of;
        service_.calls[slow].first_of = first_of;
        wait_for({slow, later});
      }
    }
  }

  std::mt19937_64 random_;
  GeneratedService service_;
  std::vector<std::uint32_t> all_of_, first_of_;  // what comes next waits for
};

std::string digits(std::uint64_t number, std::size_t width) {
  auto text = std::to_string(number);
  return std::string(width - text.size(), '0') + text;
}

class Simulator {
 public:
  Simulator(const GeneratedService& service, std::uint64_t seed,
            const std::map<std::string, double>& factors)
      : service_(service), random_(seed), factors_(factors) {}

  void request(SpanSet& set) {
    auto const trace = digits(++traces_, 32);
    auto const root = next_id();
    std::vector<std::optional<double>> ends(service_.calls.size());
    for (std::size_t i = 0; i < service_.calls.size(); ++i) {
      GeneratedCall const& call = service_.calls[i];
      if (uniform() >= call.there) continue;
      double start = joined(call.all_of, call.first_of, ends) + own(call.own_ms);
      if (uniform() < call.fails) {
        double const took = time_of(call);
        add(set, trace, root, call, start, took, true);
        start += took + 5;
      }
      double const took = time_of(call);
      add(set, trace, root, call, start, took, false);
      ends[i] = start + took;
    }
    double const end =
        joined(service_.answer_all_of, service_.answer_first_of, ends) + own(service_.own_ms);
    set.add({.trace_id = trace,
             .span_id = root,
             .name = "GET /cart",
             .kind = "server",
             .service = "shop",
             .host = "web",
             .start_ns = ns(now_ms_),
             .end_ns = ns(now_ms_ + end)});
    now_ms_ += std::ceil(end) + 1;
  }

 private:
  double uniform() { return std::uniform_real_distribution(0., 1.)(random_); }
  double own(double mean_ms) { return mean_ms * (.5 + uniform()); }
  double time_of(const GeneratedCall& call) {
    auto const factor = factors_.find(call.dependency);
    double const time =
        call.median_ms * std::exp(call.spread * std::normal_distribution()(random_));
    return factor == factors_.end() ? time : time * factor->second;
  }
  std::string next_id() { return digits(++ids_, 16); }
  static std::int64_t ns(double ms) { return static_cast<std::int64_t>(ms * 1e6); }

  static double joined(const std::vector<std::uint32_t>& all_of,
                       const std::vector<std::uint32_t>& first_of,
                       const std::vector<std::optional<double>>& ends) {
    double join = 0;
    for (auto const each : all_of) join = std::max(join, ends[each].value_or(0));
    std::optional<double> first;
    for (auto const each : first_of) {
      if (ends[each] && (!first || *ends[each] < *first)) first = ends[each];
    }
    return std::max(join, first.value_or(0));
  }

  void add(SpanSet& set, const std::string& trace, const std::string& root,
           const GeneratedCall& call, double start_ms, double took_ms, bool failed) {
    double const at = service_.rounds_starts ? std::floor(now_ms_ + start_ms) : now_ms_ + start_ms;
    Span span{.trace_id = trace,
              .span_id = next_id(),
              .parent_id = root,
              .name = call.operation,
              .kind = "client",
              .service = "shop",
              .host = "web",
              .start_ns = ns(at),
              .end_ns = ns(at + took_ms),
              .failed = failed};
    span.attributes = {{"peer.service", call.dependency}};
    set.add(std::move(span));
  }

  const GeneratedService& service_;
  std::mt19937_64 random_;
  const std::map<std::string, double>& factors_;
  double now_ms_ = 1.7e12;
  std::uint64_t traces_ = 0;
  std::uint64_t ids_ = 0;
};

}  // namespace

DependencyGraph GeneratedService::truth() const {
  DependencyGraph graph;
  auto const add_edges = [&](const std::vector<std::uint32_t>& all_of,
                             const std::vector<std::uint32_t>& first_of) {
    auto const to = static_cast<std::uint32_t>(graph.nodes.size() - 1);
    for (auto const from : all_of) graph.edges.push_back({.from = from, .to = to});
    for (auto const from : first_of) {
      graph.edges.push_back({.from = from, .to = to, .alternative = 1});
    }
  };
  for (GeneratedCall const& call : calls) {
    graph.nodes.push_back({.name = call.dependency + " " + call.operation,
                           .type = call.dependency,
                           .function = call.operation,
                           .occurrence = call.occurrence});
    add_edges(call.all_of, call.first_of);
  }
  graph.nodes.push_back({.kind = DependencyNodeKind::kMilestone, .name = "answer"});
  add_edges(answer_all_of, answer_first_of);
  sort_edges(graph.edges);
  return graph;
}

GeneratedService generate_service(std::uint64_t seed) {
  return Maker(seed).run();
}

SpanSet simulate_requests(const GeneratedService& service, std::uint64_t seed, std::size_t count,
                          const std::map<std::string, double>& factors) {
  SpanSet set;
  Simulator simulator(service, seed, factors);
  for (std::size_t i = 0; i < count; ++i) simulator.request(set);
  return set;
}

}  // namespace reprise
