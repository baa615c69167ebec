#pragma once

// What asking for a name came to, and how a response is read for that. Pure.

#include <boost/asio/ip/address.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "dns/message.h"

namespace reprise::dns {

/// What one question, A, AAAA or HTTPS of one host, came to: what an archive keeps of it.
struct LookUpAnswer {
  static constexpr std::size_t kChainMax = 16;
  static constexpr std::size_t kRecordsMax = 64;

  std::string host;  ///< as normal_host() writes it
  Type type = Type::kA;
  std::optional<Rcode> rcode;  ///< nothing when no server answered
  /// Why there are no records: no_such_name, no_address (of this type), timed_out, refused,
  /// unreachable, stopped, or what is wrong with the response.
  std::error_code error;
  std::vector<std::string> chain;  ///< CNAME targets, in order
  std::vector<boost::asio::ip::address> addresses;
  std::vector<Svcb> https;
  std::uint32_t ttl_s = 0;  ///< the least of all records used; for how long a failure holds, too
  std::chrono::steady_clock::time_point asked;
  std::chrono::steady_clock::time_point answered;
};

/// Fills in what `response` says about the host and type that `answer` names. Follows CNAMEs within
/// the response; records of other names are passed over.
void read_response(const Message& response, LookUpAnswer& answer);

}  // namespace reprise::dns
