#include "view/redaction.h"

#include <algorithm>
#include <array>

#include "base/http/headers.h"
#include "base/text/percent.h"

namespace reprise {
namespace {

/// Of names of fields and parameters, in lower case.
constexpr auto kSecretParts = std::to_array<std::string_view>(
    {"token",      "secret",     "passw",  "session",  "csrf",    "xsrf",
     "signature",  "credential", "apikey", "api-key",  "api_key", "accesskey",
     "access-key", "access_key", "jwt",    "authoriz", "oauth",   "x-auth-",
     "auth-key",   "auth_key",   "saml",   "sessid"});
constexpr auto kSecretNames = std::to_array<std::string_view>(
    {"auth", "code", "hmac", "key", "otp", "pass", "pin", "pw", "pwd", "sid", "sig", "state",
     "ticket", "x-amz-cf-id", "x-auth"});
/// Fields whose values are long and random, but give no access; with a - at the end, all fields
/// that begin so.
constexpr auto kOpenFields = std::to_array<std::string_view>({"accept",
                                                              "accept-",
                                                              "access-control-",
                                                              "age",
                                                              "alt-svc",
                                                              "cache-control",
                                                              "cf-ray",
                                                              "content-",
                                                              "date",
                                                              "digest",
                                                              "etag",
                                                              "expires",
                                                              "host",
                                                              "if-",
                                                              "last-modified",
                                                              "link",
                                                              "permissions-policy",
                                                              "permissions-policy-report-only",
                                                              "range",
                                                              "repr-digest",
                                                              "sec-ch-",
                                                              "sec-fetch-",
                                                              "sec-gpc",
                                                              "sec-websocket-accept",
                                                              "sec-websocket-extensions",
                                                              "sec-websocket-key",
                                                              "sec-websocket-version",
                                                              "server",
                                                              "server-timing",
                                                              "strict-transport-security",
                                                              "traceparent",
                                                              "user-agent",
                                                              "vary",
                                                              "via",
                                                              "www-authenticate",
                                                              "proxy-authenticate"});

constexpr std::size_t kTokenBytesMin = 20;
constexpr int kTokenChangesMin = 4;
/// Of URLs in parameters of URLs; what is deeper is hidden.
constexpr int kDepthMax = 4;

bool is_secret_name(std::string_view name) {
  auto const small = lower_case(name);
  return std::ranges::find(kSecretNames, small) != kSecretNames.end() ||
         std::ranges::any_of(kSecretParts,
                             [&](std::string_view part) { return small.contains(part); });
}

bool is_open_field(std::string_view name) {
  return std::ranges::any_of(kOpenFields, [&](std::string_view each) {
    return each.ends_with('-') ? name.starts_with(each) : name == each;
  });
}

enum class Class { kLower, kUpper, kDigit, kSign, kOther };

Class class_of(char c) {
  if (c >= 'a' && c <= 'z') return Class::kLower;
  if (c >= 'A' && c <= 'Z') return Class::kUpper;
  if (c >= '0' && c <= '9') return Class::kDigit;
  return std::string_view("+/=_~%-").contains(c) ? Class::kSign : Class::kOther;
}

/// Whether a word is long and mixed: random, not a name or a number.
bool is_mixed(std::string_view word) {
  if (word.size() < kTokenBytesMin || word.starts_with('/')) return false;
  bool letter = false;
  bool digit = false;
  int changes = 0;
  auto last = Class::kSign;
  for (char const c : word) {
    auto const now = class_of(c);
    if (now == Class::kSign) continue;
    letter |= now != Class::kDigit;
    digit |= now == Class::kDigit;
    if (last != Class::kSign && now != last) ++changes;
    last = now;
  }
  return letter && digit && changes >= kTokenChangesMin;
}

/// A visitor's value in place of each mixed word.
std::string visit_words(std::string_view text, const std::string& name, const VisitSecret& visit) {
  if (text.contains("://")) return std::string(text);
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    auto end = at;
    while (end < text.size() && class_of(text[end]) != Class::kOther) ++end;
    auto const word = text.substr(at, end - at);
    out += is_mixed(word) ? visit(word, name, Searched::kYes) : std::string(word);
    if (end < text.size()) out += text[end];
    at = end + 1;
  }
  return out;
}

/// What follows `mark` (with `mark` itself if `whole`), if it is at least `least` bytes long.
std::string visit_after(std::string_view text, std::string_view mark, bool whole, std::size_t least,
                        const VisitSecret& visit) {
  std::string out;
  std::size_t copied = 0;
  for (auto at = text.find(mark); at != text.npos; at = text.find(mark, at + mark.size())) {
    auto const begin = whole ? at : at + mark.size();
    if (begin < copied) continue;  // inside the last one: else each mark in it reads it again
    auto end = begin;
    while (end < text.size() && (class_of(text[end]) != Class::kOther || text[end] == '.')) ++end;
    if (end - begin < least) continue;
    out.append(text, copied, begin - copied);
    out += visit(text.substr(begin, end - begin), "token", Searched::kYes);
    copied = end;
  }
  return out.append(text, copied);
}

const RedactOptions kEveryParameter{.parameters = {"*"}, .url_credentials = false};
const RedactOptions kCookiesAndCredentials{.url_credentials = false};

/// Of the visitor's names: "cookie a", "header authorization", "parameter a".
constexpr std::string_view kParameter = "parameter ";

bool has_digit(std::string_view text) {
  return text.find_first_of("0123456789") != text.npos;
}

std::string hidden(std::string_view, const std::string&, Searched) {
  return std::string(Redaction::kMark);
}

}  // namespace

std::string Redaction::visit_text(std::string_view text, const VisitSecret& visit, int depth) {
  auto const of_parameter = [&](std::string_view value, const std::string& name,
                                Searched searched) {
    auto const plain = percent_decoded(value);
    bool secret = is_secret_name(std::string_view(name).substr(kParameter.size())) ||
                  (!plain.contains("://") && is_mixed(plain));
    // A URL in a parameter can have parameters, too.
    if (!secret && plain.size() < text.size() && plain.find_first_of("?&#;") != plain.npos) {
      secret = depth == kDepthMax || visit_text(plain, visit, depth + 1) != plain;
    }
    return secret ? visit(value, name, searched) : std::string(value);
  };
  auto out = visit_urls(text, kEveryParameter, of_parameter);
  out = visit_credentials_of_urls(out, visit);
  out = visit_after(out, "eyJ", true, kTokenBytesMin, visit);
  for (auto const* scheme : {"Bearer ", "bearer ", "Basic "}) {
    out = visit_after(out, scheme, false, Secrets::kSearchedBytesMin, visit);
  }
  return out;
}

std::string Redaction::visit_value(const HeaderView& field, const VisitSecret& visit) {
  auto const name = lower_case(field.name);
  if (field.value.empty()) return {};
  auto out = visit_field(field, kCookiesAndCredentials, visit);
  if (out != field.value || name == "cookie" || name == "set-cookie") return out;
  if (is_secret_name(name)) return visit(field.value, "header " + name, Searched::kYes);
  out = visit_text(field.value, visit);
  return is_open_field(name) ? out : visit_words(out, "header " + name, visit);
}

VisitSecret Redaction::learning(Result<void>& done) {
  return [this, &done](std::string_view value, const std::string& name, Searched searched) {
    if (!has_digit(value)) searched = Searched::kNo;
    if (done && value != kMark) done = secrets_.add(value, name, searched);
    return std::string(kMark);
  };
}

Result<void> Redaction::learn(const Exchange& exchange) {
  Result<void> done = learn(url_of(exchange.request));
  auto const visit = learning(done);
  for (auto const* headers : {&exchange.request.headers, &exchange.response.headers}) {
    for (const HeaderView& field : headers->list()) visit_value(field, visit);
  }
  return done;
}

Result<void> Redaction::learn(const ArchiveReader& archive) {
  for (std::uint32_t ordinal = 0; ordinal < archive.entries().size(); ++ordinal) {
    auto const exchange = archive.exchange(ordinal);
    if (!exchange) continue;
    if (auto const learnt = learn(*exchange); !learnt) return learnt;
  }
  return {};
}

Result<void> Redaction::learn(std::string_view url) {
  Result<void> done;
  visit_text(url, learning(done));
  return done;
}

std::string Redaction::text(std::string_view text) {
  auto out = visit_text(text, hidden);
  secrets_.hide_all(out);
  return out;
}

std::string Redaction::value(const HeaderView& field) {
  auto out = visit_value(field, hidden);
  secrets_.hide_all(out);
  return out;
}

void Redaction::hide_in(boost::json::value& json) {
  if (auto* const string = json.if_string()) {
    *string = text(*string);
  } else if (auto* const array = json.if_array()) {
    for (auto& each : *array) hide_in(each);
  } else if (auto* const object = json.if_object()) {
    for (auto& each : *object) hide_in(each.value());
  }
}

}  // namespace reprise
