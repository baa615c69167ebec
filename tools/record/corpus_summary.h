#pragma once

// What became of the pages of a corpus: corpus.json, and a table for people.

#include <boost/json/object.hpp>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/record/corpus_list.h"
#include "tools/record/page_check.h"

namespace reprise {

struct CorpusEntry {
  CorpusPage page;
  bool recorded = false;  ///< there is an archive
  unsigned attempts = 0;
  std::string failure;  ///< why there is none
  // Of the load from the archive.
  int status = 0;
  std::uint64_t requests = 0;
  std::int64_t bytes = 0;
  std::optional<double> load_event_ms;
  std::uint64_t misses = 0;
  std::vector<PageProblem> problems;
};

/// In memory what corpus.json is on disk. By name.
class CorpusSummary {
 public:
  static constexpr std::string_view kFileName = "corpus.json";

  /// What an earlier run left in `folder`; empty when there was none. Errors: a sentence.
  static std::expected<CorpusSummary, std::string> read(const std::filesystem::path& folder);

  /// Null when there is none.
  const CorpusEntry* find(const std::string& name) const;
  void put(CorpusEntry entry);
  /// Writes atomically. Prints an error on stderr and returns false if that fails.
  bool write(const std::filesystem::path& folder) const;

  boost::json::object json() const;
  /// Of `pages`, in their order.
  std::string table(const std::vector<CorpusPage>& pages) const;

 private:
  std::map<std::string, CorpusEntry> entries_;
};

}  // namespace reprise
