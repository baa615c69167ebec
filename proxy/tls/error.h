#pragma once

#include <system_error>

namespace reprise {

/// Errors of our own certificates and of trusted ones. Each message names the remedy; the caller
/// adds the path or the name.
enum class trust_errc {
  authority_damaged = 1,  ///< not a P-256 key and its CA certificate; equals errc::bad_message
  authority_key_missing,  ///< the certificate exists, its key does not
  authority_open,         ///< other users may read the key or change the folder
  authority_expiring,     ///< valid for less than 30 days more
  trust_file_unusable,    ///< no PEM certificates in it; equals errc::bad_message
  root_unusable,          ///< of open_files(); equals errc::bad_message
  name_not_certifiable,   ///< neither a DNS name nor an IP literal; equals errc::invalid_argument
};

const std::error_category& trust_category();
std::error_code make_error_code(trust_errc error);

}  // namespace reprise

template <>
struct std::is_error_code_enum<reprise::trust_errc> : std::true_type {};
