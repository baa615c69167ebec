#pragma once

// The data that is needed of each exchange before serving starts, read without decoding the rest.
// Pure; input is hostile.

#include <optional>
#include <string_view>

#include "archive/exchange.h"
#include "archive/record.h"

namespace reprise {

/// The site of an exchange, and the version of its response.
struct ExchangeSite {
  Scheme scheme = Scheme::kHttp;
  std::string_view host;  ///< points into the payload
  std::uint16_t port = 0;
  HttpVersion version = HttpVersion::kUnknown;  ///< of the response
};

/// `payload`: of an exchange record. Nothing if no encoder writes such a payload; only the parts
/// read are checked.
std::optional<ExchangeSite> decode_exchange_site(Bytes payload);

}  // namespace reprise
