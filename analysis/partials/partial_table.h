#pragma once

// Partial results: sums over views with the same day, page, tags and bin of load time, as lines
// that any engine can merge. Format: PARTIALS.md. Pure.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/beacons/beacon_view.h"
#include "analysis/contribution/kinds.h"
#include "analysis/partials/flat_share.h"
#include "analysis/partials/keyed_sums.h"
#include "analysis/partials/view_calls.h"

namespace reprise {

/// Where lines go; each has its newline.
using PartialSink = std::function<void(std::string_view line)>;

/// One line: the key, and the number of views, the sum of their windows and of each kind in us.
struct PartialLine {
  std::string_view key;
  std::vector<std::int64_t> sums;
};

/// Reads a line without its newline. Returns false if it is not one: no key, or a sum that is not a
/// whole number from 0.
bool read_partial_line(std::string_view line, PartialLine& partial);
/// Appends a part of a key: what would end a part, a key or a line is percent-encoded, and bytes
/// that are not UTF-8 become U+FFFD.
void append_key_part(std::string& key, std::string_view text);
void write_partial_line(std::string_view key, std::span<const std::int64_t> sums,
                        const PartialSink& sink);

/// Adds views, of any number, in bounded memory: at most kKeysMax keys are held; when there are
/// more, all lines so far are written, and a key can have several lines. Borrows the rules and
/// entities. Not thread-safe.
class PartialTable {
 public:
  static constexpr std::size_t kKeysMax = 200'000;

  /// `tags` are the names of tags in keys, in that order.
  PartialTable(const KindRules& rules, const Entities& entities, std::vector<std::string> tags,
               PartialSink sink);

  void add(const BeaconView& view);
  /// Writes the lines in the order of their keys (bytes), and forgets them.
  void flush();

 private:
  void write_key(const BeaconView& view, std::int64_t window_us);

  std::vector<std::string> tags_;
  PartialSink sink_;
  std::uint8_t gap_kind_;
  ViewCalls calls_;
  FlatShares shares_;
  KeyedSums sums_;
  std::string key_;
  std::int64_t day_number_ = -1;  ///< of day_
  std::string day_;
};

/// Adds up the lines of each key. The lines come in the order of their keys (LC_ALL=C sort), so
/// that one key is held.
class PartialMerge {
 public:
  explicit PartialMerge(PartialSink sink) : sink_(std::move(sink)) {}

  /// Returns an empty text; else why nothing can come of this input: lines out of order, with
  /// another number of sums (of other rules), or whose sum is too large. Lines that are no partial
  /// result are counted.
  std::string add(std::string_view line);
  /// Writes the last key.
  void finish();

  std::uint64_t lines() const { return lines_; }
  std::uint64_t bad_lines() const { return bad_lines_; }
  std::uint64_t first_bad_line() const { return first_bad_line_; }

 private:
  PartialSink sink_;
  std::string key_;
  std::vector<std::int64_t> sums_;  ///< empty before the first line
  PartialLine read_;
  std::uint64_t lines_ = 0;
  std::uint64_t bad_lines_ = 0;
  std::uint64_t first_bad_line_ = 0;
};

}  // namespace reprise
