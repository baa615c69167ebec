#pragma once

// The certificate databases of the user's that Chromium and Chrome read on Linux, through certutil.

#include <expected>
#include <filesystem>
#include <string>
#include <vector>

namespace reprise {

/// The databases there are: $HOME/.pki/nssdb, which wins when it exists, and pki/nssdb in the XDG
/// data folder, where newer browsers make theirs.
std::vector<std::filesystem::path> nss_databases();

/// Where a database is to be made when there is none: $HOME/.pki/nssdb, which all browsers read.
std::filesystem::path new_nss_database();

/// Errors are sentences for people.
template <class T>
using NssResult = std::expected<T, std::string>;

/// Whether certutil is there, and if not, what to install.
NssResult<std::filesystem::path> find_certutil();

/// Makes an empty database in `folder`, without a password.
NssResult<void> create_nss_database(const std::filesystem::path& folder);

/// The names of the certificates that `database` trusts to sign for servers.
NssResult<std::vector<std::string>> trusted_authorities(const std::filesystem::path& database);

/// Trusts the certificate in the PEM `file` to sign for servers, under `name`.
NssResult<void> trust_authority(const std::filesystem::path& database, const std::string& name,
                                const std::filesystem::path& file);

/// Takes the certificate called `name` out.
NssResult<void> remove_authority(const std::filesystem::path& database, const std::string& name);

}  // namespace reprise
