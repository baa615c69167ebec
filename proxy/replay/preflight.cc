#include "proxy/replay/preflight.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/text/white_space.h"

namespace reprise {
namespace {

constexpr std::string_view kMethod = "Access-Control-Request-Method";

/// Whether an answer with that Access-Control-Allow-Origin allows `origin`.
bool allows_origin(std::string_view allowed, std::string_view origin) {
  return allowed == "*" || allowed == origin;
}

/// The recorded exchange that `asked` precedes: if possible one whose answer allows its origin,
/// then one that allows another, then one with the same query; the first of equals.
std::optional<Exchange> find_actual(const ArchiveReader& archive, std::uint32_t session,
                                    const AskedRequest& asked) {
  auto const method = find_header(asked.headers, kMethod).value_or("");
  auto const origin = find_header(asked.headers, "Origin").value_or("");
  std::optional<Exchange> best;
  auto const rank = [&asked, origin](const Exchange& each) {
    auto const allowed = find_header(each.response.headers.list(), "Access-Control-Allow-Origin");
    int const by_origin = !allowed ? 0 : allows_origin(*allowed, origin) ? 4 : 2;
    return by_origin + (each.request.target == asked.key.target ? 1 : 0);
  };
  std::size_t visits = 0;
  archive.visit_path(path_hash(asked.key.host, asked.key.target), [&](std::uint32_t ordinal) {
    if (archive.entries()[ordinal].session != session) return ++visits < kPreflightVisitsMax;
    auto exchange = archive.exchange(ordinal);
    if (exchange && exchange->response.status != 0) {
      auto key = key_of(exchange->request);
      auto wanted = asked.key;
      wanted.method = method;
      auto const better = !best || rank(*exchange) > rank(*best) ||
                          (rank(*exchange) == rank(*best) && exchange->sequence < best->sequence);
      if (same_place(key, wanted) && better) best = std::move(*exchange);
    }
    return ++visits < kPreflightVisitsMax;
  });
  return best;
}

/// Whether the field `name` of a response lists `token`, or everything.
bool lists(HeaderList response, std::string_view name, std::string_view token) {
  return header_has_token(response, name, token) || header_has_token(response, name, "*");
}

bool allows_method(HeaderList response, std::string_view method) {
  return method == "GET" || method == "HEAD" || method == "POST" ||
         lists(response, "Access-Control-Allow-Methods", method);
}

bool allows_fields(HeaderList response, std::string_view names) {
  while (!names.empty()) {
    auto const end = std::min(names.find(','), names.size());
    auto const name = trim(names.substr(0, end));
    names.remove_prefix(std::min(end + 1, names.size()));
    if (!name.empty() && !lists(response, "Access-Control-Allow-Headers", name)) return false;
  }
  return true;
}

}  // namespace

bool is_preflight(const AskedRequest& asked) {
  return asked.key.method == "OPTIONS" && find_header(asked.headers, "Origin") &&
         find_header(asked.headers, kMethod);
}

bool answers_preflight(const Exchange& recorded, const AskedRequest& asked) {
  if (same_cors_fields(recorded.request.headers.list(), asked.headers)) return true;
  auto const response = recorded.response.headers.list();
  auto const of = [&asked](std::string_view name) {
    return find_header(asked.headers, name).value_or("");
  };
  auto const allowed = find_header(response, "Access-Control-Allow-Origin");
  auto const status = recorded.response.status;
  return status >= 200 && status < 300 && allowed && allows_origin(*allowed, of("Origin")) &&
         allows_method(response, of(kMethod)) &&
         allows_fields(response, of("Access-Control-Request-Headers"));
}

std::expected<MadeUp, std::string> answer_preflight(const ArchiveReader& archive,
                                                    std::uint32_t session,
                                                    const AskedRequest& asked) {
  std::string const method(find_header(asked.headers, kMethod).value_or(""));
  auto const actual = find_actual(archive, session, asked);
  if (!actual) {
    return std::unexpected("a preflight, and the " + method + " that it precedes is not recorded");
  }
  auto const recorded = actual->response.headers.list();
  auto const origin = find_header(asked.headers, "Origin").value_or("");
  auto const allowed = find_header(recorded, "Access-Control-Allow-Origin");
  if (!allowed) {
    return std::unexpected("a preflight, and the recorded " + method + " allows no other origin");
  }
  if (!allows_origin(*allowed, origin)) {
    return std::unexpected("a preflight, and the recorded " + method + " allows " +
                           std::string(*allowed) + ", not " + std::string(origin));
  }
  std::vector<HeaderView> fields{{.name = "Access-Control-Allow-Origin", .value = *allowed},
                                 {.name = "Access-Control-Allow-Methods", .value = method}};
  auto const take_over = [&fields](HeaderList from, std::string_view name, std::string_view as) {
    if (auto const value = find_header(from, name)) fields.push_back({.name = as, .value = *value});
  };
  take_over(asked.headers, "Access-Control-Request-Headers", "Access-Control-Allow-Headers");
  take_over(recorded, "Access-Control-Allow-Credentials", "Access-Control-Allow-Credentials");
  // With everything on loopback, a browser may request this, too.
  take_over(asked.headers, "Access-Control-Request-Private-Network",
            "Access-Control-Allow-Private-Network");
  return MadeUp{.special = Special::kPreflight,
                .status = 204,
                .headers = Headers(HeaderList(fields)),
                .why = "as the recorded " + method + " allows"};
}

}  // namespace reprise
