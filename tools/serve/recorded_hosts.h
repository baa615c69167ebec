#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <vector>

#include "archive/reader.h"
#include "dns/plan.h"
#include "proxy/stream/net.h"

namespace reprise {

/// The hosts of a session with the addresses that they were reached at, and what DNS said of them,
/// by first appearance: what dns::Plan numbers. `session` 0 is the one that a replay would choose.
/// A host that never gave anything is left out, so that it fails in a replay, too.
std::vector<dns::RecordedHost> recorded_hosts(const ArchiveReader& archive, std::uint32_t session);

/// How long connecting took to each origin address: the least of the session, which is its round
/// trip. An address that was not connected to is not there.
std::map<net::ip::address, std::chrono::nanoseconds> recorded_round_trips(
    const ArchiveReader& archive, std::uint32_t session);

}  // namespace reprise
