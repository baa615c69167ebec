#pragma once

// The parameters of SVCB and HTTPS records by name (RFC 9460 section 7, RFC 9848 for ech). Pure.

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dns/message.h"

namespace reprise::dns {

enum SvcKey : std::uint16_t {
  kSvcMandatory = 0,
  kSvcAlpn = 1,
  kSvcNoDefaultAlpn = 2,
  kSvcPort = 3,
  kSvcIpv4Hint = 4,
  kSvcEch = 5,
  kSvcIpv6Hint = 6,
};

/// A parameter's value as on the wire; nothing if it is missing. Valid as long as `svcb`.
std::optional<std::string_view> find_param(const Svcb& svcb, std::uint16_t key);
/// Sets a parameter at its place in the order; without a value, removes it.
void set_param(Svcb& svcb, std::uint16_t key, std::optional<std::string> value);

// Each result is empty if the record has no such parameter. Errors: bad_record for a malformed
// value; by RFC 9460 the whole record is then ignored.
Result<std::vector<std::uint16_t>> mandatory_of(const Svcb& svcb);
Result<std::vector<std::string>> alpn_of(const Svcb& svcb);
Result<std::optional<std::uint16_t>> port_of(const Svcb& svcb);

// Values for set_param(); the first two are the inverse of the readers above.
std::string mandatory_value(const std::vector<std::uint16_t>& keys);
std::string alpn_value(const std::vector<std::string>& alpn);
std::string ipv4_hint_value(const std::vector<std::array<std::uint8_t, 4>>& addresses);

}  // namespace reprise::dns
