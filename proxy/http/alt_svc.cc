#include "proxy/http/alt_svc.h"

#include <charconv>

#include "base/text/white_space.h"

namespace reprise {
namespace {

/// The text before the next comma outside quotes, which is removed from `rest`.
std::string_view next_member(std::string_view& rest) {
  bool quoted = false;
  std::size_t end = 0;
  for (; end < rest.size() && (quoted || rest[end] != ','); ++end) {
    if (rest[end] == '"') quoted = !quoted;
    if (rest[end] == '\\' && quoted) ++end;
  }
  end = std::min(end, rest.size());
  auto const member = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return trim(member);
}

/// The port in `h3=":443"`, which parameters may follow; 0 for anything else.
std::uint16_t port_of_h3(std::string_view member) {
  constexpr std::string_view kBefore = "h3=\":";
  if (!member.starts_with(kBefore)) return 0;
  member.remove_prefix(kBefore.size());
  auto const digits = member.substr(0, member.find('"'));
  std::uint16_t port = 0;
  auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  bool const whole = error == std::errc() && end == digits.data() + digits.size();
  return whole && digits.size() < member.size() ? port : 0;
}

}  // namespace

std::vector<H3Alternative> h3_alternatives(std::string_view alt_svc) {
  std::vector<H3Alternative> all;
  while (!alt_svc.empty()) {
    auto const member = next_member(alt_svc);
    if (auto const port = port_of_h3(member); port != 0) all.push_back({member, port});
  }
  return all;
}

std::string only_h3(std::string_view alt_svc) {
  std::string value;
  for (const H3Alternative& each : h3_alternatives(alt_svc)) {
    if (!value.empty()) value += ", ";
    value += each.text;
  }
  return value;
}

}  // namespace reprise
