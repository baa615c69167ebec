#pragma once

// The result of a DNS query, and how it is read from a response. Pure.

#include <boost/asio/ip/address.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "dns/message.h"

namespace reprise::dns {

/// The result of one query, A, AAAA or HTTPS of one host, as the archive keeps it.
struct LookUpAnswer {
  static constexpr std::size_t kChainMax = 16;
  static constexpr std::size_t kRecordsMax = 64;

  std::string host;  ///< as normal_host() writes it
  Type type = Type::kA;
  std::optional<Rcode> rcode;  ///< nothing when no server answered
  /// Why there are no records: no_such_name, no_address (of this type), timed_out, refused,
  /// unreachable, stopped, or the error in the response.
  std::error_code error;
  std::vector<std::string> chain;  ///< CNAME targets, in order
  std::vector<boost::asio::ip::address> addresses;
  std::vector<Svcb> https;
  std::uint32_t ttl_s = 0;  ///< the smallest of all records used; also how long a failure is valid
  std::chrono::steady_clock::time_point asked;
  std::chrono::steady_clock::time_point answered;
};

/// Fills in the contents of `response` for the host and type in `answer`. Follows CNAMEs within the
/// response; ignores records of other names.
void read_response(const Message& response, LookUpAnswer& answer);

}  // namespace reprise::dns
