#pragma once

#include <chrono>
#include <expected>
#include <span>
#include <string>
#include <string_view>

#include "shaper/settings.h"

namespace reprise {

/// A link as a user names it: both directions, seen from the client. LINKS.md is the grammar.
struct LinkProfile {
  std::string id;      ///< as given: `wpt:4g`, `9000/9000/170`
  std::string source;  ///< where the numbers come from
  LinkSettings down;   ///< towards the client
  LinkSettings up;     ///< from the client

  std::chrono::nanoseconds rtt() const { return down.delay + up.delay; }

  bool operator==(const LinkProfile&) const = default;
};

/// Reads what `--link` takes: a profile's id, DOWN/UP/RTT[/LOSS] or `none`, with key=value extras.
/// Reads the trace files that the text names. The error is a sentence that names the part that is
/// wrong and what fits there.
std::expected<LinkProfile, std::string> parse_link(std::string_view text);

/// Of a link without a queue of its own: one bandwidth-delay product or 100 packets, whichever is
/// larger, at most kQueuePacketsMax.
std::uint32_t default_queue_packets(std::uint64_t rate_bps, std::chrono::nanoseconds rtt);

/// The profiles known by name, in the order of LINKS.md.
std::span<const LinkProfile> known_profiles();

}  // namespace reprise
