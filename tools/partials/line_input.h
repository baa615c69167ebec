#pragma once

// Lines of files or of standard input, for commands with partial results.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/system/descriptor.h"
#include "base/system/last_error.h"

namespace reprise {

/// Prints a sentence about a command, such as "explain".
inline void say_of(const char* command, const std::string& text) {
  std::fprintf(stderr, "reprise: %s: %s\n", command, text.c_str());
}

/// Reads each input to its end. `space()` gives room for bytes, `written(size)` takes them. A line
/// that has no end in its file ends there. Returns false after an error, which has been printed.
template <class Space, class Written>
bool read_all(const char* command, const std::vector<std::filesystem::path>& inputs,
              const Space& space, const Written& written) {
  char last = '\n';
  auto const read_one = [&](int file, const std::string& name) {
    if (std::exchange(last, '\n') != '\n') {
      space()[0] = '\n';
      written(1);
    }
    while (true) {
      std::span<char> const room = space();
      auto const size = ::read(file, room.data(), room.size());
      if (size == 0) return true;
      if (size > 0) {
        last = room[static_cast<std::size_t>(size) - 1];
        written(static_cast<std::size_t>(size));
      } else if (errno != EINTR) {
        say_of(command, name + " cannot be read: " + last_system_error().message());
        return false;
      }
    }
  };
  if (inputs.empty()) return read_one(STDIN_FILENO, "standard input");
  return std::ranges::all_of(inputs, [&](const std::filesystem::path& path) {
    Descriptor const file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.is_open()) {
      say_of(command, path.string() + " cannot be read: " + last_system_error().message());
      return false;
    }
    return read_one(file.get(), path.string());
  });
}

/// Splits blocks into lines of at most 64 KiB, which is more than a partial result has; longer ones
/// are given cut, and are not partial results.
class ShortLines {
 public:
  static constexpr std::size_t kBytesMax = 64 << 10;

  template <class Use>
  void add(std::string_view block, const Use& use) {
    while (!block.empty()) {
      auto const end = block.find('\n');
      auto const piece = block.substr(0, end);
      line_.append(piece.substr(0, kBytesMax + 1 - std::min(line_.size(), kBytesMax + 1)));
      if (end == std::string_view::npos) return;
      use(line_);
      line_.clear();
      block.remove_prefix(end + 1);
    }
  }
  template <class Use>
  void finish(const Use& use) {
    if (!line_.empty()) use(line_);
  }

 private:
  std::string line_;
};

/// Gives each line of the inputs to `use`, as read_all() does.
template <class Use>
bool read_lines(const char* command, const std::vector<std::filesystem::path>& inputs,
                const Use& use) {
  std::array<char, 1 << 16> block;
  ShortLines lines;
  bool const read = read_all(
      command, inputs, [&] { return std::span(block); },
      [&](std::size_t size) { lines.add(std::string_view(block.data(), size), use); });
  if (read) lines.finish(use);
  return read;
}

}  // namespace reprise
