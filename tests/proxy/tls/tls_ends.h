#pragma once

// A server with an authority of its own and clients that trust it, for tests of whole handshakes.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proxy/tls/client_context.h"
#include "proxy/tls/leaf_minter.h"
#include "proxy/tls/server_context.h"
#include "tests/proxy/tls/handshake.h"
#include "tests/scratch_folder.h"

namespace reprise {

class TlsEnds : public ::testing::Test {
 protected:
  /// A server-side SSL with a leaf for `names`.
  SslPtr make_server(const std::vector<std::string>& names, std::uint32_t chain_bytes = 0) {
    auto const leaf = minter_->leaf(names.front(), {.names = names, .chain_bytes = chain_bytes});
    SslPtr ssl(SSL_new(server_context_.get()));
    SSL_set_accept_state(ssl.get());
    EXPECT_TRUE(use_leaf(ssl.get(), **leaf, *minter_));
    return ssl;
  }

  /// A client-side SSL that trusts the authority.
  SslPtr make_client(const std::string& host, const std::vector<std::string>& alpn = {},
                     const ClientHello* like = nullptr) {
    auto made = make_client_ssl(*client_context_, host, alpn, like);
    EXPECT_TRUE(made.has_value()) << made.error().message();
    return made ? std::move(*made) : nullptr;
  }

  static std::string alpn_of(const SslPtr& ssl) {
    const unsigned char* protocol = nullptr;
    unsigned length = 0;
    SSL_get0_alpn_selected(ssl.get(), &protocol, &length);
    return {reinterpret_cast<const char*>(protocol), length};
  }

  ScratchFolder folder_;
  CertificateAuthority authority_ = CertificateAuthority::open_or_create(folder_.path()).value();
  std::unique_ptr<LeafMinter> minter_ = LeafMinter::create(authority_).value();
  SslContextPtr server_context_ = make_server_context().value();
  SslContextPtr client_context_ =
      make_client_context({.extra_ca = authority_.certificate_path()}).value();
};

}  // namespace reprise
