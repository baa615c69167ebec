#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "archive/reader.h"

namespace reprise {

/// An origin that offered HTTP/3 in a recording, and where a browser would have gone for it: to the
/// same host, at this UDP port.
struct H3Offer {
  std::string host;
  std::uint16_t port = 0;  ///< of the origin, over TCP
  std::uint16_t udp_port = 0;
  bool by_header = false;  ///< Alt-Svc on a response over TLS
  bool by_record = false;  ///< an HTTPS record in DNS
  bool by_import = false;  ///< an import has exchanges over HTTP/3
};

/// The offers of a session, ordered by host and ports. Offers of other hosts (Alt-Svc with a host)
/// are omitted: they have no recorded address. Reads all exchanges over TLS.
std::vector<H3Offer> h3_offers(const ArchiveReader& archive, std::uint32_t session);

}  // namespace reprise
