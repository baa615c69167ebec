#include "base/system/kernel_file.h"

#include <charconv>
#include <fstream>
#include <sstream>
#include <utility>

namespace reprise {

std::string kernel_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

std::vector<std::uint64_t> numbers_in(std::string_view line) {
  std::vector<std::uint64_t> out;
  std::istringstream words{std::string(line)};
  for (std::string word; words >> word;) {
    std::uint64_t value = 0;
    std::from_chars(word.data(), word.data() + word.size(), value);
    out.push_back(value);
  }
  return out;
}

std::optional<std::string> line_after(const std::string& text, std::string_view name) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(name)) return line.substr(name.size());
  }
  return std::nullopt;
}

}  // namespace reprise
