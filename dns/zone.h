#pragma once

#include <boost/asio/ip/address_v4.hpp>
#include <boost/asio/ip/address_v6.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dns/message.h"

namespace reprise::dns {

/// What is answered for one name.
struct ZoneEntry {
  std::string host;  ///< as normal_host() writes it
  std::vector<boost::asio::ip::address_v4> v4;
  std::vector<boost::asio::ip::address_v6> v6;
  std::vector<std::string> chain;  ///< the CNAMEs on the way, in order; the last has the addresses
  std::optional<std::uint32_t> ttl_s;  ///< as recorded
  std::vector<Svcb> https;
};

/// All names that a stub knows. Plain values.
struct Zone {
  std::vector<ZoneEntry> entries;
  /// What every other name leads to; nothing: they do not exist.
  std::optional<boost::asio::ip::address_v4> catch_all;
};

}  // namespace reprise::dns
