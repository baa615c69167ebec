#pragma once

// The second part of `reprise why`, which `reprise gate --why` shares.

#include <string>

#include "tools/why/why_run.h"

namespace reprise {

struct WhyOutput {
  bool json = false;
  bool markdown = false;
};

/// Measures the causes of a difference that was shown, prints them and keeps them in the folder of
/// the run's options. Returns the exit code: that of a gate that failed, once they are known; of a
/// signal, if it ended the loads.
int explain_why(WhyRun& run, const WhyOutput& output);

/// Whether two sides of a gate differ in nothing but their archives.
bool alike_but_for_archives(const std::string& a, const std::string& b);

}  // namespace reprise
