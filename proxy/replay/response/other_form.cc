#include "proxy/replay/response/other_form.h"

#include <algorithm>
#include <span>
#include <vector>

#include "archive/match/request.h"

namespace reprise {
namespace {

bool is_conditional(HeaderList request) {
  return find_header(request, "If-None-Match") || find_header(request, "If-Modified-Since");
}

}  // namespace

bool needs_dictionary(const Exchange& exchange) {
  auto const fields = exchange.response.headers.list();
  return header_has_token(fields, "Content-Encoding", "dcb") ||
         header_has_token(fields, "Content-Encoding", "dcz");
}

bool has_dictionary(const Exchange& exchange, HeaderList asked) {
  auto const has = find_header(asked, "Available-Dictionary");
  return has && has == find_header(exchange.request.headers.list(), "Available-Dictionary");
}

bool has_same_range(const Exchange& exchange, HeaderList asked) {
  return find_header(exchange.request.headers.list(), "Range") == find_header(asked, "Range");
}

bool is_other_part(const Exchange& exchange, HeaderList asked) {
  if (exchange.request.method != "GET") return false;
  auto const status = exchange.response.status;
  bool const part =
      status == 206 || status == 416 || (status == 200 && exchange.outcome != Outcome::kComplete);
  return part && !has_same_range(exchange, asked);
}

std::string_view why_unfit(const Exchange& exchange, HeaderList asked) {
  if (is_other_part(exchange, asked)) return "recorded in parts that do not have it";
  if (needs_dictionary(exchange) && !has_dictionary(exchange, asked)) {
    return "coded with a dictionary that the client does not have";
  }
  // An origin that sent it even to a client without a copy is believed.
  if (exchange.response.status == 304 && is_conditional(exchange.request.headers.list()) &&
      !is_conditional(asked)) {
    return "recorded as not modified, and the client has no copy";
  }
  return {};
}

bool fits_all(const Exchange& exchange) {
  auto const status = exchange.response.status;
  return exchange.outcome == Outcome::kComplete && status != 206 && status != 304 &&
         status != 416 && !needs_dictionary(exchange);
}

std::optional<std::uint32_t> find_form(const ArchiveReader& archive, std::uint32_t ordinal,
                                       FormSearch search,
                                       const std::function<bool(const Exchange&)>& wanted) {
  auto const like = archive.exchange(ordinal);
  if (!like) return std::nullopt;
  auto const& request = like->request;
  auto const entries = archive.entries();
  auto const all = archive.find_key(entries[ordinal].key_hash);
  auto const begin = static_cast<std::uint32_t>(all.data() - entries.data());
  auto const end = begin + static_cast<std::uint32_t>(all.size());
  std::vector<std::uint32_t> later;
  for (auto at = ordinal + 1; at < end && later.size() < kFormsMax; ++at) later.push_back(at);
  std::vector<std::uint32_t> order;
  for (auto at = ordinal; at > begin && order.size() < kFormsMax; --at) order.push_back(at - 1);
  bool const later_first = search == FormSearch::kLaterFirst;
  order.insert(later_first ? order.begin() : order.end(), later.begin(), later.end());
  for (auto const at : std::span(order).first(std::min(order.size(), kFormsMax))) {
    if (entries[at].session != like->session || entries[at].outcome != Outcome::kComplete) continue;
    auto const exchange = archive.exchange(at);
    if (exchange && same_place(key_of(exchange->request), key_of(request)) &&
        exchange->request.target == request.target && wanted(*exchange)) {
      return at;
    }
  }
  return std::nullopt;
}

}  // namespace reprise
