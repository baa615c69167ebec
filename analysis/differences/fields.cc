#include "analysis/differences/fields.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/http/http_date.h"

namespace reprise {
namespace {

bool is_any(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::any_of(
      names, [name](std::string_view each) { return equals_ignoring_case(each, name); });
}

/// The values of nonces differ in each response.
std::string without_nonces(std::string_view policy) {
  std::string kept;
  constexpr std::string_view kNonce = "'nonce-";
  while (true) {
    auto const at = policy.find(kNonce);
    kept += policy.substr(0, at);
    if (at == policy.npos) return kept;
    kept += "'nonce'";
    policy.remove_prefix(std::min(policy.find('\'', at + 1), policy.size() - 1) + 1);
  }
}

/// For how long, as browsers take it: Cache-Control before Expires before Pragma.
std::string caching(HeaderList fields) {
  if (auto const control = find_header(fields, "cache-control")) return lower_case(*control);
  auto const expires = find_header(fields, "expires");
  if (!expires) return lower_case(find_header(fields, "pragma").value_or(""));
  auto const date = find_header(fields, "date");
  auto const until = parse_http_date(*expires);
  auto const since = date ? parse_http_date(*date) : std::nullopt;
  if (!until || !since) return "expired";
  auto const minutes = std::chrono::round<std::chrono::minutes>(*until - *since).count();
  return minutes <= 0 ? "expired" : "expires after " + std::to_string(minutes) + " minutes";
}

}  // namespace

std::string meaning_of_fields(HeaderList fields, DifferenceKind kind) {
  if (kind == DifferenceKind::kCaching) return caching(fields);
  if (kind == DifferenceKind::kConnection) {
    return header_has_token(fields, "Connection", "close") ? "connection: close" : "";
  }
  std::multiset<std::string> lines;
  for (const HeaderView& field : fields) {
    if (!is_field_of(field.name, kind)) continue;
    auto const value =
        kind == DifferenceKind::kPolicy ? without_nonces(field.value) : std::string(field.value);
    lines.insert(lower_case(field.name) + ": " + value);
  }
  std::string meaning;
  for (const std::string& line : lines) meaning += (meaning.empty() ? "" : ", ") + line;
  return meaning;
}

bool is_field_of(std::string_view name, DifferenceKind kind) {
  switch (kind) {
    case DifferenceKind::kCaching:
      return is_any(name, {"cache-control", "expires", "pragma", "age", "date"});
    case DifferenceKind::kHints:
      return is_any(name, {"link"});
    case DifferenceKind::kPolicy:
      return starts_with_ignoring_case(name, "access-control-") ||
             starts_with_ignoring_case(name, "cross-origin-") ||
             is_any(name, {"content-security-policy", "permissions-policy", "feature-policy",
                           "document-policy", "referrer-policy", "timing-allow-origin",
                           "strict-transport-security", "x-frame-options", "x-content-type-options",
                           "clear-site-data"});
    case DifferenceKind::kPriority:
      return is_any(name, {"priority"});
    case DifferenceKind::kConnection:
      return is_any(name, {"connection", "keep-alive"});
    default:
      return false;
  }
}

bool is_field_of_body(std::string_view name) {
  return is_any(name, {"content-type", "content-encoding", "content-length", "content-md5",
                       "digest", "repr-digest", "content-digest", "etag", "last-modified",
                       "content-range", "accept-ranges", "vary"});
}

}  // namespace reprise
