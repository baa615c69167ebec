#include "inject/response.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <deque>
#include <ranges>

#include "base/http/h1_syntax.h"
#include "base/http/media_type.h"
#include "base/invariant.h"
#include "base/text/base64.h"
#include "base/text/white_space.h"

namespace reprise::inject {
namespace {

/// Takes the next value from a list, and the comma after it. Commas in quotes do not end it.
std::string_view take_value(std::string_view& list) {
  std::size_t end = 0;
  for (bool quoted = false; end < list.size() && (quoted || list[end] != ','); ++end) {
    if (list[end] == '"') quoted = !quoted;
    if (quoted && list[end] == '\\') ++end;
  }
  auto const value = list.substr(0, end);
  list.remove_prefix(std::min(end + 1, list.size()));
  return value;
}

bool is_valid_essence(std::string_view text) {
  auto const slash = std::min(text.find('/'), text.size());
  return slash < text.size() && is_token(text.substr(0, slash)) && is_token(text.substr(slash + 1));
}

struct StatedType {
  std::string_view essence, charset;  ///< empty: none
};

/// The last valid Content-Type but */*, with the charset of equal ones directly before it if it has
/// none (Fetch, "extract a MIME type").
StatedType stated_type(HeaderList headers) {
  StatedType type;
  for (const HeaderView& field : headers) {
    if (!equals_ignoring_case(field.name, "content-type")) continue;
    for (auto rest = field.value; !rest.empty();) {
      auto const value = take_value(rest);
      auto const essence = media_type_of(value);
      if (!is_valid_essence(essence) || essence == "*/*") continue;
      auto const charset = charset_parameter(value);
      bool const keeps = charset.empty() && equals_ignoring_case(essence, type.essence);
      type = {.essence = essence, .charset = keeps ? type.charset : charset};
    }
  }
  return type;
}

bool is_digest_field(std::string_view name) {
  return equals_ignoring_case(name, "digest") || equals_ignoring_case(name, "repr-digest") ||
         equals_ignoring_case(name, "content-digest");
}

std::optional<std::string> digest(std::string_view algorithm, std::span<const std::byte> body) {
  auto const is = [algorithm](std::string_view name) {
    return equals_ignoring_case(algorithm, name);
  };
  const EVP_MD* const type = is("md5")       ? EVP_md5()
                             : is("sha")     ? EVP_sha1()
                             : is("sha-256") ? EVP_sha256()
                             : is("sha-512") ? EVP_sha512()
                                             : nullptr;
  if (type == nullptr) return std::nullopt;
  std::array<std::byte, EVP_MAX_MD_SIZE> value{};
  unsigned size = 0;
  invariant(EVP_Digest(body.data(), body.size(), reinterpret_cast<unsigned char*>(value.data()),
                       &size, type, nullptr) == 1,
            "OpenSSL lacks a digest");
  return base64(std::span(value).first(size));
}

// "sha-256=...": RFC 3230 for Digest; with colons around the value, RFC 9530.
std::string digests_as(std::string_view recorded, bool structured,
                       std::span<const std::byte> body) {
  std::string result;
  for (auto const part : std::views::split(recorded, ',')) {
    std::string_view const element(part);
    auto const name = trim(element.substr(0, element.find('=')));
    auto const value = digest(name, body);
    if (!value) continue;
    if (!result.empty()) result += ", ";
    result += std::string(name) + (structured ? "=:" : "=") + *value + (structured ? ":" : "");
  }
  return result;
}

}  // namespace

Kind kind_of(std::uint16_t status, HeaderList headers, Destination destination) {
  bool const content =
      status >= 200 && status != 204 && status != 205 && status != 206 && status != 304;
  if (!content || destination == Destination::kData) return Kind::kOther;
  if (status >= 300 && status < 400 && find_header(headers, "location")) return Kind::kOther;
  auto const type = stated_type(headers).essence;
  auto const is = [type](std::string_view name) { return equals_ignoring_case(type, name); };
  if (destination == Destination::kWorker) {
    return is_javascript(type) ? Kind::kScript : Kind::kOther;
  }
  auto const disposition = find_header(headers, "content-disposition");
  if (disposition && equals_ignoring_case(media_type_of(*disposition), "attachment")) {
    return Kind::kOther;
  }
  if (is("text/html")) return Kind::kHtml;
  if (is("application/xhtml+xml") || is("image/svg+xml") || is("application/xml") ||
      is("text/xml")) {
    return Kind::kXml;
  }
  bool const unknown = type.empty() || is("unknown/unknown") || is("application/unknown");
  bool const no_sniff = header_has_token(headers, "x-content-type-options", "nosniff");
  return unknown && !no_sniff ? Kind::kSniffed : Kind::kOther;
}

std::optional<Markup> sniffed_markup(std::span<const std::byte> document) {
  std::string_view text(reinterpret_cast<const char*>(document.data()), document.size());
  if (byte_order_mark(document)) return std::nullopt;  // then it is text/plain
  while (!text.empty() && is_white_space(text.front())) text.remove_prefix(1);
  if (text.starts_with("<?xml")) return Markup::kXml;
  if (text.starts_with("<!--")) return Markup::kHtml;
  for (std::string_view const tag :
       {"<!doctype html", "<html", "<head", "<script", "<iframe", "<h1", "<div", "<font", "<table",
        "<a", "<style", "<title", "<b", "<body", "<br", "<p"}) {
    if (!starts_with_ignoring_case(text, tag) || text.size() == tag.size()) continue;
    if (text[tag.size()] == ' ' || text[tag.size()] == '>') return Markup::kHtml;
  }
  return std::nullopt;
}

std::string_view header_charset(HeaderList headers) {
  return stated_type(headers).charset;
}

Headers changed_head(HeaderList headers, const HeadChange& change) {
  std::deque<std::string> texts;  // holds what the views point to until they are copied
  std::vector<HeaderView> fields;
  auto const put = [&](std::string_view name, std::string value) {
    fields.push_back({.name = name, .value = texts.emplace_back(std::move(value))});
  };
  std::size_t policy = 0;
  bool typed = change.charset_to_state.empty();
  auto const essence = stated_type(headers).essence;
  std::string const type = std::string(essence.empty() ? "text/html" : essence) +
                           "; charset=" + std::string(change.charset_to_state);
  for (const HeaderView& field : headers) {
    auto const is = [&field](std::string_view name) {
      return equals_ignoring_case(field.name, name);
    };
    if (is_policy_field(field.name)) {
      auto const& value = change.allowance.values[policy++];
      put(field.name, value ? *value : std::string(field.value));
    } else if (is("content-length")) {
      if (change.length_bytes) put(field.name, std::to_string(*change.length_bytes));
    } else if (is("content-type") && !change.charset_to_state.empty()) {
      put(field.name, type);
      typed = true;
    } else if (is("content-md5")) {
      if (change.body != nullptr) put(field.name, *digest("md5", *change.body));
    } else if (is_digest_field(field.name)) {
      if (change.body == nullptr) continue;
      auto value = digests_as(field.value, !is("digest"), *change.body);
      if (!value.empty()) put(field.name, std::move(value));
    } else {
      fields.push_back(field);
    }
  }
  if (!typed) put("Content-Type", type);
  return Headers(HeaderList(fields));
}

}  // namespace reprise::inject
