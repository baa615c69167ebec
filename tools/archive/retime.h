#pragma once

#include <filesystem>
#include <string>

namespace reprise {

struct RetimeArguments {
  std::filesystem::path archive;
  std::filesystem::path output;  ///< empty: in place
  std::string which;             ///< a number of `ls`, or a FILTER
  std::string think_time;        ///< as ThinkTimeChange::parse() takes it
};

/// `archive edit --think-time`: what it does, and the exit code. Says what went wrong.
int retime(const RetimeArguments& arguments);

}  // namespace reprise
