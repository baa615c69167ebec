#include "inject/document/inline.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/http/headers.h"
#include "base/http/media_type.h"
#include "base/http/url.h"
#include "base/text/ascii.h"
#include "base/text/base64.h"
#include "inject/csp.h"
#include "inject/document/style_urls.h"

namespace reprise::inject {
namespace {

// As browsers choose the encoding of a script or style sheet: a byte order mark, the Content-Type,
// `declared`, or that of the document.
TextEncoding encoding_of_resource(const DocumentChange& change, std::string_view declared,
                                  const TextEncoding& document) {
  if (auto const mark = byte_order_mark(change.body)) {
    return {.form = mark->form, .label = mark->form == TextForm::kAscii ? "utf-8" : "utf-16"};
  }
  if (auto const stated = encoding_of_label(charset_parameter(change.media_type))) return *stated;
  if (auto const found = encoding_of_label(declared)) return *found;
  return document;
}

// The label in @charset "label"; at the start.
std::string_view charset_rule(std::string_view style) {
  static constexpr std::string_view kStart = "@charset \"";
  if (!style.starts_with(kStart)) return {};
  auto const label = style.substr(kStart.size(), 1024);
  auto const end = label.find("\";");
  if (end == label.npos) return {};
  auto const encoding = encoding_of_label(label.substr(0, end));
  bool const wide =
      encoding && (encoding->form == TextForm::kUtf16le || encoding->form == TextForm::kUtf16be);
  return wide ? "utf-8" : label.substr(0, end);
}

std::string with_line_feeds(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r') {
      result += text[i];
    } else if (i + 1 == text.size() || text[i + 1] != '\n') {
      result += '\n';
    }
  }
  return result;
}

std::expected<std::string, std::string> resource_text(const DocumentChange& change,
                                                      std::string_view declared,
                                                      const TextEncoding& document) {
  auto const encoding = encoding_of_resource(change, declared, document);
  auto const text = in_utf8(text_of(change.body), encoding);
  if (!text) return std::unexpected("its text is not valid " + encoding.label);
  if (text->contains('\0')) return std::unexpected("it contains a NUL character");
  return with_line_feeds(*text);
}

// Browsers run scripts of all other types.
bool is_blocked_as_script(std::string_view type) {
  return starts_with_ignoring_case(type, "image/") || starts_with_ignoring_case(type, "audio/") ||
         starts_with_ignoring_case(type, "video/") || equals_ignoring_case(type, "text/csv");
}

std::expected<InlineText, std::string> inline_text(const std::string& text,
                                                   const TextEncoding& document) {
  auto encoded = from_utf8(text, document);
  if (!encoded) {
    return std::unexpected("it has characters that the document's encoding " + document.label +
                           " does not have");
  }
  return InlineText{.text = std::move(*encoded), .hash_source = hash_source_of(text)};
}

}  // namespace

std::expected<InlineText, std::string> inline_script(const DocumentChange& change,
                                                     std::string_view charset,
                                                     const TextEncoding& document) {
  if (auto const type = media_type_of(change.media_type); is_blocked_as_script(type)) {
    return std::unexpected("its Content-Type is " + std::string(type));
  }
  auto const text = resource_text(change, charset, document);
  if (!text) return std::unexpected(text.error());
  if (contains_ignoring_case(*text, "</script")) {
    return std::unexpected("its text contains \"</script\", which would end the element");
  }
  if (text->contains("<!--")) {
    return std::unexpected("its text contains \"<!--\", which has a meaning in inline scripts");
  }
  return inline_text(*text, document);
}

std::expected<InlineText, std::string> inline_style(const DocumentChange& change,
                                                    std::string_view charset,
                                                    const TextEncoding& document) {
  auto const type = media_type_of(change.media_type);
  if (!type.empty() && !equals_ignoring_case(type, "text/css")) {
    return std::unexpected("its Content-Type is " + std::string(type) + ", not text/css");
  }
  auto const rule = charset_rule(text_of(change.body));
  auto const text = resource_text(change, rule.empty() ? charset : rule, document);
  if (!text) return std::unexpected(text.error());
  auto const url = absolute_url(change.url);
  auto const style = url ? with_absolute_urls(*text, *url) : *text;
  if (contains_ignoring_case(style, "</style")) {
    return std::unexpected("its text contains \"</style\", which would end the element");
  }
  return inline_text(style, document);
}

std::expected<std::string, std::string> inline_image(const DocumentChange& change) {
  auto const type = lower_case(media_type_of(change.media_type));
  bool const valid = type.starts_with("image/") && type.size() > 6 &&
                     std::ranges::all_of(type.substr(6), [](char c) {
                       return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                              std::string_view("+-.").contains(c);
                     });
  if (!valid) return std::unexpected("its Content-Type '" + type + "' is not an image's");
  return "data:" + type + ";base64," + base64(change.body);
}

}  // namespace reprise::inject
