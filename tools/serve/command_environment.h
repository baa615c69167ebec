#pragma once

// The environment of a `-- COMMAND`: where the listeners are, and whom to trust.

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "proxy/tls/certificate_authority.h"
#include "tools/serve/listen_addresses.h"

namespace reprise {

/// The script for a browser that runs it before each document (--script-in browser); empty: none.
inline constexpr const char* kScriptVariable = "REPRISE_SCRIPT";

/// REPRISE_HTTP, REPRISE_HTTPS, REPRISE_PROXY, REPRISE_DNS (ADDR:PORT; empty: off), REPRISE_CA (the
/// certificate's file), REPRISE_CHROMIUM_FLAGS (words of a shell) and REPRISE_CHROMIUM_FLAGS_JSON
/// (an array). None is inherited from a reprise outside.
std::vector<std::string> addresses_environment(const ListenAddresses& bound,
                                               const CertificateAuthority& authority,
                                               const std::vector<std::string>& chromium_flags);

/// Writes a PEM file of what the command's programs would trust anyway and of `authorities`: the
/// system's roots, or those of SSL_CERT_FILE, and those in the files that the other variables of
/// trust_environment() already name. It is in the user's cache, mode 0600, and named by its
/// content: it never changes, and several runs share it. Returns its path; empty on an error, which
/// has been printed.
std::filesystem::path write_all_roots(std::span<const CertificateAuthority> authorities);

/// The variables by which OpenSSL, Python, Go, Ruby, curl, git and Node find roots: SSL_CERT_FILE,
/// CURL_CA_BUNDLE, REQUESTS_CA_BUNDLE, GIT_SSL_CAINFO and NODE_EXTRA_CA_CERTS.
std::vector<std::string> trust_environment(std::span<const CertificateAuthority> authorities,
                                           const std::filesystem::path& all_roots);

}  // namespace reprise
