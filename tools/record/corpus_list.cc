#include "tools/record/corpus_list.h"

#include <algorithm>
#include <set>
#include <span>

#include "base/http/digest.h"
#include "base/http/headers.h"
#include "base/text/ascii.h"
#include "base/text/white_space.h"

namespace reprise {
namespace {

constexpr std::size_t kPagesMax = 100'000;
constexpr std::size_t kUrlBytesMax = 32 << 10;
constexpr std::size_t kDigestBytes = 8;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// The text after "http://" or "https://", or nothing.
std::string_view without_scheme(std::string_view url) {
  for (std::string_view const scheme : {"http://", "https://"}) {
    if (equals_ignoring_case(url.substr(0, scheme.size()), scheme)) {
      return url.substr(scheme.size());
    }
  }
  return {};
}

bool is_page(std::string_view url) {
  auto const rest = without_scheme(url);
  auto const is_printable = [](char c) { return c > ' ' && c < '\x7F'; };
  return url.size() <= kUrlBytesMax && !rest.empty() && std::ranges::all_of(url, is_printable) &&
         !std::string_view("/?#:@").contains(rest.front());
}

std::string readable_part(std::string_view url) {
  std::string name;
  for (char c : without_scheme(url).substr(0, kNameBytesMax)) {
    c = to_lower(c);
    bool const plain = is_letter(c) || is_digit(c) || c == '.' || c == '-';
    if (!plain) c = '-';
    // Names never begin with a dot or look like an option.
    if ((c == '-' || c == '.') && (name.empty() || name.back() == c)) continue;
    name += c;
  }
  while (name.ends_with('-') || name.ends_with('.')) name.pop_back();
  return name.substr(0, kNameBytesMax - 2 * kDigestBytes - 1);
}

std::string name_of(std::string_view url) {
  auto const digest = sha256(std::as_bytes(std::span(url)));
  auto name = readable_part(url);
  if (!name.empty()) name += '-';
  return name + hex(std::span(digest).first(kDigestBytes));
}

}  // namespace

std::expected<std::vector<CorpusPage>, std::string> parse_corpus_list(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::vector<CorpusPage> pages;
  std::set<std::string_view> seen;
  for (std::size_t number = 1; !text.empty(); ++number) {
    auto const end = std::min(text.find('\n'), text.size());
    auto const url = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (url.empty() || url.starts_with('#')) continue;
    if (!is_page(url)) {
      return std::unexpected("line " + std::to_string(number) + " is not an http or https URL");
    }
    if (!seen.insert(url).second) continue;
    if (pages.size() == kPagesMax) return std::unexpected("more than 100,000 pages");
    pages.push_back({.url = std::string(url), .name = name_of(url)});
  }
  if (pages.empty()) return std::unexpected("contains no URL");
  return pages;
}

}  // namespace reprise
