#pragma once

// Edits of a text by place, made in one pass. Pure.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inject/document/tags.h"

namespace reprise::inject {

/// Replacements in a text that is not changed until the end. They must not overlap.
class Edits {
 public:
  /// Puts `text` in place of the bytes of `span`, which can be empty.
  void replace(ByteSpan span, std::string text);
  /// The text with the edits; those of one place in the order in which they came.
  std::string apply(std::string_view text) const;
  bool empty() const { return edits_.empty(); }
  /// Of all the texts put in.
  std::size_t added_bytes() const { return added_bytes_; }

 private:
  struct Edit {
    ByteSpan span;
    std::string text;
  };

  std::vector<Edit> edits_;
  std::size_t added_bytes_ = 0;
};

/// New values of a start tag's attributes. A later call for the same name wins.
class AttributeEdits {
 public:
  /// `value` must be of ASCII characters.
  void set(std::string name, std::string value) { values_.emplace_back(std::move(name), value); }
  void remove(std::string name) { values_.emplace_back(std::move(name), std::nullopt); }
  /// Adds the edits of the tag. All of a name's attributes are removed, but only the first, which
  /// counts, is set; new ones come first.
  void write(const StartTag& tag, std::string_view document, Edits& edits) const;

 private:
  std::vector<std::pair<std::string, std::optional<std::string>>> values_;
};

}  // namespace reprise::inject
