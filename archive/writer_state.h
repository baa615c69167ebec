#pragma once

// The inside of ArchiveWriter, shared with BodyWriter.

#include <cstring>
#include <memory>
#include <unordered_map>
#include <vector>

#include "archive/reader.h"
#include "archive/record_file.h"
#include "archive/writer.h"

namespace reprise {

struct ArchiveWriter::State {
  struct DigestHash {
    std::size_t operator()(const Sha256& digest) const {
      std::size_t hash = 0;
      std::memcpy(&hash, digest.data(), sizeof hash);
      return hash;
    }
  };
  struct KnownBody {
    StoredBody body;
    bool checked;  ///< false: it was in the file before, and its bytes are not checked yet
  };

  State(RecordFile records, Options chosen) : file(std::move(records)), options(chosen) {}

  /// The stored body with that digest and size, or null. A body that was in the file before is
  /// checked first: a damaged copy must not replace an intact one.
  const StoredBody* find_body(const Sha256& digest, std::uint64_t size_bytes);
  Result<std::uint64_t> add_fact(RecordKind kind, std::string_view payload);
  Result<void> add_match_index(std::vector<std::byte>& index);
  Result<void> sync();

  RecordFile file;
  Options options;
  std::vector<IndexEntry> entries;
  std::vector<std::uint64_t> fact_offsets;
  std::unordered_map<Sha256, KnownBody, DigestHash> bodies;
  std::unique_ptr<ArchiveReader> before;  ///< the file that append() opened
  std::uint32_t session = 0;              ///< the current one, or the highest in the file
  bool in_session = false;
  // The state before the current session.
  std::uint64_t bytes_before = 0;
  std::size_t entries_before = 0;
  std::size_t facts_before = 0;
  std::size_t held_bytes = 0;  ///< by all BodyWriters
};

}  // namespace reprise
