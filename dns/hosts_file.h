#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dns/zone.h"

namespace reprise::dns {

/// What a file of the form of hosts(5) says: lines of `ADDRESS NAME...`, `#` begins a comment. A
/// name on several lines has all their addresses, in order. `ADDRESS *` is for all other names
/// (IPv4 only; the first counts). Upper case counts as lower.
struct HostsFile {
  struct Problem {
    std::size_t line = 0;  ///< from 1
    std::string what;
  };
  Zone zone;
  std::vector<Problem> problems;  ///< lines, or names on them, that were passed over; at most 20
};

/// Pure; of any text. What it takes in memory is some ten times the text.
HostsFile parse_hosts(std::string_view text);

}  // namespace reprise::dns
