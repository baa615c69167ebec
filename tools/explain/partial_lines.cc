#include "tools/explain/partial_lines.h"

#include "analysis/beacons/beacon_lines.h"
#include "analysis/partials/partial_table.h"
#include "tools/commands.h"
#include "tools/partials/engine_lines.h"
#include "tools/partials/line_input.h"

namespace reprise {

int write_partials(const std::vector<std::filesystem::path>& inputs,
                   const std::vector<std::string>& tags, const KindRules& rules,
                   const Entities& entities) {
  LineOutput output;
  PartialTable table(rules, entities, tags, output.sink());
  BeaconLines lines([&table](const BeaconView& view, std::uint64_t) { table.add(view); });
  bool const read = read_all(
      "explain", inputs, [&] { return lines.space(); },
      [&](std::size_t size) { lines.written(size); });
  lines.finish();
  // Nothing is written of an input that was not read to its end, unless keys had to make room.
  if (!read) return kExitTryAgain;
  auto const& counts = lines.counts();
  count_for_engine("lines", counts.lines);
  count_for_engine("views", counts.views);
  count_for_engine("other_beacons", counts.other_beacons);
  count_for_engine("bad_lines", counts.bad_lines);
  if (counts.bad_lines > 0) {
    say_of("explain",
           "line " + std::to_string(counts.first_bad_line) + " skipped: " + counts.first_bad_why);
  }
  table.flush();
  if (!output.finish("explain")) return kExitTryAgain;
  return counts.bad_lines > 0 && counts.bad_lines == counts.lines ? kExitHopelessData : kExitDone;
}

}  // namespace reprise
