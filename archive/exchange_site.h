#pragma once

// What is needed of each exchange before the first can be served, read without decoding the rest.
// Pure; input is hostile.

#include <optional>
#include <string_view>

#include "archive/exchange.h"
#include "archive/record.h"

namespace reprise {

/// Where an exchange was asked for, and what it was answered in.
struct ExchangeSite {
  Scheme scheme = Scheme::kHttp;
  std::string_view host;  ///< of the payload
  std::uint16_t port = 0;
  HttpVersion version = HttpVersion::kUnknown;  ///< of the response
};

/// `payload` is that of an exchange record. Nothing where it is not what an encoder writes; what is
/// not read is not checked.
std::optional<ExchangeSite> decode_exchange_site(Bytes payload);

}  // namespace reprise
