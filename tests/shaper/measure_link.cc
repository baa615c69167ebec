// Prints what a packet costs the link, in nanoseconds of this machine.

#include <chrono>
#include <cstdio>
#include <vector>

#include "shaper/link.h"

using namespace reprise;
using namespace std::chrono_literals;
using std::chrono::nanoseconds;

namespace {

constexpr int kPackets = 20'000'000;

void measure(const char* name, const LinkSettings& settings) {
  Link link(settings, 1, 0, 0ns);
  std::vector<Departure> out;
  nanoseconds now{0};
  auto const begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kPackets; ++i) {
    now += 1400ns;
    (void)link.enqueue({.handle = static_cast<std::uint64_t>(i), .size_bytes = 1500}, now);
    // As a shell that takes what 16 packets' time made due.
    if (i % 16 != 0) continue;
    auto const next = link.next_event();
    if (!next || *next > now) continue;
    out.clear();
    link.take_due(now, out);
  }
  std::chrono::duration<double, std::nano> const took = std::chrono::steady_clock::now() - begin;
  auto const counters = link.counters();
  std::printf("%-28s %6.1f ns a packet (%llu of %d delivered)\n", name, took.count() / kPackets,
              static_cast<unsigned long long>(counters.packets_out), kPackets);
}

}  // namespace

int main() {
  LinkSettings const fits{.rate_bps = 10'000'000'000, .delay = 20ms, .queue = {.packets = 10'000}};
  measure("10 Gbit/s, 20 ms", fits);
  auto unlimited = fits;
  unlimited.rate_bps = 0;
  measure("no rate, 20 ms", unlimited);
  auto full = fits;
  full.rate_bps = 6'000'000'000;
  measure("6 Gbit/s, overloaded", full);
  auto lossy = fits;
  lossy.loss.in_good = 0.01;
  lossy.jitter = 1ms;
  measure("loss 1 %, jitter", lossy);
  auto codel = full;
  codel.active_queue.discipline = QueueDiscipline::codel;
  measure("CoDel, overloaded", codel);
  auto pie = full;
  pie.active_queue.discipline = QueueDiscipline::pie;
  measure("PIE, overloaded", pie);
  auto reordering = lossy;
  reordering.reorder = true;
  measure("loss 1 %, reordering", reordering);
  return 0;
}
