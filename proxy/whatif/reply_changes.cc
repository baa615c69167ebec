#include "proxy/whatif/reply_changes.h"

#include <algorithm>
#include <vector>

#include "base/bytes.h"
#include "inject/csp.h"
#include "inject/response.h"
#include "proxy/http/handler.h"

namespace reprise::whatif {
namespace {

std::unexpected<std::string> cannot(const std::error_code& error) {
  return std::unexpected("its body cannot be decoded: " + error.message());
}

std::string_view name_of(coding::Coding coding) {
  using enum coding::Coding;
  switch (coding) {
    case kGzip:
      return "gzip";
    case kBrotli:
      return "br";
    case kZstd:
      return "zstd";
    case kDeflate:
    case kRawDeflate:
      break;
  }
  return "deflate";
}

coding::Buffer encoded(const coding::Buffer& plain, std::span<const coding::Coding> codings,
                       coding::Effort effort) {
  coding::Buffer coded;
  coding::Encoder(codings, effort).write(plain, coding::Until::kEnd, coded);
  return coded;
}

bool names_any(const HeaderView& field, std::initializer_list<std::string_view> names) {
  return std::ranges::any_of(
      names, [&](std::string_view name) { return equals_ignoring_case(field.name, name); });
}

}  // namespace

Headers with_field(HeaderList fields, std::string_view name,
                   std::optional<std::string_view> value) {
  std::vector<HeaderView> kept;
  for (const HeaderView& field : fields) {
    if (!equals_ignoring_case(field.name, name)) kept.push_back(field);
  }
  if (value) kept.push_back({.name = name, .value = *value});
  return Headers(kept);
}

Headers fields_for(HeaderList fields, const coding::Buffer& body) {
  inject::ScriptAllowance same;
  for (const HeaderView& field : fields) {
    if (inject::is_policy_field(field.name)) same.values.emplace_back();
  }
  return inject::changed_head(
      fields,
      {.allowance = same, .charset_to_state = {}, .length_bytes = body.size(), .body = &body});
}

Change set_status(Reply& reply, std::uint16_t code) {
  std::vector<HeaderView> kept;
  for (const HeaderView& field : reply.stored.headers.list()) {
    bool const permits = starts_with_ignoring_case(field.name, "access-control-") ||
                         names_any(field, {"date", "timing-allow-origin", "vary"});
    if (permits) kept.push_back(field);
  }
  kept.push_back({.name = "Cache-Control", .value = "no-store"});
  if (code != 204) kept.push_back({.name = "Content-Length", .value = "0"});
  reply.stored.status = code;
  reply.stored.reason = reason_phrase(code);
  reply.stored.headers = Headers(kept);
  reply.stored.trailers = {};
  reply.body.clear();
  return true;
}

Change set_plain_body(Reply& reply, std::string_view bytes) {
  auto const body = bytes_of(bytes);
  reply.body.assign(body.begin(), body.end());
  auto const fields = with_field(reply.stored.headers.list(), "Content-Encoding", std::nullopt);
  reply.stored.headers = fields_for(fields.list(), reply.body);
  return true;
}

std::expected<coding::Buffer, std::string> plain_body(const Reply& reply) {
  auto codings = coding::codings_of(reply.stored.headers.list());
  if (!codings) return cannot(codings.error());
  auto plain = coding::decode_whole(*codings, reply.body, {});
  if (!plain) return cannot(plain.error());
  return std::move(*plain);
}

Change replace_plain(Reply& reply, const coding::Buffer& plain) {
  auto codings = coding::codings_of(reply.stored.headers.list());
  if (!codings) return cannot(codings.error());
  if (codings->empty()) {
    reply.body = plain;
  } else {
    // Decoding tells the two forms of deflate apart.
    if (auto decoded = coding::decode_whole(*codings, reply.body, {}); !decoded) {
      return cannot(decoded.error());
    }
    auto const effort = coding::fit_effort(*codings, reply.body);
    reply.body = encoded(plain, *codings, effort.value_or(coding::default_effort((*codings)[0])));
  }
  reply.stored.headers = fields_for(reply.stored.headers.list(), reply.body);
  return true;
}

Change compress(Reply& reply, std::optional<coding::Coding> coding) {
  auto const codings = coding::codings_of(reply.stored.headers.list());
  if (!codings) return cannot(codings.error());
  auto const wanted = coding ? std::vector{*coding} : std::vector<coding::Coding>();
  if (*codings == wanted) return false;
  auto plain = plain_body(reply);
  if (!plain) return std::unexpected(plain.error());
  if (coding) {
    reply.body = encoded(*plain, wanted, coding::default_effort(*coding));
  } else {
    reply.body = std::move(*plain);
  }
  std::optional<std::string_view> value;
  if (coding) value = name_of(*coding);
  auto fields = with_field(reply.stored.headers.list(), "Content-Encoding", value);
  if (coding && !header_has_token(fields.list(), "vary", "accept-encoding")) {
    std::vector<HeaderView> with_vary(fields.list().begin(), fields.list().end());
    with_vary.push_back({.name = "Vary", .value = "Accept-Encoding"});
    fields = Headers(with_vary);
  }
  reply.stored.headers = fields_for(fields.list(), reply.body);
  return true;
}

bool may_be_cached(std::string_view method) {
  return method == "GET" || method == "HEAD";
}

Change cache_for(Reply& reply, std::chrono::seconds age) {
  std::vector<HeaderView> kept;
  for (const HeaderView& field : reply.stored.headers.list()) {
    if (!names_any(field, {"cache-control", "expires", "pragma", "age"})) kept.push_back(field);
  }
  auto const value = age == std::chrono::seconds()
                         ? std::string("no-store")
                         : "public, max-age=" + std::to_string(age.count()) + ", immutable";
  kept.push_back({.name = "Cache-Control", .value = value});
  reply.stored.headers = Headers(kept);
  return true;
}

}  // namespace reprise::whatif
