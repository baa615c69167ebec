#pragma once

// Which of several texts mentions a URL. Pure; linear in the texts.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "analysis/differences/recorded_page.h"

namespace reprise {

/// Texts as the words that URLs are made of: a resource is mentioned by the name of its file,
/// otherwise by its host.
class Mentions {
 public:
  /// `speaker`: any number; of several that say the same word the first one counts.
  void add(std::string_view text, std::size_t speaker);
  /// The speaker that mentions `of`.
  std::optional<std::size_t> of(const RecordedExchange& of) const;
  /// The same by the name of its file alone: a host is mentioned by much that is not about `of`.
  std::optional<std::size_t> of_file(const RecordedExchange& of) const;
  /// The same by its host, if its file has no name that could tell it: `/`.
  std::optional<std::size_t> of_nameless(const RecordedExchange& of) const;

 private:
  std::optional<std::size_t> of_word(std::string_view word) const;

  std::unordered_map<std::string, std::size_t> words_;
};

}  // namespace reprise
