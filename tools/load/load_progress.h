#pragma once

#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include "base/text/formatted.h"
#include "base/text/printable.h"
#include "pageload/run/load_run.h"
#include "tools/load/load_matrix.h"
#include "tools/load/load_table.h"
#include "tools/load/said_once.h"

namespace reprise {

/// Shows the current step on a terminal's last line, and finished steps as lines.
class LoadProgress {
 public:
  explicit LoadProgress(const std::vector<LoadCell>& cells) : cells_(cells), began_(Clock::now()) {}

  /// More loads are planned.
  void add(std::size_t loads) { loads_ += loads; }
  void begins(const LoadCell& cell) {
    if (live_)
      std::fprintf(stderr, "\r\033[K%sloading %s", place(cell, done_ + 1).c_str(),
                   printable(cell.url).c_str());
  }
  void ended(const LoadCell& cell, bool warm_up, const MeasuredLoad& load) {
    ++done_;
    auto const before = place(cell, done_) + (warm_up ? "warm-up: " : "");
    if (live_) std::fputs("\r\033[K", stderr);
    said_.say(load.messages);
    if (!load.page) return;
    std::fprintf(stderr, "%s%s\n", before.c_str(), load_text(*load.page).c_str());
    for (const std::string& remark : load.page->remarks) {
      std::fprintf(stderr, "  %s\n", printable(remark).c_str());
    }
  }

 private:
  using Clock = std::chrono::steady_clock;

  /// "3 of 40, 5 min left: h1, wpt:4g: "
  std::string place(const LoadCell& cell, std::size_t ordinal) const {
    if (loads_ == 1) return {};
    auto text = std::to_string(ordinal) + " of " + std::to_string(loads_);
    if (done_ > 0 && done_ < loads_) {
      auto const left = (Clock::now() - began_) / done_ * (loads_ - done_);
      text += ", " + duration_text(std::chrono::ceil<std::chrono::seconds>(left)) + " left";
    }
    auto const what = cell_text(cell, cells_);
    return text + ": " + (what.empty() ? "" : what + ": ");
  }

  const std::vector<LoadCell>& cells_;
  SaidOnce said_;
  std::size_t loads_ = 0;
  std::size_t done_ = 0;
  Clock::time_point began_;
  bool live_ = ::isatty(STDERR_FILENO) != 0;
};

}  // namespace reprise
