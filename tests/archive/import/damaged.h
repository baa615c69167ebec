#pragma once

// Recordings as disks and networks break them, and what an import made of that.

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/archive/import/collecting_sink.h"

namespace reprise::importing {

/// A part of a file, in bytes.
struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// A file that was damaged in one way, at one place or two.
struct Damaged {
  std::string bytes;
  std::string what;  ///< "a bit is flipped at byte 12"
  /// Of the whole file: what is no longer as it was, or next to what it was. Of what is gone that
  /// is the beginning and the end: nothing tells that whole records were in between.
  std::vector<Range> touched;
};

/// Flips a bit, cuts the end, zeroes or removes a block, doubles a range, or swaps two blocks.
/// `whole` has at least two bytes. The same state of `random` gives the same damage.
Damaged damage(std::string_view whole, std::mt19937_64& random);

/// All that an import brought into its sink, as text to be compared.
std::string contents_of(const CollectingSink& sink);

/// Whether `after` says of a loss that `before` does not.
bool says_more(const ImportReport& before, const ImportReport& after);

/// Where a plain WARC has bytes that a digest of their record covers.
std::vector<Range> digested_blocks(std::string_view warc);

}  // namespace reprise::importing
