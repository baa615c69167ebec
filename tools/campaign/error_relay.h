#pragma once

// What a process says on standard error: passed on while it runs, and its last message.

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

namespace reprise {

/// The last line of `text` that begins with "reprise: ", without this prefix. Empty if no line
/// does.
inline std::string last_message(std::string_view text) {
  constexpr std::string_view kBegin = "reprise: ";
  auto place = text.rfind("\n" + std::string(kBegin));
  if (place == text.npos && !text.starts_with(kBegin)) return {};
  place = place == text.npos ? 0 : place + 1;
  auto const message = text.substr(place + kBegin.size());
  return std::string(message.substr(0, message.find('\n')));
}

/// Passes on what another process writes to a file as this one's standard error, and knows its last
/// message. One thread.
class ErrorRelay {
 public:
  explicit ErrorRelay(std::filesystem::path path) : path_(std::move(path)) {
    std::ofstream(path_, std::ios::app).close();
    file_.open(path_, std::ios::binary);
  }

  void pass_on() {
    file_.clear();  // of the end that it had
    char part[4096];
    while (file_.read(part, sizeof part), file_.gcount() > 0) {
      auto const size = static_cast<std::size_t>(file_.gcount());
      std::fwrite(part, 1, size, stderr);
      last_.append(part, size);
      if (last_.size() > 2 * kLastBytes) last_.erase(0, last_.size() - kLastBytes);
    }
  }

  const std::filesystem::path& path() const { return path_; }
  std::string last_message() const { return reprise::last_message(last_); }

 private:
  static constexpr std::size_t kLastBytes = 16 << 10;
  std::filesystem::path path_;
  std::ifstream file_;
  std::string last_;
};

}  // namespace reprise
