#pragma once

// The user's certificate databases that Chromium and Chrome read on Linux, through certutil.

#include <expected>
#include <filesystem>
#include <string>
#include <vector>

namespace reprise {

/// The existing databases: $HOME/.pki/nssdb, which has precedence, and pki/nssdb in the XDG data
/// folder, where newer browsers create theirs.
std::vector<std::filesystem::path> nss_databases();

/// The place for a new database: $HOME/.pki/nssdb, which all browsers read.
std::filesystem::path new_nss_database();

/// Errors are sentences for users.
template <class T>
using NssResult = std::expected<T, std::string>;

/// The path of certutil. The error names the package to install.
NssResult<std::filesystem::path> find_certutil();

/// Creates an empty database in `folder`, without a password.
NssResult<void> create_nss_database(const std::filesystem::path& folder);

/// The names of the certificates that `database` trusts to sign for servers.
NssResult<std::vector<std::string>> trusted_authorities(const std::filesystem::path& database);

/// Trusts the certificate in the PEM `file` to sign for servers, under `name`.
NssResult<void> trust_authority(const std::filesystem::path& database, const std::string& name,
                                const std::filesystem::path& file);

/// Removes the certificate with this name.
NssResult<void> remove_authority(const std::filesystem::path& database, const std::string& name);

}  // namespace reprise
