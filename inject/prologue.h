#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace reprise::inject {

/// Finds the place to insert text before a worker's script, and whether that would disable a
/// leading "use strict" (ECMA-262, section 11.2.1), which must then be repeated before it. Worker
/// scripts are always UTF-8 (WHATWG HTML, section 8.1.4.2). Reads each byte once. Pure.
class PrologueScan {
 public:
  /// As HtmlScan::scan. If these bytes give no answer, the script is taken as not strict.
  bool scan(std::span<const std::byte> script, bool ended);

  /// After a byte order mark and a "#!" line.
  std::size_t point() const { return point_; }
  bool strict() const { return strict_; }
  std::uint64_t steps() const { return offset_; }

 private:
  enum class State : std::uint8_t {
    kMark,
    kFirst,
    kHash,
    kHashbang,
    kSpace,
    kSlash,
    kLineComment,
    kBlockComment,
    kBlockStar,
    kString,
    kDone
  };

  void step(char c);
  void step_space(char c);

  State state_ = State::kMark;
  bool strict_ = false;
  char quote_ = 0;
  std::size_t matched_ = 0;
  std::size_t offset_ = 0;
  std::size_t point_ = 0;
};

}  // namespace reprise::inject
