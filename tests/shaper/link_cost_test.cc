// What a packet costs is counted in allocations, which do not depend on the machine.

#include <cstdlib>
#include <new>

#include "tests/shaper/link_fixture.h"

namespace {

std::size_t allocations = 0;

}  // namespace

void* operator new(std::size_t size) {
  ++allocations;
  if (void* const block = std::malloc(size)) return block;
  throw std::bad_alloc();
}
void operator delete(void* block) noexcept {
  std::free(block);
}
void operator delete(void* block, std::size_t) noexcept {
  std::free(block);
}

namespace reprise {
namespace {

/// Overloads the link by a quarter, so that queue, wire and propagation all are in use.
void carry(Link& link, std::vector<Departure>& out, nanoseconds& now, int packets) {
  for (int i = 0; i < packets; ++i) {
    now += 1200ns;
    link.enqueue({.handle = 1, .size_bytes = 1500}, now);
    auto const next = link.next_event();
    if (!next || *next > now) continue;
    out.clear();
    link.take_due(now, out);
  }
}

TEST(LinkCost, AllocatesNothingOnceItsQueuesAreAsLongAsTheyGet) {
  LinkSettings const plain{.rate_bps = 8'000'000'000, .delay = 20ms, .queue = {.packets = 5000}};
  auto jittery = plain;
  jittery.jitter = 1ms;
  jittery.reorder = true;
  jittery.loss = {0.01, 0.01, 0.1, 0.5};
  auto codel = plain;
  codel.active_queue.discipline = QueueDiscipline::codel;
  auto pie = plain;
  pie.active_queue.discipline = QueueDiscipline::pie;
  auto traced = plain;
  traced.rate_bps = 0;
  traced.trace = trace_of("1\n1\n1\n2\n");
  for (const auto& settings : {plain, jittery, codel, pie, traced}) {
    Link link(settings, kSeed, 0, 0ns);
    std::vector<Departure> out;
    nanoseconds now{0};
    carry(link, out, now, 200'000);
    auto const before = allocations;
    carry(link, out, now, 200'000);
    EXPECT_EQ(allocations - before, 0);
    EXPECT_GT(link.counters().packets_out, 100);
  }
}

}  // namespace
}  // namespace reprise
