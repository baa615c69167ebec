// Link texts: what is accepted makes a working link and is written as a text that is accepted.

#include <cstdlib>
#include <string>
#include <vector>

#include "shaper/description.h"
#include "shaper/link.h"

using namespace reprise;

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

void try_link(const LinkSettings& settings) {
  using namespace std::chrono_literals;
  check(!defect_of(settings));
  Link link(settings, 1, 0, 0ns);
  std::vector<Departure> out;
  for (std::uint64_t i = 0; i < 40; ++i) (void)link.enqueue({i, 1500}, 10ms * i);
  // PIE computes once an interval: a packet of minutes is too many of them for a fuzzer's time.
  auto const interval = settings.active_queue.interval;
  auto const end = interval > 0ns ? 100'000 * interval : std::chrono::nanoseconds::max();
  for (int i = 0; i < 100; ++i) {
    auto const next = link.next_event();
    if (!next || *next > end) break;
    link.take_due(*next, out);
  }
  auto const c = link.counters();
  check(c.packets_in == c.packets_out + c.lost + c.outage_drops + c.queue_drops + c.aqm_drops +
                            c.queued_packets + c.in_flight);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto const profile = parse_link({reinterpret_cast<const char*>(data), size});
  if (!profile) {
    check(!profile.error().empty());
    return 0;
  }
  try_link(profile->down);
  try_link(profile->up);
  check(!to_json(*profile).empty());
  auto const again = parse_link(to_text(*profile));
  // A path may hold what a text cannot, and a text has a limit.
  check(again || profile->down.trace || profile->up.trace || to_text(*profile).size() > 4096);
  return 0;
}
