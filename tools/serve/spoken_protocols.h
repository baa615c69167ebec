#pragma once

// What `--protocol` of a replay means, and what its hosts speak then.

#include <cstdint>
#include <string>
#include <vector>

#include "archive/reader.h"
#include "proxy/replay/tls_plans.h"
#include "proxy/whatif/conditions.h"

namespace reprise {

/// `text`: recorded, h1, h2, h3 or h3-known, which is as recorded over TCP.
Protocol protocol_of(const std::string& text);

/// What the hosts of a session, a number that is not 0, speak with each of these values of
/// `--protocol`. A host that also offers another protocol, or speaks one on another port, is not
/// there: `protocol=` would end that. Reads all exchanges over TLS.
whatif::SpokenProtocols spoken_protocols(const ArchiveReader& archive, std::uint32_t session,
                                         const std::vector<std::string>& protocols);

}  // namespace reprise
