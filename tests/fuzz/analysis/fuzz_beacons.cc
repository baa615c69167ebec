// Beacons, anybody's: what is accepted becomes a normalized call tree whose shares sum to its
// window, and phases cover their request.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "analysis/beacons/beacon_lines.h"
#include "analysis/calls/call_lines.h"
#include "analysis/contribution/share.h"

using namespace reprise;

static void check(bool holds) {
  if (!holds) std::abort();
}

static void check_view(const BeaconView& view) {
  for (BeaconRequest const& request : view.requests) {
    auto at = request.start_us;
    for (BeaconPhase const& phase : phases_of(request)) {
      check(phase.start_us == at && phase.end_us > at);
      at = phase.end_us;
    }
    check(at == request.start_us || at == request.end_us);
  }
  auto const tree = tree_of(view);
  auto const shares = share_evenly(tree);
  auto sum = shares.gap_us;
  for (auto const share : shares.calls) sum += share;
  check(sum == tree.window_us);
}

/// Reads a line by its marks if it can be; a first field that is not ours is for simdjson's reader
/// alone. Both must read the same.
static void check_both_ways(std::string_view line) {
  if (!line.starts_with('{')) return;
  BeaconReader by_marks, general;
  auto const view = by_marks.read(line);
  auto const same = general.read("{\"x\":null," + std::string(line.substr(1)));
  check(view.has_value() == same.has_value());
  if (view) check(call_line(tree_of(**view)) == call_line(tree_of(**same)));
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  BeaconLines lines([](const BeaconView& view, std::uint64_t) { check_view(view); });
  std::string_view left(reinterpret_cast<const char*>(data), size);
  check_both_ways(left.substr(0, left.find('\n')));
  while (!left.empty()) {
    auto const space = lines.space();
    auto const piece = left.substr(0, std::min<std::size_t>({left.size(), space.size(), 100}));
    std::ranges::copy(piece, space.begin());
    lines.written(piece.size());
    left.remove_prefix(piece.size());
  }
  lines.finish();
  auto const& counts = lines.counts();
  check(counts.views + counts.other_beacons + counts.bad_lines == counts.lines);
  check((counts.bad_lines > 0) == !counts.first_bad_why.empty());
  return 0;
}
