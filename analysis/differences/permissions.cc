#include "analysis/differences/permissions.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <ranges>

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

/// Directives that permit nothing.
bool only_reports(std::string_view directive) {
  return directive == "report-uri" || directive == "report-to";
}

std::set<PolicySource> sources_of(HeaderList fields) {
  std::set<PolicySource> sources;
  constexpr std::string_view kSpace = " \t";
  for (const HeaderView& field : fields) {
    if (!equals_ignoring_case(field.name, "content-security-policy")) continue;
    for (auto const part : std::views::split(field.value, ';')) {
      auto rest = after(std::string_view(part), kSpace);
      auto const directive = lower_case(rest.substr(0, rest.find_first_of(kSpace)));
      if (only_reports(directive)) continue;
      rest.remove_prefix(directive.size());
      for (rest = after(rest, kSpace); !rest.empty(); rest = after(rest, kSpace)) {
        auto const word = rest.substr(0, rest.find_first_of(kSpace));
        sources.emplace(directive,
                        word.starts_with("'nonce-") ? std::string("'nonce'") : std::string(word));
        rest.remove_prefix(word.size());
      }
    }
  }
  return sources;
}

bool is_of_host(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.';
}

/// Words that could be hosts.
std::set<std::string> hosts_in(std::string_view text) {
  std::set<std::string> hosts;
  for (std::size_t at = 0; at < text.size();) {
    auto end = at;
    while (end < text.size() && is_of_host(text[end])) ++end;
    auto const word = text.substr(at, end - at);
    if (word.contains('.')) hosts.insert(lower_case(word));
    at = end + 1;
  }
  return hosts;
}

/// `document`: the pair that an edit is of. Other changes are of any document.
std::string key_of(std::optional<std::size_t> document, bool of_b, std::string_view host) {
  return (of_b ? "b " : "a ") + (document ? std::to_string(*document) : std::string()) + " " +
         std::string(host);
}

}  // namespace

CodeDigester::CodeDigester() {
  for (const Algorithm& algorithm : kAlgorithms) digesters_.emplace_back(algorithm.openssl);
}

void CodeDigester::update(Bytes piece) {
  for (NamedDigester& digester : digesters_) digester.update(piece);
}

std::vector<std::string> CodeDigester::finish() {
  std::vector<std::string> digests;
  for (std::size_t i = 0; i < kAlgorithms.size(); ++i) {
    digests.push_back(std::string(kAlgorithms[i].prefix) +
                      base64(bytes_of(digesters_[i].finish())));
  }
  return digests;
}

std::vector<std::string> digests_of(std::string_view code) {
  CodeDigester digester;
  digester.update(bytes_of(code));
  return digester.finish();
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

std::vector<PolicySource> sources_of_one(HeaderList fields, HeaderList other) {
  std::vector<PolicySource> alone;
  std::ranges::set_difference(sources_of(fields), sources_of(other), std::back_inserter(alone));
  return alone;
}

std::string_view host_of_source(std::string_view source) {
  if (source.empty() || source.front() == '\'' || source.contains('*')) return {};
  if (source.contains("://")) return url_parts(source).host;
  auto const host = source.substr(0, source.find_first_of(":/"));
  return host.contains('.') ? host : std::string_view();
}

Permissions::Permissions(const DifferenceBuilder& builder) : builder_(builder) {
  for (std::size_t i = 0; i < builder.made.all.size(); ++i) {
    for (auto const& digest : builder.texts[i].digests) of_digest_.try_emplace(digest, i);
    if (!builder.made.all[i].edits.empty()) {
      edits_of_pair_[*builder.made.all[i].pair].push_back(i);
    }
    note(i, Side::kA);
    note(i, Side::kB);
  }
}

void Permissions::note(std::size_t difference, Side side) {
  auto const& of = builder_.made.all[difference];
  auto const& text = builder_.texts[difference];
  bool const of_b = side == Side::kB;
  if (of.kind == (of_b ? DifferenceKind::kCame : DifferenceKind::kWent)) {
    by_host_[key_of(std::nullopt, of_b, of.host)].push_back(difference);
  }
  if (of.kind != DifferenceKind::kContent || !text.fetches) return;
  auto const document = of.edits.empty() ? std::nullopt : of.pair;
  for (auto const& host : hosts_in(of_b ? text.added : text.removed)) {
    by_host_[key_of(document, of_b, host)].push_back(difference);
  }
}

void Permissions::each_of(std::size_t difference, const std::function<void(std::size_t)>& join) {
  auto const& text = builder_.texts[difference];
  for (auto const* const side : {&text.added, &text.removed}) {
    for (auto const& digest : digests_named_in(*side)) {
      auto const code = of_digest_.find(digest);
      if (code != of_digest_.end()) join(code->second);
    }
  }
  if (builder_.made.all[difference].kind != DifferenceKind::kPolicy) return;
  each_of_sources(difference, Side::kA, join);
  each_of_sources(difference, Side::kB, join);
}

void Permissions::each_of_sources(std::size_t policy, Side side,
                                  const std::function<void(std::size_t)>& join) {
  auto const pair = *builder_.made.all[policy].pair;
  bool const of_b = side == Side::kB;
  auto const& one = of_b ? builder_.b(pair) : builder_.a(pair);
  auto const& other = of_b ? builder_.a(pair) : builder_.b(pair);
  auto const edits = edits_of_pair_.find(pair);
  for (auto const& source : sources_of_one(one.headers.list(), other.headers.list())) {
    // Nearly everything names the page's own host, which 'self' permits.
    auto const host = lower_case(host_of_source(source.source));
    if (!host.empty() && host != one.host) {
      each_named(key_of(pair, of_b, host), join);
      each_named(key_of(std::nullopt, of_b, host), join);
    }
    if (edits == edits_of_pair_.end()) continue;
    for (auto const edit : edits->second) {
      if (is_permitted_inline(edit, source)) join(edit);
    }
  }
}

void Permissions::each_named(const std::string& key, const std::function<void(std::size_t)>& join) {
  auto const found = by_host_.find(key);
  if (found == by_host_.end()) return;
  if (!joined_.insert(key).second) return join(found->second.front());
  for (auto const each : found->second) join(each);
}

bool Permissions::is_permitted_inline(std::size_t difference, const PolicySource& by) const {
  auto const& text = builder_.texts[difference];
  auto const has = [&text](std::string_view word) {
    return text.added.contains(word) || text.removed.contains(word);
  };
  bool const styles = by.directive.starts_with("style-src") || by.directive == "default-src";
  bool const scripts = by.directive.starts_with("script-src") || by.directive == "default-src";
  if (by.source == "'unsafe-inline'") {
    return (scripts && text.has_script) || (styles && text.has_style);
  }
  if (by.source != "'nonce'" || !has("nonce=")) return false;
  return (scripts && has("<script")) || (styles && (has("<style") || has("<link")));
}

}  // namespace reprise
