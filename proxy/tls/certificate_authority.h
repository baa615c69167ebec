#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"
#include "proxy/tls/error.h"
#include "proxy/tls/openssl_ptr.h"

namespace reprise {

/// A certificate authority: the user's own, which is a P-256 key and a self-signed certificate,
/// created on first use in a folder of the user and never shared; or one from files. Immutable
/// after opening, so thread-safe.
class CertificateAuthority {
 public:
  /// $XDG_DATA_HOME/reprise/ca, or ~/.local/share/reprise/ca.
  static std::filesystem::path default_directory();

  /// Opens the authority in `directory`, or creates it there: `ca.pem` (0644) and `ca-key.pem`
  /// (0600), the folder 0700, valid for five years. Processes that start at the same time get the
  /// same authority. Errors: those of open(), or the system error of the file that cannot be
  /// written.
  static Result<CertificateAuthority> open_or_create(const std::filesystem::path& directory);

  /// Opens the authority in `directory`. Errors: no_such_file_or_directory if it has none; the
  /// trust_errc values named authority_ (proxy/tls/error.h), including one that expires within 30
  /// days and one that other users can access; the system error of a file that cannot be read.
  static Result<CertificateAuthority> open(const std::filesystem::path& directory);

  /// Opens an authority that others trust, from two PEM files of any mode: RSA of at least 1024
  /// bits, or ECDSA. The certificate's extensions and validity are not checked: what its users
  /// trust is the key. Errors: root_unusable; the system error of a file that cannot be read.
  static Result<CertificateAuthority> open_files(const std::filesystem::path& certificate,
                                                 const std::filesystem::path& key);

  /// Whether leaves carry the authority's own key. True for one from files: its users look for the
  /// hash of that key, some of them in the leaf alone, and the type of that key is the type of key
  /// that the client must take.
  bool lends_its_key() const { return lends_its_key_; }
  bool is_rsa() const { return EVP_PKEY_get_base_id(key()) == EVP_PKEY_RSA; }

  const std::filesystem::path& certificate_path() const { return certificate_path_; }
  /// "reprise local CA 1a2b3c4d": random, to distinguish several in one trust store.
  std::string common_name() const;
  std::chrono::system_clock::time_point not_after() const;
  X509* certificate() const { return certificate_.get(); }
  EVP_PKEY* key() const { return key_.get(); }
  /// base64(SHA-256(SubjectPublicKeyInfo)), as in Chromium's --ignore-certificate-errors-spki-list.
  std::string spki_sha256_base64() const;

 private:
  CertificateAuthority() = default;
  void read(std::string_view certificate, std::string_view key);
  std::filesystem::path certificate_path_;
  X509Ptr certificate_;
  PrivateKeyPtr key_;
  bool lends_its_key_ = false;
};

}  // namespace reprise
