#pragma once

// Puts recorded parts of one file together (RFC 9110 section 15.3.7.3): archive/match/MATCHING.md,
// "Parts of a file".

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "archive/reader.h"
#include "proxy/replay/response/preconditions.h"
#include "proxy/replay/response/selected_response.h"

namespace reprise {

/// The limit of recorded answers per key examined for parts.
inline constexpr std::size_t kPartsMax = 4'096;

/// A file that the archive has in parts. Bodies come directly from the archive's mapped file.
/// Thread-safe once made; must not outlive the reader or `like`.
class StitchedParts {
 public:
  struct Sources {
    const ArchiveReader& archive;
    bool cut_too = false;  ///< the bytes of a cut answer are a part, too
    /// Called for a piece that turned out to be damaged while being sent.
    std::function<void(std::string problem)> on_damage;
  };

  /// `ordinal` if it is a part, otherwise the first part with its key and session, if there is one.
  /// `cut_too`: see Sources.
  static std::optional<std::uint32_t> first_part(const ArchiveReader& archive,
                                                 std::uint32_t ordinal, bool cut_too);

  /// The parts recorded for the key of `chosen`, in its session: answers to GET with one
  /// Content-Range, or cut ones of a known length. They belong to the same file if length, content
  /// coding and strong ETag are equal, or without an ETag, Last-Modified. `like`: the served answer
  /// of `chosen`, whose fields the whole gets. Null if `chosen` is not a part.
  static std::unique_ptr<StitchedParts> of(Sources sources, std::uint32_t chosen,
                                           const StoredResponse& like);
  ~StitchedParts();

  /// Whether the parts contain the bytes that `selected` requests of whole().
  bool have(const Selected& selected) const;
  const WholeResponse& whole() const { return *whole_; }
  /// "bytes 0-99, 200-299 of 1000".
  std::string coverage() const;
  std::size_t parts() const { return parts_.size(); }
  /// The exchange whose fields the file has.
  std::uint32_t ordinal() const { return ordinal_; }

 private:
  struct Part {
    ByteRange range;
    StoredBody body;
  };
  class Body;
  explicit StitchedParts(Sources sources);
  void gather(const Exchange& chosen);
  void lay_out(const StoredResponse& like);
  void lay_out_part(std::size_t part, std::uint64_t from);
  bool covers(const ByteRange& range) const;

  /// A run of bytes: of an extent of a part, or a gap.
  struct Slice {
    static constexpr std::size_t kGap = SIZE_MAX;
    std::size_t part = kGap;
    std::size_t extent = 0;
    std::uint64_t offset = 0;  ///< in the extent
  };

  Sources sources_;
  std::uint32_t ordinal_ = 0;
  Exchange chosen_;
  std::uint64_t total_bytes_ = 0;
  std::vector<Part> parts_;  // ordered by their start
  std::vector<Slice> slices_;
  std::vector<std::uint64_t> slice_bytes_;
  std::string length_;
  std::vector<HeaderView> fields_;
  StoredResponsePtr response_;
  std::unique_ptr<WholeResponse> whole_;
};

}  // namespace reprise
