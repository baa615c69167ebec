#include "analysis/differences/mentions.h"

#include <algorithm>

#include "base/http/url_parts.h"

namespace reprise {
namespace {

/// A shorter word is the name of too much else.
constexpr std::size_t kNameBytesMin = 3;

bool is_of_url(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.' || c == '~' || c == '%' || c == '@' || c == '+';
}

std::string_view file_of(std::string_view target) {
  auto const path = url_parts(target).path;
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

void Mentions::add(std::string_view text, std::size_t speaker) {
  for (std::size_t at = 0; at < text.size();) {
    if (!is_of_url(text[at])) {
      ++at;
      continue;
    }
    auto end = at;
    while (end < text.size() && is_of_url(text[end])) ++end;
    words_.try_emplace(std::string(text.substr(at, end - at)), speaker);
    at = end;
  }
}

std::optional<std::size_t> Mentions::of(const RecordedExchange& of) const {
  auto const speaker = of_file(of);
  return speaker ? speaker : of_word(of.host);
}

std::optional<std::size_t> Mentions::of_file(const RecordedExchange& of) const {
  auto const file = file_of(of.target);
  return file.size() < kNameBytesMin ? std::nullopt : of_word(file);
}

std::optional<std::size_t> Mentions::of_nameless(const RecordedExchange& of) const {
  return file_of(of.target).size() < kNameBytesMin ? of_word(of.host) : std::nullopt;
}

std::optional<std::size_t> Mentions::of_word(std::string_view word) const {
  auto const found = words_.find(std::string(word));
  return found == words_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace reprise
