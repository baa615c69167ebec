#pragma once

#include <system_error>

namespace reprise::dns {

/// Errors of DNS messages, plans and look-ups.
enum class errc {
  truncated = 1,       ///< the message ends inside something
  bad_name,            ///< a label or a name is too long, empty or of an unknown kind
  bad_pointer,         ///< a compressed name points forward, at itself or too often
  bad_record,          ///< the data of a record does not match its type
  bad_edns,            ///< EDNS twice, misplaced or malformed
  trailing_bytes,      ///< bytes follow the last record
  too_large,           ///< does not fit into the output
  bad_address,         ///< not an IP address
  bad_line,            ///< invalid line of a hosts file
  too_many_addresses,  ///< more origin addresses than there are stand-ins
  no_servers,          ///< no DNS server, or only our own
  timed_out,           ///< no server answered in time
  no_such_name,        ///< NXDOMAIN
  no_address,          ///< the name exists and has no address
  refused,             ///< every server refused or failed
  unreachable,         ///< no server could be reached
  stopped,             ///< the resolver was destroyed first
};

const std::error_category& category();
std::error_code make_error_code(errc error);

}  // namespace reprise::dns

template <>
struct std::is_error_code_enum<reprise::dns::errc> : std::true_type {};
