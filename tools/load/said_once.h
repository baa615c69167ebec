#pragma once

#include <cstdio>
#include <set>
#include <string>

namespace reprise {

/// Prints the lines that replays say to people, each once: every load of a damaged archive says the
/// same.
class SaidOnce {
 public:
  /// More different lines are not remembered, so these are said again.
  static constexpr std::size_t kLinesMax = 1000;

  /// `lines` end with a line feed each. Returns what is new of them.
  std::string new_of(const std::string& lines) {
    std::string out;
    for (std::size_t begin = 0; begin < lines.size();) {
      auto const end = lines.find('\n', begin);
      auto const next = end == std::string::npos ? lines.size() : end + 1;
      auto line = lines.substr(begin, next - begin);
      begin = next;
      if (said_.contains(line)) continue;
      out += line;
      if (said_.size() < kLinesMax) said_.insert(std::move(line));
    }
    return out;
  }

  /// To standard error.
  void say(const std::string& lines) { std::fputs(new_of(lines).c_str(), stderr); }

 private:
  std::set<std::string> said_;
};

}  // namespace reprise
