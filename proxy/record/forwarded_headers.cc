#include "proxy/record/forwarded_headers.h"

#include <algorithm>

#include "archive/exchange.h"
#include "base/http/h1_parser.h"
#include "base/text/white_space.h"

namespace reprise {
namespace {

/// The limit of fields named by Connection.
constexpr std::size_t kNominatedMax = 32;

/// The names that Connection fields list (RFC 9110 section 7.6.1), at most kNominatedMax.
std::vector<std::string_view> nominated(HeaderList headers) {
  std::vector<std::string_view> names;
  for (const HeaderView& field : headers) {
    if (!equals_ignoring_case(field.name, "Connection")) continue;
    for (std::string_view rest = field.value; !rest.empty() && names.size() < kNominatedMax;) {
      auto const comma = std::min(rest.find(','), rest.size());
      names.push_back(trim_blanks(rest.substr(0, comma)));
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
  return names;
}

bool stays_here(const HeaderView& field, const std::vector<std::string_view>& nominees) {
  auto const is = [&field](std::string_view name) {
    return equals_ignoring_case(field.name, name);
  };
  if (is("Proxy-Connection") || is("Proxy-Authorization") || is("Upgrade")) return true;
  if (is("Connection")) {
    return !equals_ignoring_case(field.value, "keep-alive") &&
           !equals_ignoring_case(field.value, "close");
  }
  return std::ranges::any_of(
      nominees, [&field](std::string_view name) { return equals_ignoring_case(field.name, name); });
}

bool stays_here_on_upgrade(const HeaderView& field, const std::vector<std::string_view>& nominees) {
  auto const is = [&field](std::string_view name) {
    return equals_ignoring_case(field.name, name);
  };
  if (is("Sec-WebSocket-Extensions")) return true;
  return !is("Upgrade") && !is("Connection") && stays_here(field, nominees);
}

}  // namespace

ForwardedHeaders::ForwardedHeaders(const RequestHead& head, const RequestRules* rules)
    : host_(authority_of(head.scheme, head.host, head.port)) {
  auto const nominees = nominated(head.headers);
  fields_.reserve(head.headers.size() + 1);
  bool has_host = head.version == HttpVersion::kH2 || head.version == HttpVersion::kHttp10;
  for (const HeaderView& field : head.headers) {
    if (!equals_ignoring_case(field.name, "Host")) {
      bool const stays = head.protocol.empty() ? stays_here(field, nominees)
                                               : stays_here_on_upgrade(field, nominees);
      if (!stays) fields_.push_back(field);
      continue;
    }
    auto const named = parse_authority(field.value, default_port(head.scheme));
    bool const right = named && named->host == head.host && named->port == head.port;
    fields_.push_back(right ? field : HeaderView{.name = field.name, .value = host_});
    has_host = true;
  }
  if (!has_host) fields_.insert(fields_.begin(), {.name = "Host", .value = host_});
  if (rules != nullptr) rules->add_fields(head, fields_);
}

}  // namespace reprise
