#include "analysis/differences/permissions.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/bytes.h"
#include "base/http/digest.h"
#include "base/http/url_parts.h"
#include "base/text/base64.h"

namespace reprise {
namespace {

struct Algorithm {
  std::string_view prefix;
  const char* openssl;
};
constexpr std::array<Algorithm, 3> kAlgorithms = {
    {{"sha256-", "SHA256"}, {"sha384-", "SHA384"}, {"sha512-", "SHA512"}}};
constexpr std::string_view kPrefix = "sha";

std::string_view after(std::string_view text, std::string_view characters) {
  text.remove_prefix(std::min(text.find_first_not_of(characters), text.size()));
  return text;
}

bool is_base64(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
         c == '/' || c == '=' || c == '-' || c == '_';
}

std::set<std::string> sources_of(HeaderList fields) {
  std::set<std::string> sources;
  for (const HeaderView& field : fields) {
    if (!equals_ignoring_case(field.name, "content-security-policy")) continue;
    constexpr std::string_view kBetween = " \t;,";
    auto rest = field.value;
    for (rest = after(rest, kBetween); !rest.empty(); rest = after(rest, kBetween)) {
      auto const word = rest.substr(0, rest.find_first_of(kBetween));
      sources.emplace(word.starts_with("'nonce-") ? "'nonce'" : word);
      rest.remove_prefix(word.size());
    }
  }
  return sources;
}

}  // namespace

std::vector<std::string> digests_of(std::string_view code) {
  std::vector<std::string> digests;
  for (const Algorithm& algorithm : kAlgorithms) {
    NamedDigester digester(algorithm.openssl);
    digester.update(bytes_of(code));
    digests.push_back(std::string(algorithm.prefix) + base64(bytes_of(digester.finish())));
  }
  return digests;
}

std::vector<std::string> digests_named_in(std::string_view text) {
  std::vector<std::string> digests;
  for (auto at = text.find(kPrefix); at != text.npos; at = text.find(kPrefix, at + 1)) {
    auto const rest = text.substr(at);
    for (const Algorithm& algorithm : kAlgorithms) {
      if (!rest.starts_with(algorithm.prefix)) continue;
      auto end = algorithm.prefix.size();
      while (end < rest.size() && is_base64(rest[end])) ++end;
      auto value = std::string(rest.substr(algorithm.prefix.size(), end - algorithm.prefix.size()));
      std::ranges::replace(value, '-', '+');  // of the other alphabet (RFC 4648, section 5)
      std::ranges::replace(value, '_', '/');
      digests.push_back(std::string(algorithm.prefix) + value);
      at += end - 1;
    }
  }
  return digests;
}

std::vector<std::string> sources_of_one(HeaderList fields, HeaderList other) {
  std::vector<std::string> alone;
  std::ranges::set_difference(sources_of(fields), sources_of(other), std::back_inserter(alone));
  return alone;
}

std::string_view host_of_source(std::string_view source) {
  if (source.empty() || source.front() == '\'' || source.contains('*')) return {};
  if (source.contains("://")) return url_parts(source).host;
  auto const host = source.substr(0, source.find_first_of(":/"));
  return host.contains('.') ? host : std::string_view();
}

}  // namespace reprise
