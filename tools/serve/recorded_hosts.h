#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <vector>

#include "archive/reader.h"
#include "dns/plan.h"
#include "proxy/replay/response/schedule.h"
#include "proxy/stream/net.h"

namespace reprise {

/// The hosts of a session with the addresses of their connections, and their DNS data, by first
/// appearance: the input of dns::Plan. A host comes once for each connection, the first time with
/// its DNS data. `session` 0 is the one that a replay would choose. A host without any response is
/// omitted, so that it fails in a replay, too.
std::vector<dns::RecordedHost> recorded_hosts(const ArchiveReader& archive, std::uint32_t session);

/// Delays the answers for `hosts` by what looking them up took in the session, or by what `time`
/// says instead. `others` gets the same for all other names, of which a recording knows those that
/// it looked up in vain. Returns whether any answer has a delay.
bool delay_answers(const ArchiveReader& archive, std::uint32_t session, const ThinkTime& time,
                   std::vector<dns::RecordedHost>& hosts, dns::OtherDelays& others);

/// How long connecting to each origin address took: the minimum in the session, which is its round
/// trip. Addresses without a connection are omitted.
std::map<net::ip::address, std::chrono::nanoseconds> recorded_round_trips(
    const ArchiveReader& archive, std::uint32_t session);

/// Whether a response of the session has the times that its think time is made of.
bool has_think_times(const ArchiveReader& archive, std::uint32_t session);

}  // namespace reprise
