// Authorities from files, as the callers of Web Page Replay give them: RSA and ECDSA, their own key
// in every leaf, and for each client the first that it takes.

#include <gmock/gmock.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include "proxy/tls/certificate_builder.h"
#include "proxy/tls/leaf_minters.h"
#include "proxy/tls/server_context.h"
#include "tests/proxy/tls/handshake.h"
#include "tests/scratch_folder.h"

namespace reprise {
namespace {

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using FilePtr = std::unique_ptr<std::FILE, FileCloser>;

class GivenRoots : public testing::Test {
 protected:
  /// Writes a root without any extension, as some old ones are, and opens it.
  Result<CertificateAuthority> root(const std::string& name, const PrivateKeyPtr& key) {
    X509Ptr const certificate(X509_new());
    X509_set_version(certificate.get(), X509_VERSION_3);
    X509_set_pubkey(certificate.get(), key.get());
    set_random_serial(certificate.get());
    set_validity(certificate.get(), std::chrono::days(1));
    X509_NAME_add_entry_by_NID(X509_get_subject_name(certificate.get()), NID_commonName,
                               MBSTRING_ASC, reinterpret_cast<const unsigned char*>(name.data()),
                               static_cast<int>(name.size()), -1, 0);
    X509_set_issuer_name(certificate.get(), X509_get_subject_name(certificate.get()));
    sign(certificate.get(), key.get());
    FilePtr const certificate_file(std::fopen((folder_ / (name + ".pem")).c_str(), "w"));
    PEM_write_X509(certificate_file.get(), certificate.get());
    FilePtr const key_file(std::fopen((folder_ / (name + "-key.pem")).c_str(), "w"));
    PEM_write_PrivateKey(key_file.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    std::fflush(nullptr);
    return CertificateAuthority::open_files(folder_ / (name + ".pem"),
                                            folder_ / (name + "-key.pem"));
  }
  static PrivateKeyPtr rsa(unsigned bits) { return PrivateKeyPtr(EVP_RSA_gen(bits)); }

  /// The chain that a client gets which offers `ciphers` and `signatures` (OpenSSL's lists).
  std::vector<std::string> chain_for(std::span<const CertificateAuthority> roots,
                                     const char* signatures, int version, const char* ciphers) {
    auto minters = LeafMinters::create(roots);
    auto const server_context = make_server_context(KeyStrength::kWeak).value();
    SslContextPtr const client_context(SSL_CTX_new(TLS_client_method()));
    SSL_CTX_set_security_level(client_context.get(), 0);
    SslPtr const client(SSL_new(client_context.get()));
    SSL_set_connect_state(client.get());
    SSL_set_max_proto_version(client.get(), version);
    EXPECT_EQ(SSL_set1_sigalgs_list(client.get(), signatures), 1);
    EXPECT_EQ(SSL_set_cipher_list(client.get(), ciphers), 1);
    SslPtr const probe(SSL_dup(client.get()));
    auto const hello = parse_client_hello(first_flight(probe.get()));
    EXPECT_TRUE(hello && *hello);
    auto& minter = minters->for_client(**hello);
    auto const leaf = minter.leaf("a.test", {.names = {"a.test"}, .chain_bytes = 3000});
    chain_bytes_ =
        der_bytes((*leaf)->certificate.get()) + der_bytes(minter.authority().certificate());
    SslPtr const server(SSL_new(server_context.get()));
    SSL_set_accept_state(server.get());
    EXPECT_TRUE(use_leaf(server.get(), **leaf, minter));
    auto const shaken = shake_hands(client.get(), server.get());
    EXPECT_TRUE(shaken.client && shaken.server);
    std::vector<std::string> hashes;
    STACK_OF(X509)* const chain = SSL_get_peer_cert_chain(client.get());
    for (int i = 0; i < sk_X509_num(chain); ++i) {
      auto const* const each = sk_X509_value(chain, i);
      for (const CertificateAuthority& authority : roots) {
        if (EVP_PKEY_eq(X509_get0_pubkey(each), authority.key()) == 1) {
          hashes.push_back(authority.common_name());
        }
      }
    }
    return hashes;
  }

  ScratchFolder folder_;
  std::uint32_t chain_bytes_ = 0;
};

constexpr const char* kAll = "ECDSA+SHA256:RSA-PSS+SHA256:RSA+SHA256";
constexpr const char* kEcdsaOnly = "ECDSA+SHA256";
constexpr const char* kRsaOnly = "RSA-PSS+SHA256:RSA+SHA256";

TEST_F(GivenRoots, TheFirstWhoseKeyTheClientTakesSignsWithItsOwnKeyInTheLeaf) {
  std::vector<CertificateAuthority> roots;
  roots.push_back(root("rsa", rsa(1024)).value());
  roots.push_back(root("ecdsa", make_p256_key()).value());
  using testing::ElementsAre;
  for (int const version : {TLS1_3_VERSION, TLS1_2_VERSION}) {
    EXPECT_THAT(chain_for(roots, kAll, version, "DEFAULT"), ElementsAre("rsa", "rsa"));
    EXPECT_EQ(chain_bytes_, 3000U) << "leaves of RSA are padded, too";
    EXPECT_THAT(chain_for(roots, kEcdsaOnly, version, "DEFAULT"), ElementsAre("ecdsa", "ecdsa"));
    EXPECT_THAT(chain_for(roots, kRsaOnly, version, "DEFAULT"), ElementsAre("rsa", "rsa"));
  }
  EXPECT_THAT(chain_for(roots, kAll, TLS1_2_VERSION, "ECDHE-ECDSA-AES128-GCM-SHA256"),
              ElementsAre("ecdsa", "ecdsa"));
}

TEST_F(GivenRoots, RefusesWhatIsNotARootAndItsKey) {
  ASSERT_TRUE(root("rsa", rsa(2048)));
  ASSERT_TRUE(root("ecdsa", make_p256_key()));
  auto const open = [this](const char* certificate, const char* key) {
    return CertificateAuthority::open_files(folder_ / certificate, folder_ / key).error();
  };
  EXPECT_EQ(open("rsa.pem", "ecdsa-key.pem"), trust_errc::root_unusable);
  EXPECT_EQ(open("rsa-key.pem", "rsa.pem"), trust_errc::root_unusable);
  EXPECT_EQ(open("rsa.pem", "missing.pem"), std::errc::no_such_file_or_directory);
  EXPECT_EQ(root("short", rsa(768)).error(), trust_errc::root_unusable);
}

TEST_F(GivenRoots, OurOwnAuthorityKeepsItsKeyToItself) {
  auto const own = CertificateAuthority::open_or_create(folder_ / "own").value();
  EXPECT_FALSE(own.lends_its_key());
  auto const minter = LeafMinter::create(own).value();
  EXPECT_NE(EVP_PKEY_eq(minter->key(), own.key()), 1);
}

}  // namespace
}  // namespace reprise
