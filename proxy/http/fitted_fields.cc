#include "proxy/http/fitted_fields.h"

#include "base/http/h1_syntax.h"
#include "proxy/http/alt_svc.h"

namespace reprise {
namespace {

using Kind = BodyFraming::Kind;

/// The framing that the fields may announce, of the body that follows or would follow.
BodyFraming told_framing(std::string_view request_method, const ResponseHead& head,
                         const BodyFraming& framing) {
  if (may_have_body(request_method, head.status)) return framing;
  bool const tells = head.status == 304 || (request_method == "HEAD" && head.status >= 200);
  auto const announced = announced_framing(head, Tolerance::kAsBrowsers);
  return tells && announced ? *announced : BodyFraming{};
}

}  // namespace

FittedFields::FittedFields(std::string_view request_method, const ResponseHead& head,
                           const BodyFraming& framing, AltSvc alt_svc) {
  auto const told = told_framing(request_method, head, framing);
  HeaderView wanted;
  if (told.kind == Kind::kLength) {
    length_ = std::to_string(told.length_bytes);
    wanted = {.name = "Content-Length", .value = length_};
  } else if (told.kind == Kind::kChunked) {
    wanted = {.name = "Transfer-Encoding", .value = "chunked"};
  }
  fields_.reserve(head.headers.size() + 1);
  for (const HeaderView& field : head.headers) {
    auto const is = [&field](std::string_view name) {
      return equals_ignoring_case(field.name, name);
    };
    if (!is_sendable(field)) continue;
    if (is("Alt-Svc")) {
      if (alt_svc == AltSvc::kRemoved) continue;
      auto offers = only_h3(field.value);
      if (offers.empty()) continue;
      fields_.push_back({.name = field.name, .value = alt_svc_.emplace_back(std::move(offers))});
    } else if (!is("Content-Length") && !is("Transfer-Encoding")) {
      fields_.push_back(field);
    } else if (!wanted.name.empty() && is(wanted.name)) {
      bool const as_it_is = told.kind == Kind::kChunked && ends_chunked(field.value);
      fields_.push_back({.name = field.name, .value = as_it_is ? field.value : wanted.value});
      wanted = {};
    }
  }
  if (!wanted.name.empty()) fields_.push_back(wanted);
}

}  // namespace reprise
