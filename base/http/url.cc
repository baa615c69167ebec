#include "base/http/url.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/http/headers.h"
#include "base/text/percent.h"

namespace reprise {
namespace {

bool is_slash(char c) {
  return c == '/' || c == '\\';
}

// "  a\nb " is "ab".
std::string cleaned(std::string_view text) {
  auto const is_control = [](char c) { return static_cast<unsigned char>(c) <= 0x20; };
  while (!text.empty() && is_control(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_control(text.back())) text.remove_suffix(1);
  std::string result(text.substr(0, text.find('#')));
  std::erase_if(result, [](char c) { return c == '\t' || c == '\n' || c == '\r'; });
  return result;
}

// The scheme of `text` in lower case; empty if it is relative.
std::string scheme_of(std::string_view text) {
  auto const is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  auto const colon = text.find(':');
  if (colon == text.npos || colon == 0 || !is_letter(text.front())) return {};
  auto const scheme = text.substr(0, colon);
  bool const valid = std::ranges::all_of(scheme, [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || std::string_view("+-.").contains(c);
  });
  return valid ? lower_case(scheme) : std::string();
}

void append_encoded(std::string& out, std::string_view text, std::string_view also) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  for (char const c : text) {
    auto const byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte >= 0x7F || also.contains(c)) {
      out += {'%', kDigits[byte >> 4], kDigits[byte & 0xF]};
    } else {
      out += c;
    }
  }
}

std::optional<std::string> host_of(std::string_view text) {
  if (text.starts_with('[')) {
    bool const valid =
        text.ends_with(']') && text.find_first_not_of("0123456789abcdefABCDEF:.[]") == text.npos;
    return valid ? std::optional(lower_case(text)) : std::nullopt;
  }
  auto const host = lower_case(percent_decoded(text));
  bool const valid = !host.empty() && std::ranges::all_of(host, [](char c) {
    return c > 0x20 && c < 0x7F && !std::string_view("#%/:<>?@[\\]^|").contains(c);
  });
  return valid ? std::optional(host) : std::nullopt;
}

// "host:port" with a port that is not the default.
std::optional<std::string> authority_of(std::string_view text, std::string_view scheme) {
  if (text.contains('@')) return std::nullopt;
  auto const colon =
      text.find(':', text.starts_with('[') ? std::min(text.find(']'), text.size()) : 0);
  auto host = host_of(text.substr(0, colon));
  if (!host || colon == text.npos || colon + 1 == text.size()) return host;
  unsigned port = 0;
  auto const digits = text.substr(colon + 1);
  auto const* const end = digits.data() + digits.size();
  auto const [rest, error] = std::from_chars(digits.data(), end, port);
  if (error != std::errc() || rest != end || port > 65535) return std::nullopt;
  if (port != (scheme == "https" ? 443U : 80U)) *host += ":" + std::to_string(port);
  return host;
}

// Appends the segments of `path`; "." and ".." change what is there.
void add_segments(std::vector<std::string>& segments, std::string_view path) {
  while (true) {
    auto const* const end = std::ranges::find_if(path, is_slash);
    auto const written = path.substr(0, static_cast<std::size_t>(end - path.begin()));
    bool const last = end == path.end();
    std::string dots(written.size() <= 6 ? lower_case(written) : "");
    for (auto at = dots.find("%2e"); at != dots.npos; at = dots.find("%2e")) {
      dots.replace(at, 3, ".");
    }
    if (dots == "..") {
      if (!segments.empty()) segments.pop_back();
      if (last) segments.emplace_back();
    } else if (dots == ".") {
      if (last) segments.emplace_back();
    } else {
      append_encoded(segments.emplace_back(), written, "\"#<>?^`{}");
    }
    if (last) return;
    path.remove_prefix(written.size() + 1);
  }
}

// `rest` is the path and the query.
std::string joined(std::string_view start, std::vector<std::string> segments,
                   std::string_view rest) {
  auto const question = std::min(rest.find('?'), rest.size());
  auto path = rest.substr(0, question);
  if (!path.empty() && is_slash(path.front())) path.remove_prefix(1);
  add_segments(segments, path);
  std::string url(start);
  for (const std::string& segment : segments) url += '/' + segment;
  if (question < rest.size()) {
    url += '?';
    append_encoded(url, rest.substr(question + 1), "\"#<>'");
  }
  return url;
}

// `text` follows the scheme and its colon.
std::optional<std::string> with_authority(std::string_view scheme, std::string_view text) {
  while (!text.empty() && is_slash(text.front())) text.remove_prefix(1);
  auto const end = std::min(text.find_first_of("/\\?"), text.size());
  auto const authority = authority_of(text.substr(0, end), scheme);
  if (!authority) return std::nullopt;
  return joined(std::string(scheme) + "://" + *authority, {}, text.substr(end));
}

bool is_served(std::string_view scheme) {
  return scheme == "http" || scheme == "https";
}

}  // namespace

std::string_view origin_of_url(std::string_view url) {
  return url.substr(0, url.find('/', url.find("://") + 3));
}

std::optional<std::string> absolute_url(std::string_view text) {
  auto const url = cleaned(text);
  auto const scheme = scheme_of(url);
  if (!is_served(scheme)) return std::nullopt;
  return with_authority(scheme, std::string_view(url).substr(scheme.size() + 1));
}

std::optional<std::string> resolved_url(std::string_view reference, std::string_view base) {
  auto const url = cleaned(reference);
  std::string_view rest = url;
  auto const scheme = scheme_of(url);
  auto const base_scheme = base.substr(0, base.find(':'));
  if (!scheme.empty()) {
    rest.remove_prefix(scheme.size() + 1);
    if (!is_served(scheme)) return std::nullopt;
    // "https:a" is relative to a base of the same scheme.
    if (scheme != base_scheme || rest.starts_with("//")) return with_authority(scheme, rest);
  }
  auto const origin = origin_of_url(base);
  if (rest.empty()) return std::string(base);
  if (is_slash(rest.front())) {
    if (rest.size() > 1 && is_slash(rest[1])) return with_authority(base_scheme, rest);
    return joined(origin, {}, rest);
  }
  auto const base_path = base.substr(origin.size(), base.find('?') - origin.size());
  if (rest.front() == '?') return joined(origin, {}, std::string(base_path).append(rest));
  std::vector<std::string> segments;
  add_segments(segments, base_path.substr(1));
  segments.pop_back();
  return joined(origin, std::move(segments), rest);
}

}  // namespace reprise
