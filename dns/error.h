#pragma once

#include <system_error>

namespace reprise::dns {

/// What can be wrong with a DNS message, a plan or a look-up.
enum class errc {
  truncated = 1,       ///< the message ends inside something
  bad_name,            ///< a label or a name is too long, empty or of an unknown kind
  bad_pointer,         ///< a compressed name points forward or at itself
  bad_record,          ///< the data of a record is not of its type's form
  bad_edns,            ///< EDNS twice, misplaced or not well formed
  trailing_bytes,      ///< something follows the last record
  too_large,           ///< does not fit where it is to be written
  bad_address,         ///< not an IP address
  bad_line,            ///< a line of a hosts file is not understood
  too_many_addresses,  ///< more origin addresses than there are stand-ins
  no_servers,          ///< no DNS server to ask, or none but our own
  timed_out,           ///< no server answered in time
  no_such_name,        ///< NXDOMAIN
  no_address,          ///< the name exists and has no address
  refused,             ///< every server refused or failed
  unreachable,         ///< no server could be reached
  stopped,             ///< the resolver went away first
};

const std::error_category& category();
std::error_code make_error_code(errc error);

}  // namespace reprise::dns

template <>
struct std::is_error_code_enum<reprise::dns::errc> : std::true_type {};
