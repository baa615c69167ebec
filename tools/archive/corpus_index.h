#pragma once

// What `archive ls DIR` knows of each archive of a folder without opening it: DIR/.reprise-index,
// one line of JSON per archive, keyed by its size and time of change. It is a cache: what is
// missing, stale or malformed is read from the archive again.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "archive/exchange.h"

namespace reprise {

/// An archive as the folder has it now.
struct ArchiveFile {
  std::string name;
  std::uint64_t size_bytes = 0;
  std::int64_t changed_ns = 0;
  auto operator<=>(const ArchiveFile&) const = default;
};

/// The archives (*.reprise) of a folder, by name. `error`: why some are not listed.
std::vector<ArchiveFile> archives_in(const std::filesystem::path& folder, std::string& error);

/// One exchange as `ls` shows and filters it.
struct ListedExchange {
  /// Only what a filter tests, without headers (but for the type).
  Exchange exchange;
  std::size_t number = 0;  ///< in its archive, from 1
  std::string kind;        ///< media type, or "websocket, 3 messages"
  std::uint64_t messages = 0;
  bool web_socket = false;
};

struct ListedArchive {
  ArchiveFile file;
  std::string problem;  ///< why it cannot be read, or what is lost; empty: nothing
  bool unusable = false;
  std::vector<ListedExchange> exchanges;
};

class CorpusIndex {
 public:
  static constexpr const char* kFileName = ".reprise-index";

  /// Reads one archive that the index does not have.
  using Read = std::function<ListedArchive(const std::filesystem::path&)>;

  /// All archives (*.reprise) of `folder`, by name, and brings its index up to date (0600). Errors:
  /// a sentence; an index that cannot be written is only a `remark`.
  static std::vector<ListedArchive> update(const std::filesystem::path& folder, const Read& read,
                                           std::string& error, std::string& remark);
};

/// One line with a newline, and back. A malformed line is an archive without a name.
std::string index_line(const ListedArchive& archive);
ListedArchive read_index_line(std::string_view line);

}  // namespace reprise
