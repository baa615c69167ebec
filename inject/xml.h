#pragma once

// Finds the place for a script in an XHTML or SVG document. Pure; not thread-safe. Source: XML 1.0,
// productions 1, 22, 27, 28, 40.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "inject/characters.h"

namespace reprise::inject {

/// The place is after the root's start tag, or after <head> if that is the root's first child. A
/// root that is not html or svg, or is empty, has no place. Reads each byte once.
class XmlScan {
 public:
  XmlScan() = default;
  explicit XmlScan(Characters characters) : characters_(characters) {}

  /// As HtmlScan::scan.
  bool scan(std::span<const std::byte> document);
  std::optional<std::size_t> point() const { return point_; }
  std::uint64_t steps() const { return steps_; }

 private:
  enum class State : std::uint8_t {
    kMisc,
    kOpen,
    kBang,
    kComment,
    kInstruction,
    kDoctype,
    kDoctypeOpen,
    kName,
    kTag,
    kDone
  };

  void step(unsigned char c);
  void step_doctype(unsigned char c);
  void step_name(unsigned char c);
  void end_tag(bool empty);

  Characters characters_;
  State state_ = State::kMisc;
  State after_ = State::kMisc;  // after a comment or a processing instruction
  unsigned char quote_ = 0;     // the open quote in a tag or a doctype
  unsigned char last_ = 0;
  unsigned char before_last_ = 0;
  std::uint32_t depth_ = 0;  // of '[' in the doctype
  std::array<char, 5> name_{};
  std::size_t name_size_ = 0;
  bool root_seen_ = false;
  std::optional<std::size_t> point_;
  std::uint64_t steps_ = 0;
};

}  // namespace reprise::inject
