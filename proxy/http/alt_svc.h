#pragma once

// The Alt-Svc field (RFC 7838 section 3). Pure; input is hostile.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace reprise {

/// An offer of HTTP/3 on the origin's own host.
struct H3Alternative {
  std::string_view text;   ///< with its parameters; points into the field's value
  std::uint16_t port = 0;  ///< the UDP port
};

/// The offers of HTTP/3 on the same host in the value of a field. Other protocols, drafts of
/// HTTP/3, other hosts and invalid ports are skipped.
std::vector<H3Alternative> h3_alternatives(std::string_view alt_svc);

/// The value with these offers alone, unchanged and in their order; empty if there are none.
std::string only_h3(std::string_view alt_svc);

}  // namespace reprise
