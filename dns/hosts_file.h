#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dns/zone.h"

namespace reprise::dns {

/// The contents of a file in the format of hosts(5): lines `ADDRESS NAME...`; `#` begins a comment.
/// A name on several lines has all their addresses, in order. `ADDRESS *` applies to all other
/// names (IPv4 only; the first such line counts). Names are compared without case.
struct HostsFile {
  struct Problem {
    std::size_t line = 0;  ///< from 1
    std::string what;
  };
  Zone zone;
  std::vector<Problem> problems;  ///< invalid lines or names, which were skipped; at most 20
};

/// Accepts any text. Uses memory of about ten times the text. Pure.
HostsFile parse_hosts(std::string_view text);

}  // namespace reprise::dns
