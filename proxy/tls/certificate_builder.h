#pragma once

// The steps shared by the certificates of the authority and the leaves. No input can make them
// fail; they abort if OpenSSL itself does not work.

#include <chrono>
#include <cstdint>
#include <string>

#include "proxy/tls/openssl_ptr.h"

namespace reprise {

/// A new key on P-256.
PrivateKeyPtr make_p256_key();

/// Gives `certificate` a random serial number of 128 bits.
void set_random_serial(X509* certificate);

/// Valid from a day ago, for inexact clocks, until `lifetime` from now.
void set_validity(X509* certificate, std::chrono::days lifetime);

/// Adds an extension in OpenSSL's configuration syntax (x509v3_config(5)): "critical,CA:TRUE".
/// `issuer` is needed only for authorityKeyIdentifier; it can be `certificate` itself.
void add_extension(X509* certificate, X509* issuer, int nid, const char* value);

/// Signs with ECDSA over SHA-256.
void sign(X509* certificate, EVP_PKEY* issuer_key);

/// DER length in bytes.
std::uint32_t der_bytes(X509* certificate);

}  // namespace reprise
