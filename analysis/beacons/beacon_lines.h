#pragma once

// Views from a stream of lines, in bounded memory. Pure: the caller reads. Input is hostile.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/beacons/beacon_reader.h"

namespace reprise {

/// What the lines were. A bad line never stops the others.
struct BeaconCounts {
  std::uint64_t lines = 0;  ///< not empty
  std::uint64_t views = 0;
  std::uint64_t other_beacons = 0;  ///< not of a view
  std::uint64_t bad_lines = 0;
  std::uint64_t first_bad_line = 0;  ///< its number, from 1; 0: none
  std::string first_bad_why;
};

/// Splits blocks into lines and reads each. Holds one block, which grows to the longest line
/// (BeaconReader::kLineBytesMax); a longer line is bad.
class BeaconLines {
 public:
  /// The view is valid during the call; the number is of its line, from 1.
  using Use = std::function<void(const BeaconView& view, std::uint64_t line)>;

  explicit BeaconLines(Use use);

  /// Where to write more bytes; never empty.
  std::span<char> space();
  /// `size` bytes were written there; reads the lines that are whole now.
  void written(std::size_t size);
  /// Reads a last line without a newline.
  void finish();

  const BeaconCounts& counts() const { return counts_; }

 private:
  void read_line(std::string_view line);
  void count_bad(std::string why);

  Use use_;
  BeaconReader reader_;
  std::vector<char> block_;
  std::size_t begin_ = 0;  ///< of the line that is not whole
  std::size_t end_ = 0;
  bool is_too_long_ = false;  ///< the rest of a line that is dropped
  std::uint64_t number_ = 0;
  BeaconCounts counts_;
};

}  // namespace reprise
