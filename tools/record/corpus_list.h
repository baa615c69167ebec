#pragma once

// The pages of a corpus: a list of URLs, and a file name for each. Pure.

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace reprise {

struct CorpusPage {
  std::string url;
  /// Of its archive, without a suffix: the readable part of the URL in at most kNameBytesMax of
  /// [a-z0-9.-], and a digest of the whole, so that no two URLs share a name.
  std::string name;
};

constexpr std::size_t kNameBytesMax = 80;

/// Parses one URL per line; empty lines, lines that begin with '#' and repeated URLs are skipped.
/// `text` is hostile. Errors, as a sentence: a line that is not an http or https URL; no URL; more
/// than 100,000 URLs.
std::expected<std::vector<CorpusPage>, std::string> parse_corpus_list(std::string_view text);

}  // namespace reprise
