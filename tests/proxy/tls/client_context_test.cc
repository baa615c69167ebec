#include "proxy/tls/client_context.h"

#include <gmock/gmock.h>

#include <fstream>

#include "base/http/digest.h"
#include "proxy/tls/certificate_builder.h"
#include "proxy/tls/error.h"
#include "tests/proxy/tls/client_hello_builder.h"
#include "tests/proxy/tls/tls_ends.h"

namespace reprise {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ClientContext : public TlsEnds {
 protected:
  /// Shakes hands with a server that shows `names`; why the client refused, or "".
  std::string refusal(const std::string& host, const std::vector<std::string>& names) {
    auto const server = make_server(names);
    return refusal(*client_context_, host, server);
  }

  static std::string refusal(SSL_CTX& context, const std::string& host, const SslPtr& server) {
    auto const client = make_client_ssl(context, host, {}, nullptr);
    EXPECT_TRUE(client.has_value());
    auto const shaken = shake_hands(client->get(), server.get());
    auto const why = describe_verify_error(**client);
    EXPECT_EQ(shaken.client, why.empty());
    return why;
  }

  /// What a client sends when it is to offer the same as `parts`.
  ClientHello offer_like(const HelloParts& parts, const std::vector<std::string>& alpn = {}) {
    auto const wanted = parse_client_hello(record(hello_message(parts)));
    auto const client = make_client("example.com", alpn, &**wanted);
    auto const sent = parse_client_hello(first_flight(client.get()));
    EXPECT_TRUE(sent && *sent);
    return **sent;
  }
};

TEST_F(ClientContext, AcceptsTheNameTheWildcardAndTheAddress) {
  EXPECT_EQ(refusal("example.com", {"example.com"}), "");
  EXPECT_EQ(refusal("example.com.", {"example.com"}), "");
  EXPECT_EQ(refusal("a.example.org", {"*.example.org"}), "");
  EXPECT_EQ(refusal("192.0.2.1", {"192.0.2.1"}), "");
  EXPECT_EQ(refusal("2001:db8::1", {"2001:db8::1"}), "");
}

TEST_F(ClientContext, SaysWhyACertificateIsRefused) {
  EXPECT_EQ(refusal("other.example", {"example.com"}), "certificate is for a different host name");
  EXPECT_EQ(refusal("a.b.example.org", {"*.example.org"}),
            "certificate is for a different host name");
  EXPECT_EQ(refusal("ax.example.org", {"a*.example.org"}),
            "certificate is for a different host name");
  EXPECT_EQ(refusal("192.0.2.2", {"192.0.2.1"}), "certificate is not for this IP address");

  auto const strangers = make_client_context({}).value();
  EXPECT_EQ(refusal(*strangers, "example.com", make_server({"example.com"})),
            "self-signed certificate in certificate chain");

  auto const alone = make_server({"example.com"});
  SSL_clear_chain_certs(alone.get());
  EXPECT_EQ(refusal(*strangers, "example.com", alone),
            "certificate is from an authority that is not trusted");
}

TEST_F(ClientContext, RefusesAnExpiredCertificate) {
  auto const leaf = minter_->leaf("old", {.names = {"example.com"}});
  X509_gmtime_adj(X509_getm_notAfter((*leaf)->certificate.get()), -60);
  sign((*leaf)->certificate.get(), authority_.key());
  SslPtr const server(SSL_new(server_context_.get()));
  SSL_set_accept_state(server.get());
  ASSERT_TRUE(use_leaf(server.get(), **leaf, *minter_));
  EXPECT_EQ(refusal(*client_context_, "example.com", server), "certificate has expired");
}

TEST_F(ClientContext, TakesAnythingWhenToldNotToVerify) {
  auto const context = make_client_context({.verify = false}).value();
  EXPECT_EQ(refusal(*context, "other.example", make_server({"example.com"})), "");
}

TEST_F(ClientContext, HasNoVerifyErrorWhenTheHandshakeFailsOtherwise) {
  auto const server = make_server({"example.com"});
  auto const client = make_client("example.com");
  ASSERT_TRUE(use_tls_version(server.get(), "TLSv1.2"));
  ASSERT_TRUE(use_tls_version(client.get(), "TLSv1.3"));
  EXPECT_FALSE(shake_hands(client.get(), server.get()).client);
  EXPECT_EQ(describe_verify_error(*client), "");
}

TEST_F(ClientContext, RefusesATrustFileThatIsNone) {
  EXPECT_EQ(make_client_context({.extra_ca = folder_ / "none"}).error(),
            std::errc::no_such_file_or_directory);
  auto const empty = folder_ / "empty.pem";
  std::ofstream(empty) << "no certificates\n";
  EXPECT_EQ(make_client_context({.extra_ca = empty}).error(), trust_errc::trust_file_unusable);
  EXPECT_FALSE(make_client_context({.extra_ca = folder_.path()}));
}

TEST_F(ClientContext, RefusesHostsAndProtocolsThatCannotBe) {
  auto const error = [&](std::string_view host, const std::vector<std::string>& alpn) {
    auto const made = make_client_ssl(*client_context_, host, alpn, nullptr);
    return made ? std::error_code() : made.error();
  };
  for (const std::string_view host : {"", ".", ".example.com", "*.example.com", "a b", "[::1]"}) {
    EXPECT_EQ(error(host, {}), std::errc::invalid_argument) << host;
  }
  EXPECT_EQ(error(std::string(254, 'a'), {}), std::errc::invalid_argument);
  EXPECT_EQ(error("example.com", {""}), std::errc::invalid_argument);
  EXPECT_EQ(error("example.com", {std::string(256, 'a')}), std::errc::invalid_argument);
}

TEST_F(ClientContext, SendsServerNamesButNotAddresses) {
  auto const sent_name = [&](const std::string& host) {
    return (*parse_client_hello(first_flight(make_client(host).get())))->server_name;
  };
  EXPECT_EQ(sent_name("example.com"), "example.com");
  EXPECT_EQ(sent_name("example.com."), "example.com");
  EXPECT_EQ(sent_name("192.0.2.1"), "");
  EXPECT_EQ(sent_name("2001:db8::1"), "");
}

TEST_F(ClientContext, OffersWhatChromiumOffersAsFarAsItCan) {
  auto const sent = offer_like(chromium_hello(), {"h2", "http/1.1"});
  EXPECT_THAT(sent.alpn, ElementsAre("h2", "http/1.1"));
  EXPECT_THAT(sent.versions, ElementsAre(0x0304, 0x0303));
  // All but GREASE; the last is OpenSSL's sign that it can renegotiate safely (RFC 5746).
  EXPECT_THAT(sent.cipher_suites,
              ElementsAre(0x1301, 0x1302, 0x1303, 0xc02b, 0xc02f, 0xc02c, 0xc030, 0xcca9, 0xcca8,
                          0xc013, 0xc014, 0x009c, 0x009d, 0x002f, 0x0035, 0x00ff));
  EXPECT_THAT(sent.groups, ElementsAre(0x001d, 0x0017, 0x0018));
  EXPECT_THAT(sent.signature_algorithms,
              ElementsAre(0x0403, 0x0804, 0x0401, 0x0503, 0x0805, 0x0501, 0x0806, 0x0601));
}

TEST_F(ClientContext, KeepsTheClientsOrderAndLeavesDuplicatesOut) {
  auto const sent =
      offer_like({.cipher_suites = {0xc030, 0x1303, 0xc02b, 0x1301, 0xc030, 0x1303},
                  .extensions = {{10, prefixed(2, u16_list({0x0018, 0x001d, 0x0018}))},
                                 {13, prefixed(2, u16_list({0x0806, 0x0403, 0x0806}))},
                                 {43, prefixed(1, u16_list({0x0303, 0x0304}))}}});
  EXPECT_THAT(sent.cipher_suites, ElementsAre(0x1303, 0x1301, 0xc030, 0xc02b, 0x00ff));
  EXPECT_THAT(sent.groups, ElementsAre(0x0018, 0x001d));
  EXPECT_THAT(sent.signature_algorithms, ElementsAre(0x0806, 0x0403));
}

TEST_F(ClientContext, OffersNoVersionThatTheClientDoesNot) {
  EXPECT_THAT(offer_like({}).versions, ElementsAre(0x0303));
  auto const tls13 = offer_like({.extensions = {{43, prefixed(1, u16_list({0x0304}))}}});
  EXPECT_THAT(tls13.versions, ElementsAre(0x0304));
}

TEST_F(ClientContext, KeepsItsOwnOfferWhereNothingIsUsable) {
  auto const plain = make_client("example.com");
  auto const own = *parse_client_hello(first_flight(plain.get()));
  // GREASE, SHA-1, a suite without encryption, one without authentication, a pre-shared key.
  auto const sent = offer_like({.cipher_suites = {0x0a0a, 0x0002, 0xc018, 0x00a8, 0xc006},
                                .extensions = {{10, prefixed(2, u16_list({0x11ec, 0x1a1a}))},
                                               {13, prefixed(2, u16_list({0x0201, 0x0203}))},
                                               {43, prefixed(1, u16_list({0x0302, 0xfafa}))}}});
  EXPECT_EQ(sent.cipher_suites, own->cipher_suites);
  EXPECT_EQ(sent.groups, own->groups);
  EXPECT_EQ(sent.signature_algorithms, own->signature_algorithms);
  EXPECT_EQ(sent.versions, own->versions);
}

TEST_F(ClientContext, StillShakesHandsWithChromiumsOffer) {
  auto const hello = parse_client_hello(record(hello_message(chromium_hello())));
  for (const std::string_view version : {"TLSv1.2", "TLSv1.3"}) {
    auto const server = make_server({"example.com"});
    ASSERT_TRUE(use_tls_version(server.get(), version));
    auto const client = make_client("example.com", {}, &**hello);
    EXPECT_TRUE(shake_hands(client.get(), server.get()).client) << version;
  }
}

TEST_F(ClientContext, ReadsWhatTheConnectionIs) {
  auto const server =
      make_server({"Example.com", "*.example.org", "192.0.2.1", "2001:db8::1"}, 4'096);
  choose_alpn(server.get(), "http/1.1");
  auto const client = make_client("example.com", {"h2", "http/1.1"});
  ASSERT_TRUE(shake_hands(client.get(), server.get()).client);
  auto const facts = read_peer_facts(*client);
  EXPECT_EQ(facts.tls_version, "TLSv1.3");
  EXPECT_EQ(facts.cipher, "TLS_AES_128_GCM_SHA256");
  EXPECT_EQ(facts.alpn, "http/1.1");
  EXPECT_THAT(facts.certificate_names,
              ElementsAre("example.com", "*.example.org", "192.0.2.1", "2001:db8::1"));
  EXPECT_GE(facts.chain_bytes, 4'096U);
  EXPECT_LE(facts.chain_bytes, 4'102U);

  Digester digester;
  for (X509* const certificate : {SSL_get_certificate(server.get()), authority_.certificate()}) {
    unsigned char* der = nullptr;
    int const length = i2d_X509(certificate, &der);
    digester.update({reinterpret_cast<const std::byte*>(der), static_cast<std::size_t>(length)});
    OPENSSL_free(der);
  }
  EXPECT_EQ(facts.chain_digest, digester.finish());
}

TEST_F(ClientContext, LeavesNamesOutThatNoCertificateShouldHave) {
  auto const leaf = minter_->leaf("odd", {.names = {"example.com"}});
  X509* const certificate = (*leaf)->certificate.get();
  GeneralNamesPtr const names(GENERAL_NAMES_new());
  for (const std::string_view name :
       {std::string_view("example.com"), std::string_view("good.example\0evil", 17),
        std::string_view("a b"), std::string_view("<b>")}) {
    GENERAL_NAME* const entry = GENERAL_NAME_new();
    ASN1_IA5STRING* const text = ASN1_IA5STRING_new();
    ASN1_STRING_set(text, name.data(), static_cast<int>(name.size()));
    GENERAL_NAME_set0_value(entry, GEN_DNS, text);
    sk_GENERAL_NAME_push(names.get(), entry);
  }
  ASSERT_EQ(
      X509_add1_ext_i2d(certificate, NID_subject_alt_name, names.get(), 0, X509V3_ADD_REPLACE), 1);
  sign(certificate, authority_.key());
  SslPtr const server(SSL_new(server_context_.get()));
  SSL_set_accept_state(server.get());
  ASSERT_TRUE(use_leaf(server.get(), **leaf, *minter_));
  auto const client = make_client("example.com");
  ASSERT_TRUE(shake_hands(client.get(), server.get()).client);
  EXPECT_THAT(read_peer_facts(*client).certificate_names, ElementsAre("example.com"));
}

TEST_F(ClientContext, HasNoNamesForACertificateWithout) {
  auto const leaf = minter_->leaf("none", {.names = {"example.com"}});
  X509* const certificate = (*leaf)->certificate.get();
  int const at = X509_get_ext_by_NID(certificate, NID_subject_alt_name, -1);
  ExtensionPtr const removed(X509_delete_ext(certificate, at));
  sign(certificate, authority_.key());
  SslPtr const server(SSL_new(server_context_.get()));
  SSL_set_accept_state(server.get());
  ASSERT_TRUE(use_leaf(server.get(), **leaf, *minter_));
  auto const context = make_client_context({.verify = false}).value();
  auto const client = make_client_ssl(*context, "example.com", {}, nullptr);
  ASSERT_TRUE(shake_hands(client->get(), server.get()).client);
  EXPECT_THAT(read_peer_facts(**client).certificate_names, IsEmpty());
}

}  // namespace
}  // namespace reprise
