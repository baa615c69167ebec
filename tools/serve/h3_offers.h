#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "archive/reader.h"

namespace reprise {

/// The hosts of a session that offered HTTP/3: by Alt-Svc on a response over TLS, by an HTTPS
/// record in DNS, or because an import has exchanges over it. Reads all exchanges.
std::set<std::string> hosts_that_offered_h3(const ArchiveReader& archive, std::uint32_t session);

/// Whether the value of an Alt-Svc field (RFC 7838 section 3) offers HTTP/3 on the same host.
bool offers_h3(std::string_view alt_svc);

}  // namespace reprise
