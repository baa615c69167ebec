#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "base/http/h1_parser.h"

namespace reprise {

/// A response's fields as a client gets them: only valid fields, and exactly one framing field,
/// that of the body as sent, so that every client sees the same body (RFC 9112 section 6.3).
/// Borrows the fields of `head`.
class FittedFields {
 public:
  /// Alt-Svc is removed, because it would lead the client past this proxy; or only its offers of
  /// HTTP/3 on the same host are kept (only_h3()), where they lead to this proxy.
  enum class AltSvc : std::uint8_t { kRemoved, kOnlyH3 };

  /// `framing` is that of the body as sent; its field is added if `head` has none. For HEAD and
  /// 304, which have no body, the announced length is kept if it is unambiguous.
  FittedFields(std::string_view request_method, const ResponseHead& head,
               const BodyFraming& framing, AltSvc alt_svc = AltSvc::kRemoved);
  FittedFields(const FittedFields&) = delete;
  FittedFields& operator=(const FittedFields&) = delete;
  HeaderList list() const { return fields_; }
  /// The list, for changes. Its text still belongs to this object.
  std::vector<HeaderView> take() { return std::move(fields_); }

 private:
  std::string length_;
  std::deque<std::string> alt_svc_;
  std::vector<HeaderView> fields_;
};

}  // namespace reprise
