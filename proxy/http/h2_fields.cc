#include "proxy/http/h2_fields.h"

#include <algorithm>
#include <array>

#include "archive/exchange.h"
#include "base/text/ascii.h"

namespace reprise {
namespace {

std::uint8_t* nghttp2_bytes(std::string_view text) {
  return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
}

}  // namespace

bool is_connection_field(const HeaderView& field) {
  static constexpr std::array<std::string_view, 6> kNames{"Connection",       "Keep-Alive",
                                                          "Proxy-Connection", "Transfer-Encoding",
                                                          "Upgrade",          "HTTP2-Settings"};
  // Most fields have none of their lengths.
  static constexpr auto kLengths = [] {
    std::uint32_t lengths = 0;
    for (auto const name : kNames) lengths |= 1U << name.size();
    return lengths;
  }();
  auto const length = field.name.size();
  if (length >= 32 || (kLengths >> length & 1) == 0) return false;
  return std::ranges::any_of(
      kNames, [&field](std::string_view name) { return equals_ignoring_case(field.name, name); });
}

bool is_h2_value(std::string_view value) {
  return nghttp2_check_header_value(nghttp2_bytes(value), value.size()) != 0;
}

std::vector<nghttp2_nv> H2Fields::copied() const {
  auto fields = fields_;
  for (nghttp2_nv& field : fields) field.flags = NGHTTP2_NV_FLAG_NONE;
  return fields;
}

void H2Fields::add(std::string_view name, std::string_view value) {
  // Pointers into names_ are set once it has stopped growing; until then only lengths are stored.
  for (const char c : name) names_.push_back(to_lower(c));
  fields_.push_back({.name = nullptr,
                     .value = nghttp2_bytes(value),
                     .namelen = name.size(),
                     .valuelen = value.size(),
                     .flags = NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE});
}

void H2Fields::add_all(HeaderList headers) {
  for (const HeaderView& field : headers) {
    if (is_connection_field(field) || equals_ignoring_case(field.name, "Host")) continue;
    // TE may only be trailers (section 8.2.2).
    if (equals_ignoring_case(field.name, "TE") && field.value != "trailers") continue;
    add(field.name, field.value);
  }
}

void H2Fields::settle() {
  std::string_view rest = names_;
  for (nghttp2_nv& field : fields_) {
    field.name = nghttp2_bytes(rest);
    rest.remove_prefix(field.namelen);
  }
}

H2Fields::H2Fields(const ResponseHead& head) : values_(status_text(head.status)) {
  // Reserved so that it does not move: short texts are inside the string object itself.
  values_.reserve(32);
  fields_.reserve(head.headers.size() + 1);
  add(":status", values_);
  for (const HeaderView& field : head.headers) {
    if (!is_connection_field(field) && is_h2_value(field.value)) add(field.name, field.value);
  }
  names_.reserve(32);
  settle();
}

H2Fields::H2Fields(const RequestHead& head, const std::vector<std::string>& pseudo_order) {
  auto const host_field = find_header(head.headers, "Host");
  values_ = host_field ? *host_field : authority_of(head.scheme, head.host, head.port);
  values_.reserve(32);
  auto const value_of = [&](std::string_view name) -> std::string_view {
    if (name == ":method") return head.protocol.empty() ? head.method : "CONNECT";
    if (name == ":protocol") return head.protocol;
    if (name == ":authority") return values_;
    if (name == ":scheme") return to_string(head.scheme);
    return head.target;
  };
  constexpr std::array<std::string_view, 5> kAll{":method", ":authority", ":scheme", ":path",
                                                 ":protocol"};
  auto const pseudo = std::span(kAll).first(kAll.size() - (head.protocol.empty() ? 1 : 0));
  fields_.reserve(head.headers.size() + pseudo.size());
  for (const std::string& name : pseudo_order) {
    if (std::ranges::find(pseudo, name) != pseudo.end()) add(name, value_of(name));
  }
  for (const std::string_view name : pseudo) {
    if (std::ranges::find(pseudo_order, name) == pseudo_order.end()) add(name, value_of(name));
  }
  add_all(head.headers);
  names_.reserve(32);
  settle();
}

}  // namespace reprise
