#pragma once

// Which tags belong to SVG and MathML: there a title, a script or a style is no special text, and
// CDATA sections exist. After WHATWG HTML section 13.2.6.5. Pure.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace reprise::inject {

/// The open elements, as far as namespaces and templates depend on them.
class OpenForeign {
 public:
  /// Whether the next tag is read by the rules for foreign content.
  bool is_foreign() const { return !open_.empty() && open_.back().kind < Kind::kHtml; }
  bool in_template() const { return templates_ > 0; }

  /// What a start tag says besides its name, where it decides.
  struct Details {
    bool self_closing = false;
    bool html_font = false;        ///< it has an attribute color, face or size
    bool html_annotation = false;  ///< its encoding is text/html or application/xhtml+xml
  };
  /// Takes the start tag `name` (lower case); returns whether its element is foreign.
  bool start(std::string_view name, const Details& details);
  void end(std::string_view name);

 private:
  enum class Kind : std::uint8_t { kSvg, kMath, kHtml, kTemplate };
  enum class Name : std::uint8_t {
    kOther,
    kSvg,
    kMath,
    kForeignObject,
    kDesc,
    kTitle,
    kMi,
    kMo,
    kMn,
    kMs,
    kMtext,
    kAnnotationXml,
  };
  struct Element {
    Kind kind;  // of its content
    Name name;
  };

  static Name name_of(std::string_view name);
  void leave_foreign();

  std::vector<Element> open_;
  std::size_t templates_ = 0;
};

}  // namespace reprise::inject
