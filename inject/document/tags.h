#pragma once

// Reads the start tags of a whole HTML document, after WHATWG HTML sections 13.2.5 (tokenization)
// and 13.2.6 (which start tags change how the text after them is read). Pure; not thread-safe.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inject/document/foreign.h"

namespace reprise::inject {

/// Bytes of a document: [begin, end).
struct ByteSpan {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  std::size_t size() const { return end - begin; }
  std::string_view in(std::string_view document) const { return document.substr(begin, size()); }
};

/// An attribute as it is written. `value` is without quotes, and empty for an attribute without a
/// value; attribute_value() in references.h decodes it.
struct TagAttribute {
  ByteSpan name;
  ByteSpan value;
  ByteSpan whole;  ///< from the name to the closing quote
};

struct StartTag {
  std::string name;  ///< ASCII letters in lower case
  ByteSpan name_span;
  ByteSpan span;                         ///< from '<' to '>'
  std::vector<TagAttribute> attributes;  ///< as written; of equal names only the first counts
  bool has_all_attributes = true;        ///< false: there are more than kTagAttributesMax
  bool foreign = false;                  ///< an element of SVG or MathML
  bool in_template = false;
  /// Directly in a <picture>, which has only images, sources, templates, and elements whose text
  /// was read, so far.
  bool in_picture = false;
  /// The text of a script or style element, and the end tag after it, which is empty if the
  /// document ends before.
  ByteSpan text;
  ByteSpan end_tag;

  bool is(std::string_view html_name) const { return !foreign && name == html_name; }
};

/// The first attribute with this name, in lower case, or null.
const TagAttribute* find_attribute(const StartTag& tag, std::string_view document,
                                   std::string_view name);

inline constexpr std::size_t kDocumentBytesMax = 64 << 20;
inline constexpr std::size_t kTagAttributesMax = 4096;

/// Yields the start tags in order: those that a browser takes as tags, not what looks like one in a
/// comment, a script, a style, a title, a CDATA section. With `scripting`, the content of
/// <noscript> is text, as in a browser that runs scripts. An ASCII-compatible encoding is assumed.
/// Each byte is read at most three times.
///
/// The tree is not built. Therefore unclosed <svg> and <math> elements count as open up to a tag
/// that HTML does not allow in them, and start tags that a tree builder ignores are yielded, too.
class TagReader {
 public:
  /// Borrows `document`, of at most kDocumentBytesMax.
  TagReader(std::string_view document, bool scripting)
      : document_(document), scripting_(scripting) {}

  /// Reads the next start tag into `tag`, whose memory is used again. False at the end.
  bool next(StartTag& tag);

  /// The work done, in bytes read; a test limits it to a multiple of the document.
  std::uint64_t steps() const { return steps_; }

 private:
  std::size_t find(std::string_view what, std::size_t from);
  bool read_markup(StartTag& tag);
  void pass_declaration();
  void pass_comment();
  bool read_tag(StartTag& tag, std::size_t name_begin);
  bool read_attribute(StartTag& tag);
  void pass_end_tag();
  void follow_picture(StartTag& tag);
  void read_text_after(StartTag& tag);
  ByteSpan pass_text(std::string_view name);
  void pass_script();
  bool is_tag_name_at(std::size_t at, std::string_view name) const;

  std::string_view document_;
  bool scripting_;
  std::size_t at_ = 0;
  std::uint64_t steps_ = 0;
  bool in_picture_ = false;
  StartTag end_tag_;  // kept for its memory
  OpenForeign open_;
};

}  // namespace reprise::inject
