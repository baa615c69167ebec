#pragma once

#include <chrono>
#include <expected>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "shaper/settings.h"

namespace reprise {

/// A link as on the command line: both directions, seen from the client. Grammar: LINKS.md.
struct LinkProfile {
  std::string id;      ///< as given: `wpt:4g`, `9000/9000/170`
  std::string source;  ///< where the numbers come from
  LinkSettings down;   ///< towards the client
  LinkSettings up;     ///< from the client

  std::chrono::nanoseconds rtt() const { return down.delay + up.delay; }

  bool operator==(const LinkProfile&) const = default;
};

/// Parses the value of `--link`: a profile's id, DOWN/UP/RTT[/LOSS] or `none`, with key=value
/// extras. Also reads the trace files that it names. The error is a sentence that names the invalid
/// part and the valid values.
std::expected<LinkProfile, std::string> parse_link(std::string_view text);

/// The text of the same link with absolute paths of trace files: relative ones are in `folder`,
/// which is absolute. Errors: those of parse_link(), and a path that a link cannot name.
std::expected<std::string, std::string> absolute_link(std::string_view text,
                                                      const std::filesystem::path& folder);

/// For a link without a queue setting: one bandwidth-delay product or 100 packets, whichever is
/// larger, at most kQueuePacketsMax.
std::uint32_t default_queue_packets(std::uint64_t rate_bps, std::chrono::nanoseconds rtt);

/// The known profiles, in the order of LINKS.md.
std::span<const LinkProfile> known_profiles();

}  // namespace reprise
