#pragma once

// What a start tag means to a browser, as far as changes depend on it. Pure.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inject/document/tags.h"
#include "inject/document/text_encoding.h"

namespace reprise::inject {

/// The modes of the attribute crossorigin.
enum class CrossOrigin : std::uint8_t { kNone, kAnonymous, kUseCredentials };

/// A script element that fetches its script.
enum class ScriptKind : std::uint8_t {
  kNone,  ///< without src, of another type, or nomodule
  kClassic,
  kModule,
};

/// The attributes of one start tag, decoded. Borrows the tag and the document.
class Element {
 public:
  Element(const StartTag& tag, std::string_view document, const TextEncoding& encoding)
      : tag_(tag), document_(document), encoding_(encoding) {}

  const StartTag& tag() const { return tag_; }
  bool has(std::string_view attribute) const;
  /// The value in UTF-8; empty if the attribute is missing, or its bytes are invalid.
  std::string value(std::string_view attribute) const;
  /// The absolute URL in it; nothing if it is missing or empty, or has none that http could fetch.
  /// The query keeps the bytes of the document's encoding, as in browsers.
  std::optional<std::string> url(std::string_view attribute, std::string_view base) const;
  /// The absolute URLs in a srcset or imagesrcset.
  std::vector<std::string> set_urls(std::string_view attribute, std::string_view base) const;

  bool is_image() const;
  ScriptKind script_kind() const;
  /// Whether the attribute rel lists `type` (lower case).
  bool has_rel(std::string_view type) const;
  CrossOrigin cross_origin() const;

 private:
  std::optional<std::string_view> raw(std::string_view attribute) const;

  const StartTag& tag_;
  std::string_view document_;
  const TextEncoding& encoding_;
};

}  // namespace reprise::inject
