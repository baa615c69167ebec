#pragma once

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/address_v4.hpp>
#include <boost/asio/ip/address_v6.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/lookup_times.h"
#include "dns/message.h"

namespace reprise::dns {

/// How long the answers about names without an entry wait.
struct OtherDelays {
  std::chrono::nanoseconds all{};
  std::map<std::string, LookupTimes, std::less<>> by_name;  ///< for these names, instead of `all`
};

/// The answers for one name.
struct ZoneEntry {
  std::string host;  ///< as normal_host() writes it
  std::vector<boost::asio::ip::address_v4> v4;
  std::vector<boost::asio::ip::address_v6> v6;
  std::vector<std::string> chain;      ///< the CNAMEs, in order; the last one has the addresses
  std::optional<std::uint32_t> ttl_s;  ///< as recorded
  std::vector<Svcb> https;
  LookupTimes delay{};
};

/// All names that a stub can resolve. Plain values.
struct Zone {
  std::vector<ZoneEntry> entries;
  /// The address for all other names; nothing: they do not exist.
  std::optional<boost::asio::ip::address> catch_all;
  OtherDelays other_delays{};
};

}  // namespace reprise::dns
