#include "analysis/service/service_prediction.h"

#include <algorithm>
#include <random>

#include "analysis/service/changed_request.h"
#include "analysis/service/service_load.h"

namespace reprise {
namespace {

/// Fewer samples say nothing about a quantile.
constexpr std::size_t kSamplesMin = 500;
/// To find what part of the own work is work.
constexpr std::size_t kTrialSamples = 4'000;
constexpr int kTrials = 10;

class ServicePredictor {
 public:
  ServicePredictor(const ServiceGraph& graph, std::span<const ServiceRequest> requests,
                   const ServiceChange& change, const ServicePredictionOptions& options)
      : graph_(graph),
        requests_(requests),
        change_(change),
        options_(options),
        rows_(graph, requests, change),
        random_(options.seed) {
    for (ServiceRequest const& request : requests) {
      samples_.add_row(static_cast<double>(request.took_us));
    }
  }

  ServicePrediction run() && {
    ServicePrediction out;
    if (change_.users > 0) {
      out.work_factor = work_factor();
      simulate(out.work_factor);
    } else {
      do {
        for (std::size_t row = 0; row < rows_.size(); ++row) {
          samples_.add(row, static_cast<double>(rows_.took_us(row, random_)));
        }
        if (!change_.draws()) within_ = true;
      } while (!is_enough());
    }
    out.within_bound = within_;
    out.times = std::move(samples_).finish(options_.quantiles, options_.seed);
    return out;
  }

 private:
  /// Looked at each time when there are a tenth more.
  bool is_enough() {
    auto const samples = samples_.samples();
    if (within_ || samples >= options_.samples_max) return true;
    if (samples < kSamplesMin || samples < checked_ + checked_ / 10) return false;
    checked_ = samples;
    within_ = samples_.is_within(options_.quantiles, options_.bound);
    return within_;
  }

  void simulate(double work_factor) {
    ServiceLoad const load{
        .users = change_.users, .workers = options_.workers, .work_factor = work_factor};
    load.run(rows_, random_, [this](std::size_t row, std::int64_t took_us) {
      samples_.add(row, static_cast<double>(took_us));
      return !is_enough();
    });
  }

  /// What gives a request the observed service demand; if that is not known, what makes as many
  /// users as were observed take as long as was observed.
  double work_factor() const {
    bool const is_known = options_.service_demand_us > 0;
    if (!is_known && change_.observed_users < 2) return 1;
    ServiceChange unchanged;
    unchanged.calls.resize(graph_.answer());
    ChangedRequests const rows(graph_, requests_, unchanged);
    double observed = 0;
    for (ServiceRequest const& request : requests_)
      observed += static_cast<double>(request.took_us);
    observed /= static_cast<double>(requests_.size());
    if (is_known) {
      std::mt19937_64 random(options_.seed);
      std::size_t count = 0;
      auto const work_us = ServiceLoad().run(
          rows, random, [&](std::size_t, std::int64_t) { return ++count < kTrialSamples; });
      return work_us > 0 ? options_.service_demand_us / work_us : 0;
    }
    auto const mean_with = [&](double share) {
      std::mt19937_64 random(options_.seed);
      ServiceLoad const load{
          .users = change_.observed_users, .workers = options_.workers, .work_factor = share};
      double sum = 0;
      std::size_t count = 0;
      load.run(rows, random, [&](std::size_t, std::int64_t took_us) {
        sum += static_cast<double>(took_us);
        return ++count < kTrialSamples;
      });
      return sum / static_cast<double>(count);
    };
    if (mean_with(1) <= observed) return 1;  // nobody waits for another
    double low = 0;
    double high = 1;
    for (int trial = 0; trial < kTrials; ++trial) {
      double const middle = (low + high) / 2;
      (mean_with(middle) > observed ? high : low) = middle;
    }
    return (low + high) / 2;
  }

  const ServiceGraph& graph_;
  std::span<const ServiceRequest> requests_;
  const ServiceChange& change_;
  const ServicePredictionOptions& options_;
  ChangedRequests rows_;
  std::mt19937_64 random_;
  SampledQuantiles samples_;
  std::size_t checked_ = 0;
  bool within_ = false;
};

}  // namespace

ServicePrediction predict_service(const ServiceGraph& graph,
                                  std::span<const ServiceRequest> requests,
                                  const ServiceChange& change,
                                  const ServicePredictionOptions& options) {
  return ServicePredictor(graph, requests, change, options).run();
}

}  // namespace reprise
