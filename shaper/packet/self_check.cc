#include "shaper/packet/self_check.h"

#include <poll.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/text/counted.h"
#include "shaper/packet/lateness.h"
#include "shaper/packet/probe.h"
#include "shaper/packet/self_check_plan.h"

namespace reprise {
namespace {

using std::chrono::nanoseconds;

/// With fewer arrivals a train has no rate.
constexpr std::size_t kArrivalsMin = 4;

constexpr double kDelayToleranceMs = 1;
constexpr double kDelayToleranceShare = 0.02;
constexpr double kRateToleranceShare = 0.02;
/// The error of the distance between two stamps.
constexpr double kStampSeconds = 200e-6;
/// In a normal distribution: one good link in 1,000 is reported as wrong.
constexpr double kLossDeviations = 3.3;

double loss_share(const LossModel& loss) {
  auto const changes = loss.good_to_bad + loss.bad_to_good;
  auto const bad = changes > 0 ? loss.good_to_bad / changes : 0;
  return (1 - bad) * loss.in_good + bad * loss.in_bad;
}

/// Probes one direction, and judges the result.
class Side {
 public:
  Side(const char* name, const LinkSettings& settings, int from, int to)
      : name_(name), settings_(settings), probe_(from, to) {
    check_.expected_loss = loss_share(settings.loss);
    if (!is_steady(settings)) return;
    if (settings.rate_bps > 0) check_.expected_bps = static_cast<double>(settings.rate_bps);
    check_.expected_ms = expected_ping_ms(settings);
  }

  Probe& probe() { return probe_; }

  void send_train(const ProbeTrain& train) {
    train_from_ = probe_.sent();
    for (std::uint32_t i = 0; i < train.packets; ++i) probe_.send(train.packet_bytes);
  }

  bool is_complete() const { return probe_.arrivals().size() >= probe_.sent(); }

  DirectionCheck judge(std::vector<LinkDeviation>& deviations) {
    check_.packets_sent = probe_.sent();
    check_.packets_come = static_cast<std::uint32_t>(probe_.arrivals().size());
    measure_delay();
    measure_rate();
    judge_delay(deviations);
    judge_rate(deviations);
    judge_loss(deviations);
    return check_;
  }

 private:
  void measure_delay() {
    for (const Probe::Arrival& arrival : probe_.arrivals()) {
      if (arrival.index >= train_from_) continue;
      auto const ms = to_ms(arrival.received - arrival.sent);
      check_.measured_ms = std::min(check_.measured_ms.value_or(ms), ms);
    }
  }

  /// The median over all stretches of half a train: a stall of this machine spoils only some.
  void measure_rate() {
    struct Point {
      double seconds;
      double bits;  // up to and including this packet
    };
    std::vector<Point> points;
    double bits = 0;
    for (const Probe::Arrival& arrival : probe_.arrivals()) {
      if (arrival.index < train_from_) continue;
      bits += arrival.packet_bytes * 8.0;
      points.push_back({std::chrono::duration<double>(arrival.received).count(), bits});
    }
    if (points.size() < kArrivalsMin) return;
    auto const half = points.size() / 2;
    std::vector<double> rates;
    for (std::size_t i = 0; i + half < points.size(); ++i) {
      auto const seconds = points[i + half].seconds - points[i].seconds;
      if (seconds > 0) rates.push_back((points[i + half].bits - points[i].bits) / seconds);
    }
    if (rates.empty()) return;
    std::ranges::nth_element(rates, rates.begin() + static_cast<std::ptrdiff_t>(rates.size() / 2));
    check_.measured_bps = rates[rates.size() / 2];
    stretch_seconds_ = (points.back().seconds - points.front().seconds) / 2;
  }

  void judge_delay(std::vector<LinkDeviation>& deviations) const {
    if (!check_.expected_ms || !check_.measured_ms) return;
    auto const tolerance = std::max(kDelayToleranceMs, *check_.expected_ms * kDelayToleranceShare);
    auto const most = *check_.expected_ms + to_ms(settings_.jitter) + tolerance;
    if (*check_.measured_ms >= *check_.expected_ms - tolerance && *check_.measured_ms <= most) {
      return;
    }
    deviations.push_back(deviation("a small packet takes %.3f ms instead of %.3f ms",
                                   *check_.measured_ms, *check_.expected_ms));
  }

  void judge_rate(std::vector<LinkDeviation>& deviations) const {
    if (!check_.expected_bps || !check_.measured_bps || settings_.burst_bytes > 0 ||
        *check_.expected_bps > kJudgedRateMaxBps || settings_.jitter.count() > 0) {
      return;
    }
    auto const tolerance = kRateToleranceShare + kStampSeconds / stretch_seconds_;
    if (std::abs(*check_.measured_bps / *check_.expected_bps - 1) <= tolerance) return;
    deviations.push_back(deviation("the rate is %.1f kbit/s instead of %.1f kbit/s",
                                   *check_.measured_bps / 1e3, *check_.expected_bps / 1e3));
  }

  void judge_loss(std::vector<LinkDeviation>& deviations) const {
    // Losses in bursts and outages are not measurable with so few packets; an active queue may drop
    // packets of a train.
    if (!is_steady(settings_) || settings_.loss.good_to_bad > 0 ||
        settings_.active_queue.discipline != QueueDiscipline::drop_tail) {
      return;
    }
    double const sent = check_.packets_sent;
    double const lost = sent - check_.packets_come;
    auto const p = check_.expected_loss;
    auto const spread = kLossDeviations * std::sqrt(sent * p * (1 - p)) + (p > 0 ? 1 : 0);
    if (std::abs(lost - sent * p) <= spread) return;
    auto const of_sent = " of " + std::to_string(check_.packets_sent);
    deviations.push_back(
        {.text = std::string(name_) + ": " +
                 counted(static_cast<std::uint64_t>(std::max(lost, 0.0)),
                         "packet" + of_sent + " was", "packets" + of_sent + " were") +
                 " lost",
         .share = std::nullopt});
  }

  LinkDeviation deviation(const char* format, double is, double should) const {
    char text[128];
    std::snprintf(text, sizeof text, format, is, should);
    return {.text = std::string(name_) + ": " + text, .share = share_off(is, should)};
  }

  const char* name_;
  const LinkSettings& settings_;
  Probe probe_;
  DirectionCheck check_;
  std::uint32_t train_from_ = 0;
  double stretch_seconds_ = 0;
};

/// Receives packets until `time`, or with `all` until all have arrived.
void receive_until(Side& down, Side& up, nanoseconds time, bool all) {
  while (!(all && down.is_complete() && up.is_complete())) {
    nanoseconds const left = time - link_now();
    if (left.count() <= 0) return;
    pollfd waited[2]{{.fd = down.probe().receiving_fd(), .events = POLLIN, .revents = 0},
                     {.fd = up.probe().receiving_fd(), .events = POLLIN, .revents = 0}};
    timespec const patience{.tv_sec = left / std::chrono::seconds(1),
                            .tv_nsec = (left % std::chrono::seconds(1)).count()};
    ::ppoll(waited, 2, &patience, nullptr);
    down.probe().receive();
    up.probe().receive();
  }
}

void probe_link(Side& down, Side& up, const SelfCheckPlan& plan, nanoseconds until) {
  auto next = link_now();
  for (std::uint32_t i = 0; i < kPings; ++i) {
    down.probe().send(kPingBytes);
    up.probe().send(kPingBytes);
    next += plan.ping_gap;
    receive_until(down, up, std::min(until, next), false);
  }
  receive_until(down, up, std::min(until, next + plan.pings_wait), true);
  down.send_train(plan.down);
  up.send_train(plan.up);
  // Lost packets are not waited for.
  receive_until(down, up, std::min(until, link_now() + plan.trains_wait), true);
}

}  // namespace

ShellResult<SelfCheck> check_link(LinkDevices& devices, const BuiltNetwork& network,
                                  const LinkProfile& profile, const LinkRunnerOptions& options) {
  SelfCheck check;
  auto const plan = plan_self_check(profile);
  if (!plan.skipped.empty()) {
    check.skipped = plan.skipped;
    return check;
  }
  auto const start = link_now();
  auto unwatched = options;
  unwatched.log = nullptr;
  unwatched.series = nullptr;
  auto runner = LinkRunner::start(devices, profile, unwatched);
  if (!runner) return std::unexpected(runner.error());
  Side down("down", profile.down, network.server_probe.get(), network.client_probe.get());
  Side up("up", profile.up, network.client_probe.get(), network.server_probe.get());
  probe_link(down, up, plan, start + kSelfCheckMax);
  (*runner)->stop();
  check.down = down.judge(check.deviations);
  check.up = up.judge(check.deviations);
  auto const report = (*runner)->report();
  check.lateness = report.lateness;
  if (auto const outside = report.outside.total(); outside > 0) {
    check.deviations.push_back(
        {.text = counted(outside, "packet was", "packets were") + " lost outside the link",
         .share = std::nullopt});
  }
  check.took_ms = to_ms(link_now() - start);
  return check;
}

bool should_keep_awake(const SelfCheck& asleep, const SelfCheck& awake) {
  constexpr double kGain = 0.8;
  if (!asleep.skipped.empty() || !awake.skipped.empty()) return true;
  return static_cast<double>(awake.lateness.p50.count()) <
         kGain * static_cast<double>(asleep.lateness.p50.count());
}

}  // namespace reprise
