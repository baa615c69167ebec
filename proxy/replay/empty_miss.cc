#include "proxy/replay/empty_miss.h"

#include <algorithm>
#include <string>
#include <vector>

namespace reprise {
namespace {

constexpr std::size_t kValueBytesMax = 1024;

/// Text as the value of a field (RFC 9110 section 5.5).
std::string as_value(std::string text) {
  text.resize(std::min(text.size(), kValueBytesMax));
  for (char& c : text) {
    if (c < ' ' || c > '~') c = '?';
  }
  return text;
}

}  // namespace

Task<void> send_empty_miss(const Miss& miss, ResponseWriter& writer) {
  std::vector<std::string> near;
  for (const NearMiss& each : miss.nearest) near.push_back(as_value(each.url + " " + each.why));
  auto const reason = as_value(miss.reason);
  std::vector<HeaderView> fields{{.name = "Content-Length", .value = "0"},
                                 {.name = "X-Reprise-Miss", .value = reason}};
  for (const std::string& each : near) fields.push_back({.name = "X-Reprise-Near", .value = each});
  ResponseHead const head{.status = 404, .reason = reason_phrase(404), .headers = fields};
  if (auto const sent = co_await writer.send_head(head); !sent) co_return sent;
  co_return co_await writer.finish({});
}

}  // namespace reprise
