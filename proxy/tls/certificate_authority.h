#pragma once

#include <filesystem>
#include <string>

#include "archive/result.h"
#include "proxy/tls/openssl_ptr.h"

namespace reprise {

/// The user's own certificate authority: a P-256 key and a self-signed certificate, made on first
/// use in a folder of the user's and never shared. Immutable after it was opened, so thread-safe.
class CertificateAuthority {
 public:
  /// $XDG_DATA_HOME/reprise/ca, or ~/.local/share/reprise/ca.
  static std::filesystem::path default_directory();

  /// Opens the authority in `directory`, or makes it there: `ca.pem` (0644) and `ca-key.pem`
  /// (0600), the folder 0700. Two processes that start at once end up with the same one. An
  /// authority that expires within 30 days is refused with a message that says what to do.
  /// Errors: the system error of the file, or bad_message for contents that are not a key pair.
  static Result<CertificateAuthority> open_or_create(const std::filesystem::path& directory);

  const std::filesystem::path& certificate_path() const { return certificate_path_; }
  X509* certificate() const { return certificate_.get(); }
  EVP_PKEY* key() const { return key_.get(); }
  /// base64(SHA-256(SubjectPublicKeyInfo)), as Chromium's
  /// --ignore-certificate-errors-spki-list wants it.
  std::string spki_sha256_base64() const;

 private:
  CertificateAuthority() = default;
  std::filesystem::path certificate_path_;
  X509Ptr certificate_;
  PrivateKeyPtr key_;
};

}  // namespace reprise
