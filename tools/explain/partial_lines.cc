#include "tools/explain/partial_lines.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string_view>

#include "analysis/beacons/beacon_lines.h"
#include "analysis/partials/partial_table.h"
#include "base/system/last_error.h"
#include "tools/commands.h"
#include "tools/explain/line_input.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

void count(const char* name, std::uint64_t number) {
  std::fprintf(stderr, "reporter:counter:reprise,%s,%llu\n", name,
               static_cast<unsigned long long>(number));
}

/// Buffered standard output that remembers a failure.
class Output {
 public:
  PartialSink sink() {
    return [this](std::string_view line) {
      good_ = good_ && std::fwrite(line.data(), 1, line.size(), stdout) == line.size();
    };
  }
  bool finish() {
    good_ = std::fflush(stdout) == 0 && good_;
    if (!good_) say_of_explain("cannot write: " + last_system_error().message());
    return good_;
  }

 private:
  bool good_ = true;
};

}  // namespace

int write_partials(const std::vector<fs::path>& inputs, const std::vector<std::string>& tags,
                   const KindRules& rules, const Entities& entities) {
  Output output;
  PartialTable table(rules, entities, tags, output.sink());
  BeaconLines lines([&table](const BeaconView& view, std::uint64_t) { table.add(view); });
  bool const read = read_all(
      inputs, [&] { return lines.space(); }, [&](std::size_t size) { lines.written(size); });
  lines.finish();
  // Nothing is written of an input that was not read to its end, unless keys had to make room.
  if (!read) return kExitTryAgain;
  auto const& counts = lines.counts();
  count("lines", counts.lines);
  count("views", counts.views);
  count("other_beacons", counts.other_beacons);
  count("bad_lines", counts.bad_lines);
  if (counts.bad_lines > 0) {
    say_of_explain("line " + std::to_string(counts.first_bad_line) +
                   " skipped: " + counts.first_bad_why);
  }
  table.flush();
  if (!output.finish()) return kExitTryAgain;
  return counts.bad_lines > 0 && counts.bad_lines == counts.lines ? kExitHopelessData : kExitDone;
}

int merge_partials(const std::vector<fs::path>& inputs) {
  Output output;
  PartialMerge merge(output.sink());
  ShortLines lines;
  std::string fault;
  // After a fault the rest is read and dropped, so that whatever writes it does not fail.
  auto const add = [&](std::string_view line) {
    if (fault.empty()) fault = merge.add(line);
  };
  std::array<char, 1 << 16> block;
  bool const read = read_all(
      inputs, [&] { return std::span(block); },
      [&](std::size_t size) { lines.add(std::string_view(block.data(), size), add); });
  lines.finish(add);
  if (!read) return kExitTryAgain;
  count("lines", merge.lines());
  count("bad_lines", merge.bad_lines());
  if (merge.bad_lines() > 0) {
    say_of_explain("line " + std::to_string(merge.first_bad_line()) +
                   " skipped: not a partial result");
  }
  if (!fault.empty()) {
    say_of_explain(fault);
    return kExitHopelessData;
  }
  merge.finish();
  if (!output.finish()) return kExitTryAgain;
  return merge.bad_lines() > 0 && merge.bad_lines() == merge.lines() ? kExitHopelessData
                                                                     : kExitDone;
}

}  // namespace reprise
