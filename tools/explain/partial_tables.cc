#include "tools/explain/partial_tables.h"

#include <cstdint>
#include <cstdio>

#include "analysis/partials/partial_table.h"
#include "analysis/partials/slices.h"
#include "base/text/counted.h"
#include "base/text/printable.h"
#include "tools/commands.h"
#include "tools/explain/explain_text.h"
#include "tools/partials/engine_lines.h"
#include "tools/partials/line_input.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

/// Adds the lines of all inputs, up to the first that cannot be added.
class Adder {
 public:
  Adder(const PartialTablesTask& task, const KindRules& rules, PartialSlices& slices)
      : task_(task), kinds_(rules.kinds().size()), slices_(slices) {}

  void begin(const fs::path& input) {
    input_ = input.string();
    lines_ = 0;
  }
  void add(std::string_view line) {
    if (!fault_.empty()) return;
    ++lines_;
    auto const where = input_ + ": line " + std::to_string(lines_);
    if (!read_partial_line(line, read_)) {
      if (++bad_ == 1) say_of("explain", where + " skipped: not a partial result");
      return;
    }
    if (read_.sums.size() != 2 + kinds_) {
      fault_ = where + " has sums of " + counted(read_.sums.size() - 2, "kind") +
               ", but the rules have " + std::to_string(kinds_) +
               ": give the same --types as to --partial";
    } else if (auto const parts = parts_of_key(read_.key).size(); parts != 3 + task_.tags.size()) {
      fault_ = where + " has " + counted(parts < 3 ? 0 : parts - 3, "tag") + ", but " +
               std::to_string(task_.tags.size()) +
               " are named: name them with --tags, as --partial --by did";
    } else if (!slices_.add(read_)) {
      fault_ = where + " has no bin of load times, or makes a sum that is too large";
    }
  }

  const std::string& fault() const { return fault_; }
  std::uint64_t bad() const { return bad_; }

 private:
  const PartialTablesTask& task_;
  std::size_t kinds_;
  PartialSlices& slices_;
  PartialLine read_;
  std::string input_;
  std::uint64_t lines_ = 0;
  std::uint64_t bad_ = 0;
  std::string fault_;
};

std::string losses_text(std::uint64_t bad_lines, std::uint64_t lines_beyond) {
  std::string text;
  if (bad_lines > 0) {
    text += "\nNot in these figures:\n  " +
            counted(bad_lines, "line that is not a partial result",
                    "lines that are not partial results") +
            "\n";
  }
  if (lines_beyond > 0) {
    text += "\nOnly in the figures of all views:\n  " + counted(lines_beyond, "line") +
            " of slices beyond the first " + std::to_string(PartialSlices::kSlicesMax) + "\n";
  }
  return text;
}

}  // namespace

bool is_partial_result(const fs::path& path) {
  return parts_of_key(first_key_of(path)).size() >= 3;
}

int explain_partial_results(const PartialTablesTask& task, const KindRules& rules) {
  auto slices = PartialSlices::of(task.tags, task.by);
  if (!slices) {
    say_of("explain", "--by " + printable(slices.error()) +
                          ": partial results have day, page and the tags that --tags names");
    return kExitUsage;
  }
  Adder adder(task, rules, *slices);
  auto const add = [&adder](std::string_view line) { adder.add(line); };
  for (fs::path const& input : task.inputs) {
    adder.begin(input);
    if (!read_lines("explain", {input}, add)) return kExitFailed;
  }
  if (!adder.fault().empty()) {
    say_of("explain", adder.fault());
    return kExitFailed;
  }
  auto const slowest = slices->slowest(task.slowest_percent);
  auto const losses = losses_text(adder.bad(), slices->lines_beyond());
  auto const text = task.csv ? partials_csv(slowest, rules, task.by)
                             : partials_text(slowest, rules, task.slowest_percent) + losses;
  std::fputs(text.c_str(), stdout);
  if (task.csv) std::fputs(losses.c_str(), stderr);
  return kExitDone;
}

}  // namespace reprise
