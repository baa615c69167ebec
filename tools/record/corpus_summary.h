#pragma once

// The results of a corpus's pages: corpus.json, and a table for users.

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
  std::string failure;  ///< why there is no archive
  // From the load from the archive.
  int status = 0;
  std::uint64_t requests = 0;
  std::int64_t bytes = 0;
  std::optional<double> load_event_ms;
  std::uint64_t misses = 0;
  std::vector<PageProblem> problems;
};

/// The contents of corpus.json, ordered by name.
class CorpusSummary {
 public:
  static constexpr std::string_view kFileName = "corpus.json";

  /// Reads the result of an earlier run in `folder`; empty before the first run. Errors: a
  /// sentence.
  static std::expected<CorpusSummary, std::string> read(const std::filesystem::path& folder);

  /// Null if it is not there.
  const CorpusEntry* find(const std::string& name) const;
  /// By name.
  std::vector<const CorpusEntry*> entries() const;
  void put(CorpusEntry entry);
  /// Writes atomically. Prints an error on stderr and returns false if that fails.
  bool write(const std::filesystem::path& folder) const;

  boost::json::object json() const;
  /// A table of `pages`, in their order.
  std::string table(const std::vector<CorpusPage>& pages) const;

 private:
  std::map<std::string, CorpusEntry> entries_;
};

}  // namespace reprise
