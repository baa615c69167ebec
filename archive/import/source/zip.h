#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "archive/import/source/byte_source.h"

namespace reprise::importing {

/// The table of contents of a zip (PKWARE's APPNOTE; ZIP64 too), with stored and deflated entries.
/// Names are only compared: nothing is written under them, so none can escape the folder. (Our own
/// reader, because a WACZ only requires finding an entry and streaming it; the libraries in Debian
/// need a file on disk and a handle per entry.)
class Zip {
 public:
  static constexpr std::uint64_t kDirectoryBytesMax = 64 << 20;

  struct Entry {
    std::string name;
    std::uint64_t compressed_bytes = 0;
    std::uint64_t size_bytes = 0;
    std::uint32_t crc = 0;  ///< CRC-32 of the content
    std::uint64_t header_offset = 0;
    bool is_deflated = false;
    bool is_readable = false;  ///< not encrypted, and stored or deflated
  };

  /// Reads the table and compares it with the entries' own headers. An error is stored in `fault`;
  /// entries before it are kept. `input` must outlive this.
  Zip(Input& input, std::optional<Fault>& fault);

  const std::vector<Entry>& entries() const { return entries_; }
  /// The first entry with this name, or null.
  const Entry* find(std::string_view name) const;
  /// The content of an entry. A CRC-32 or length that differs from the table is a fault after its
  /// last byte. Null, with a fault, if it is not within the file.
  std::unique_ptr<ByteSource> open(const Entry& entry, InputSource::Progress progress,
                                   std::optional<Fault>& fault) const;
  /// The place of a stored entry's content.
  struct Place {
    std::uint64_t offset = 0;
    std::uint64_t size_bytes = 0;
  };
  std::optional<Place> place_of(const Entry& entry, std::optional<Fault>& fault) const;

 private:
  /// The table's place and its number of entries.
  struct Directory {
    std::uint64_t offset = 0;
    std::uint64_t size_bytes = 0;
    std::uint64_t entries = 0;
  };

  bool read(std::uint64_t offset, std::span<char> into, std::optional<Fault>& fault) const;
  void read_directory(const Directory& directory, std::optional<Fault>& fault);
  bool fits_its_header(const Entry& entry, std::uint64_t method, std::optional<Fault>& fault) const;

  Input& input_;
  std::vector<Entry> entries_;
  std::map<std::string, std::size_t, std::less<>> places_;  ///< in entries_, by name
};

/// A part of an input as an input. The whole must outlive it.
class PartInput final : public Input {
 public:
  PartInput(Input& whole, std::uint64_t offset, std::uint64_t size_bytes)
      : whole_(whole), offset_(offset), size_bytes_(size_bytes) {}
  std::uint64_t size_bytes() const override { return size_bytes_; }
  std::size_t read_at(std::uint64_t offset, std::span<char> into,
                      std::optional<Fault>& fault) override;

 private:
  Input& whole_;
  std::uint64_t offset_;
  std::uint64_t size_bytes_;
};

}  // namespace reprise::importing
