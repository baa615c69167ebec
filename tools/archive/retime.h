#pragma once

#include <filesystem>
#include <string>

namespace reprise {

struct RetimeArguments {
  std::filesystem::path archive;
  std::filesystem::path output;  ///< empty: in place
  std::string which;             ///< a number in `ls`, or a FILTER
  std::string think_time;        ///< as for ThinkTimeChange::parse()
};

/// Runs `archive edit --think-time`. Prints errors; returns the exit code.
int retime(const RetimeArguments& arguments);

}  // namespace reprise
