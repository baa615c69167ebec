#include "inject/document/text_encoding.h"

#include <iconv.h>

#include <algorithm>
#include <memory>

#include "base/bytes.h"
#include "base/http/headers.h"
#include "base/text/printable.h"
#include "base/text/white_space.h"

namespace reprise::inject {
namespace {

struct IconvName {
  std::string_view label;
  const char* name;
};

// Labels that mean more than iconv's encoding of that name, or are unknown to it (WHATWG Encoding
// section 4.2).
constexpr IconvName kIconvNames[] = {
    {"ascii", "CP1252"},      {"us-ascii", "CP1252"},      {"iso-8859-1", "CP1252"},
    {"iso8859-1", "CP1252"},  {"iso_8859-1", "CP1252"},    {"latin1", "CP1252"},
    {"l1", "CP1252"},         {"x-cp1252", "CP1252"},      {"iso-8859-9", "CP1254"},
    {"latin5", "CP1254"},     {"iso-8859-11", "CP874"},    {"tis-620", "CP874"},
    {"windows-874", "CP874"}, {"gb2312", "GB18030"},       {"gbk", "GB18030"},
    {"x-gbk", "GB18030"},     {"gb_2312-80", "GB18030"},   {"shift_jis", "CP932"},
    {"shift-jis", "CP932"},   {"sjis", "CP932"},           {"x-sjis", "CP932"},
    {"ms_kanji", "CP932"},    {"windows-31j", "CP932"},    {"euc-kr", "CP949"},
    {"korean", "CP949"},      {"ks_c_5601-1987", "CP949"}, {"ksc5601", "CP949"},
    {"big5", "BIG5-HKSCS"},   {"x-x-big5", "BIG5-HKSCS"},  {"x-euc-jp", "EUC-JP"},
    {"x-cp1250", "CP1250"},   {"x-cp1251", "CP1251"},      {"x-cp1253", "CP1253"},
    {"x-cp1254", "CP1254"},   {"windows-1252", "CP1252"},
};

struct CloseIconv {
  void operator()(void* converter) const { iconv_close(converter); }
};

std::string iconv_name(std::string_view label) {
  auto const* const found = std::ranges::find(kIconvNames, label, &IconvName::label);
  return found == std::end(kIconvNames) ? std::string(label) : found->name;
}

std::optional<std::string> converted(std::string_view text, const std::string& from,
                                     const std::string& to) {
  auto* const opened = iconv_open(to.c_str(), from.c_str());
  if (opened == reinterpret_cast<iconv_t>(-1)) return std::nullopt;
  std::unique_ptr<void, CloseIconv> const converter(opened);
  std::string result(text.size() * 4 + 16, '\0');  // no encoding needs more for a byte
  auto* in = const_cast<char*>(text.data());
  auto in_bytes = text.size();
  auto* out = result.data();
  auto out_bytes = result.size();
  if (iconv(opened, &in, &in_bytes, &out, &out_bytes) != 0) return std::nullopt;
  result.resize(result.size() - out_bytes);
  return result;
}

}  // namespace

bool TextEncoding::is_utf8() const {
  static constexpr std::string_view kLabels[] = {
      "utf-8", "utf8", "unicode-1-1-utf-8", "unicode11utf8", "unicode20utf8", "x-unicode20utf8"};
  return std::ranges::find(kLabels, label) != std::end(kLabels);
}

bool is_ascii(std::string_view text) {
  return std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
}

std::optional<TextEncoding> encoding_of_label(std::string_view label) {
  auto const form = form_of_label(label);
  if (!form) return std::nullopt;
  return TextEncoding{.form = *form, .label = lower_case(trim(label))};
}

TextEncoding encoding_of_document(std::span<const std::byte> document, std::string_view charset) {
  if (auto const mark = byte_order_mark(document)) {
    return {.form = mark->form, .label = mark->form == TextForm::kAscii ? "utf-8" : "utf-16"};
  }
  if (auto const stated = encoding_of_label(charset)) return *stated;
  std::uint64_t steps = 0;
  auto const head = document.first(std::min(document.size(), kPrescanBytes));
  if (auto const declared = prescan(head, steps)) {
    return {.form = declared->form, .label = lower_case(trim(declared->label))};
  }
  return {};
}

std::optional<std::string> in_utf8(std::string_view text, const TextEncoding& from) {
  auto const mark = byte_order_mark(bytes_of(text));
  if (mark && mark->form == from.form) text.remove_prefix(mark->size_bytes);
  if (from.is_utf8()) return as_utf8(text);
  if (from.form == TextForm::kAscii && is_ascii(text)) return std::string(text);
  switch (from.form) {
    case TextForm::kReplacement:
      return std::nullopt;
    case TextForm::kUtf16le:
      return converted(text, "UTF-16LE", "UTF-8");
    case TextForm::kUtf16be:
      return converted(text, "UTF-16BE", "UTF-8");
    default:
      return converted(text, iconv_name(from.label), "UTF-8");
  }
}

std::optional<std::string> from_utf8(std::string_view text, const TextEncoding& to) {
  if (to.is_utf8() || is_ascii(text)) return std::string(text);
  return converted(text, "UTF-8", iconv_name(to.label));
}

}  // namespace reprise::inject
