#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/http/h1_parser.h"

namespace reprise {

/// A response's fields as a client gets them, whatever an origin sent or an archive holds: those
/// that HTTP can carry, and of those that frame only the one that frames the body which follows, so
/// that every client sees the same body (RFC 9112 section 6.3). Without Alt-Svc, which would lead
/// the client past this proxy. Borrows the fields of `head`.
class FittedFields {
 public:
  /// `framing` is how the body follows; its field is added where `head` has none. For HEAD and 304,
  /// without a body, what the head announces stays, as far as it is clear.
  FittedFields(std::string_view request_method, const ResponseHead& head,
               const BodyFraming& framing);
  FittedFields(const FittedFields&) = delete;
  FittedFields& operator=(const FittedFields&) = delete;
  HeaderList list() const { return fields_; }
  /// The list, to be changed. What it views still belongs to this.
  std::vector<HeaderView> take() { return std::move(fields_); }

 private:
  std::string length_;
  std::vector<HeaderView> fields_;
};

}  // namespace reprise
