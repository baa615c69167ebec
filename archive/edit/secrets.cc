#include "archive/edit/secrets.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "archive/error.h"
#include "base/http/digest.h"
#include "base/text/ascii.h"
#include "base/text/percent.h"
#include "base/text/utf8.h"

namespace reprise {
namespace {

bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}

constexpr std::string_view kUpperHex = "0123456789ABCDEF";
constexpr std::string_view kLowerHex = "0123456789abcdef";

std::string hex_of(char c, std::string_view digits) {
  auto const byte = static_cast<unsigned char>(c);
  return std::string(1, digits[byte >> 4]) + digits[byte & 15];
}

std::string upper_percent(char c) {
  return "%" + hex_of(c, kUpperHex);
}
std::string lower_percent(char c) {
  return "%" + hex_of(c, kLowerHex);
}
std::string upper_in_form(char c) {
  return c == ' ' ? "+" : upper_percent(c);
}
std::string lower_in_form(char c) {
  return c == ' ' ? "+" : lower_percent(c);
}

std::string backslashed(char c) {
  auto const control = std::string_view("\n\r\t").find(c);
  return std::string("\\") + (control == std::string_view::npos ? c : "nrt"[control]);
}
std::string lower_unicode(char c) {
  if (std::string_view("\"\\\n\r\t").contains(c)) return backslashed(c);
  return "\\u00" + hex_of(c, kLowerHex);
}
std::string upper_unicode(char c) {
  if (std::string_view("\\/\n\r\t").contains(c)) return backslashed(c);
  return "\\u00" + hex_of(c, kUpperHex);
}

std::string hex_entity(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    default:
      return "&#x" + hex_of(c, kUpperHex) + ";";
  }
}
std::string entity(char c) {
  return c == '\'' ? "&#39;" : hex_entity(c);
}

/// A way to write a secret.
struct Spelling {
  std::string_view listed;
  bool escapes_listed;  ///< those characters; otherwise all others but ASCII letters and digits
  std::string (*escape)(char c);
  /// Non-ASCII characters are written as \uXXXX with these digits; empty: as they are.
  std::string_view unicode_digits = {};
};
constexpr Spelling kSpellings[] = {
    {.listed = "", .escapes_listed = true, .escape = upper_percent},  // plain
    // encodeURIComponent
    {.listed = "-_.!~*'()", .escapes_listed = false, .escape = upper_percent},
    {.listed = "-_.!~*'()", .escapes_listed = false, .escape = lower_percent},
    // URLSearchParams, forms
    {.listed = "-_.*", .escapes_listed = false, .escape = upper_in_form},
    {.listed = "-_.*", .escapes_listed = false, .escape = lower_in_form},
    // RFC 3986, OAuth
    {.listed = "-_.~", .escapes_listed = false, .escape = upper_percent},
    // JSON: JSON.stringify, PHP, Go and Rails, Gson, all of these, .NET, PHP with JSON_HEX
    {.listed = "\"\\\n\r\t", .escapes_listed = true, .escape = backslashed},
    {.listed = "\"\\\n\r\t/", .escapes_listed = true, .escape = backslashed},
    {.listed = "\"\\\n\r\t<>&", .escapes_listed = true, .escape = lower_unicode},
    {.listed = "\"\\\n\r\t<>&='", .escapes_listed = true, .escape = lower_unicode},
    {.listed = "\"\\\n\r\t<>&='+/", .escapes_listed = true, .escape = lower_unicode},
    {.listed = "\"\\\n\r\t<>&'+`", .escapes_listed = true, .escape = upper_unicode},
    {.listed = "\"\\\n\r\t<>&'/", .escapes_listed = true, .escape = upper_unicode},
    // JSON in ASCII: Python, PHP, .NET
    {.listed = "\"\\\n\r\t",
     .escapes_listed = true,
     .escape = backslashed,
     .unicode_digits = kLowerHex},
    {.listed = "\"\\\n\r\t/",
     .escapes_listed = true,
     .escape = backslashed,
     .unicode_digits = kLowerHex},
    {.listed = "\"\\\n\r\t<>&'+`",
     .escapes_listed = true,
     .escape = upper_unicode,
     .unicode_digits = kUpperHex},
    // HTML: most templates, React and Python, ASP.NET, Handlebars, Mustache
    {.listed = "&<>\"'", .escapes_listed = true, .escape = entity},
    {.listed = "&<>\"'", .escapes_listed = true, .escape = hex_entity},
    {.listed = "&<>\"'+`", .escapes_listed = true, .escape = hex_entity},
    {.listed = "&<>\"'`=", .escapes_listed = true, .escape = hex_entity},
    {.listed = "&<>\"'`=/", .escapes_listed = true, .escape = entity},
};
/// A longer secret is a file, and only the first two are searched for it: each takes memory.
constexpr std::size_t kSpelledBytesMax = 64 << 10;

bool is_escaped(char c, const Spelling& spelling) {
  bool const is_listed = spelling.listed.contains(c);
  if (spelling.escapes_listed) return is_listed;
  return !is_listed && !is_digit(c) && !is_letter(c);
}

bool is_ascii(char c) {
  return static_cast<unsigned char>(c) < 0x80;
}

/// The size of a UTF-8 character that is not ASCII, by its first byte.
std::size_t character_bytes(char first) {
  auto const byte = static_cast<unsigned char>(first);
  return byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
}

std::string unicode_escape(std::uint32_t unit, std::string_view digits) {
  std::string out = "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += digits[(unit >> shift) & 15U];
  return out;
}

/// A UTF-8 character that is not ASCII, in JSON (RFC 8259 section 7).
std::string unicode_escapes(std::string_view character, std::string_view digits) {
  std::uint32_t code = static_cast<unsigned char>(character[0]) & (0xffU >> (character.size() + 1));
  for (char const c : character.substr(1)) {
    code = (code << 6U) | (static_cast<unsigned char>(c) & 0x3fU);
  }
  if (code < 0x10000) return unicode_escape(code, digits);
  auto const rest = code - 0x10000;
  return unicode_escape(0xd800 + (rest >> 10U), digits) +
         unicode_escape(0xdc00 + (rest & 0x3ffU), digits);
}

/// A secret and its stand-in, in one spelling.
struct Spelled {
  std::string form;
  std::string stand_in;
};

/// `stand_in`: as long as `plain`. What it keeps of `plain` stays as it is spelled. A spelling with
/// unicode_digits needs UTF-8.
Spelled spelled(std::string_view plain, std::string_view stand_in, const Spelling& spelling) {
  Spelled out;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    if (!spelling.unicode_digits.empty() && !is_ascii(plain[i])) {
      auto const bytes = character_bytes(plain[i]);
      out.form += unicode_escapes(plain.substr(i, bytes), spelling.unicode_digits);
      out.stand_in += stand_in.substr(i, bytes);
      i += bytes - 1;
      continue;
    }
    auto const unit =
        is_escaped(plain[i], spelling) ? spelling.escape(plain[i]) : std::string(1, plain[i]);
    out.form += unit;
    out.stand_in += stand_in[i] == plain[i] ? unit : std::string(1, stand_in[i]);
  }
  return out;
}

/// A character of the same kind as `c`, selected by `chance`.
char alike(char c, std::byte chance) {
  auto const number = std::to_integer<unsigned>(chance);
  if (is_digit(c)) return static_cast<char>('0' + number % 10);
  if (is_upper(c)) return static_cast<char>('A' + number % 26);
  if (is_lower(c) || !is_ascii(c)) return static_cast<char>('a' + number % 26);
  return c;
}

std::uint64_t beginning_of(std::string_view form) {
  std::uint64_t beginning = 0;
  std::memcpy(&beginning, form.data(), sizeof beginning);
  return beginning;
}

std::size_t first_bytes_of(std::string_view form) {
  return static_cast<unsigned char>(form[0]) * 256U + static_cast<unsigned char>(form[1]);
}

/// With a space for each `+`.
std::string with_spaces(std::string_view text) {
  std::string out(text);
  std::ranges::replace(out, '+', ' ');
  return out;
}

}  // namespace

std::string Secrets::stand_in_of(std::string_view plain) const {
  auto const seeding = with_spaces(plain);
  Digester keyed;
  keyed.update(key_);
  keyed.update(std::as_bytes(std::span(seeding)));
  auto const seed = keyed.finish();
  std::string out(plain);
  Sha256 chance{};
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (i % chance.size() == 0) {
      auto const block = std::to_string(i / chance.size());
      Digester digester;
      digester.update(seed);
      digester.update(std::as_bytes(std::span(block)));
      chance = digester.finish();
    }
    out[i] = alike(out[i], chance[i % chance.size()]);
  }
  return out;
}

std::string Secrets::dressed(std::string_view value) const {
  if (!mark_.empty()) return mark_;
  auto const stand_in = stand_in_of(percent_decoded(value));
  std::string out;
  for (std::size_t i = 0; !value.empty(); ++i) {
    auto const unit = first_percent_unit(value);
    if (stand_in[i] == unit.plain) {
      out += value.substr(0, unit.bytes);  // in its form there
    } else {
      out += stand_in[i];
    }
    value.remove_prefix(unit.bytes);
  }
  return out;
}

void Secrets::search_for(std::string_view form, std::string stand_in, const std::string& name) {
  if (form.size() < kSearchedBytesMin || forms_.contains(form)) return;
  if (!mark_.empty()) stand_in.clear();
  bytes_ += form.size() + stand_in.size();
  forms_.emplace(form, Form{.name = name, .stand_in = std::move(stand_in)});
  beginnings_[beginning_of(form)].insert(form.size());
  first_bytes_.set(first_bytes_of(form));
}

void Secrets::search_for_spellings(const std::string& plain, const std::string& name) {
  if (std::exchange(plains_[plain].searched, true)) return;
  auto const stand_in = mark_.empty() ? stand_in_of(plain) : plain;
  bool const has_unicode = !std::ranges::all_of(plain, is_ascii) && is_utf8(plain);
  std::span const spellings(kSpellings);
  for (const Spelling& each :
       plain.size() > kSpelledBytesMax ? spellings.first(2) : spellings.first(spellings.size())) {
    if (!each.unicode_digits.empty() && !has_unicode) continue;
    auto found = spelled(plain, stand_in, each);
    search_for(found.form, std::move(found.stand_in), name);
  }
}

Result<void> Secrets::add(std::string_view value, const std::string& name, Searched searched) {
  if (value.empty()) return {};
  if (bytes_ + value.size() > kBytesMax) return fail(archive_errc::too_large);
  auto const plain = percent_decoded(value);
  if (!std::exchange(plains_[plain].counted, true)) {
    bytes_ += plain.size() + name.size();
    ++counts_[name].values;
  }
  if (searched == Searched::kNo) return {};
  if (value.size() >= kSearchedBytesMin && !forms_.contains(value)) {
    search_for(value, dressed(value), name);
  }
  search_for_spellings(plain, name);
  if (searched == Searched::kPlusAsSpaceToo && value.contains('+')) {
    auto const spaced = percent_decoded(with_spaces(value));
    if (!plains_.contains(spaced)) bytes_ += spaced.size();
    search_for_spellings(spaced, name);
  }
  return {};
}

std::string Secrets::hide(std::string_view value, const std::string& name) {
  if (value.empty()) return {};
  ++counts_[name].places;
  return dressed(value);
}

bool Secrets::hide_all(std::string& text) {
  if (forms_.empty() || text.size() < kSearchedBytesMin) return false;
  std::string out;
  std::string_view const view = text;
  std::size_t copied = 0;
  for (std::size_t at = 0; at + kSearchedBytesMin <= view.size();) {
    if (!first_bytes_[first_bytes_of(view.substr(at))]) {
      ++at;
      continue;
    }
    auto const lengths = beginnings_.find(beginning_of(view.substr(at)));
    std::size_t found_bytes = 0;
    if (lengths != beginnings_.end()) {
      for (auto const length : lengths->second) {
        auto const found = forms_.find(view.substr(at, length));
        if (found == forms_.end()) continue;
        ++counts_[found->second.name].elsewhere;
        out.append(view, copied, at - copied)
            .append(mark_.empty() ? found->second.stand_in : mark_);
        found_bytes = length;
        break;
      }
    }
    at += found_bytes > 0 ? found_bytes : 1;
    if (found_bytes > 0) copied = at;
  }
  if (copied == 0) return false;
  out.append(view, copied);
  text = std::move(out);
  return true;
}

}  // namespace reprise
