#pragma once

// The certificates by which a recorder identifies itself to origins that ask for one.

#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/tls/openssl_ptr.h"

namespace reprise {

/// One `--client-cert HOST=FILE`. Immutable.
class ClientCertificate {
 public:
  /// HOST is a glob in which `*` matches any text; FILE is a PEM file with the certificate, its
  /// key without a passphrase, and further certificates of its chain. The error is a sentence.
  static std::expected<ClientCertificate, std::string> read(std::string_view host_and_file);

  bool is_for(std::string_view host) const;
  /// Sends it if the origin asks for one. False: OpenSSL refuses it, such as for a short key.
  bool present(SSL& ssl) const;

 private:
  std::string host_;
  X509Ptr certificate_;
  PrivateKeyPtr key_;
  std::vector<X509Ptr> chain_;
};

/// The first of `all` for the host, or null.
const ClientCertificate* certificate_for(std::span<const ClientCertificate> all,
                                         std::string_view host);

}  // namespace reprise
