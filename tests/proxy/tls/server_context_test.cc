#include "proxy/tls/server_context.h"

#include <gmock/gmock.h>

#include "tests/proxy/tls/tls_ends.h"

namespace reprise {
namespace {

class ServerContext : public TlsEnds {};

TEST_F(ServerContext, ServesLeafAndAuthority) {
  auto const server = make_server({"example.com"});
  auto const client = make_client("example.com");
  auto const shaken = shake_hands(client.get(), server.get());
  ASSERT_TRUE(shaken.client && shaken.server);
  STACK_OF(X509)* const chain = SSL_get_peer_cert_chain(client.get());
  ASSERT_EQ(sk_X509_num(chain), 2);
  EXPECT_EQ(X509_cmp(sk_X509_value(chain, 1), authority_.certificate()), 0);
}

TEST_F(ServerContext, AcceptsTheChosenProtocolWhereverTheClientListsIt) {
  for (const std::string chosen : {"h2", "http/1.1"}) {
    auto const server = make_server({"example.com"});
    choose_alpn(server.get(), "replaced by the next choice");
    choose_alpn(server.get(), chosen);
    auto const client = make_client("example.com", {"\x0a\x0a", "h2", "http/1.1"});
    EXPECT_TRUE(shake_hands(client.get(), server.get()).client);
    EXPECT_EQ(alpn_of(client), chosen);
  }
}

TEST_F(ServerContext, AnswersWithoutAlpnWhenTheChosenProtocolIsNotOffered) {
  for (const std::string chosen : {"h2", "", "http/1.10", "http/1"}) {
    auto const server = make_server({"example.com"});
    choose_alpn(server.get(), chosen);
    auto const client = make_client("example.com", {"http/1.1"});
    EXPECT_TRUE(shake_hands(client.get(), server.get()).client);
    EXPECT_EQ(alpn_of(client), "");
  }
  auto const server = make_server({"example.com"});
  auto const client = make_client("example.com", {"http/1.1"});
  EXPECT_TRUE(shake_hands(client.get(), server.get()).client) << "nothing was chosen at all";
  EXPECT_EQ(alpn_of(client), "");
}

TEST_F(ServerContext, ServesTheRecordedVersionAlone) {
  for (const std::string version : {"TLSv1.2", "TLSv1.3"}) {
    auto const server = make_server({"example.com"});
    ASSERT_TRUE(use_tls_version(server.get(), version));
    auto const client = make_client("example.com");
    EXPECT_TRUE(shake_hands(client.get(), server.get()).client);
    EXPECT_EQ(SSL_get_version(client.get()), version);

    auto const strict = make_server({"example.com"});
    ASSERT_TRUE(use_tls_version(strict.get(), version));
    auto const other = make_client("example.com");
    SSL_set_min_proto_version(other.get(), version == "TLSv1.2" ? TLS1_3_VERSION : TLS1_2_VERSION);
    SSL_set_max_proto_version(other.get(), version == "TLSv1.2" ? TLS1_3_VERSION : TLS1_2_VERSION);
    EXPECT_FALSE(shake_hands(other.get(), strict.get()).client);
  }
  auto const server = make_server({"example.com"});
  for (const std::string_view version : {"", "TLSv1", "TLSv1.1", "SSLv3", "TLSv1.30"}) {
    EXPECT_EQ(use_tls_version(server.get(), version).error(), std::errc::protocol_not_supported);
  }
  auto const client = make_client("example.com");
  EXPECT_TRUE(shake_hands(client.get(), server.get()).client);
}

TEST_F(ServerContext, RefusesOldVersions) {
  auto const server = make_server({"example.com"});
  auto const client = make_client("example.com");
  SSL_set_min_proto_version(client.get(), TLS1_VERSION);
  SSL_set_max_proto_version(client.get(), TLS1_1_VERSION);
  SSL_set_security_level(client.get(), 0);
  SSL_set_security_level(server.get(), 0);
  EXPECT_FALSE(shake_hands(client.get(), server.get()).client);
}

TEST_F(ServerContext, ResumesByTicketInBothVersions) {
  for (const std::string version : {"TLSv1.2", "TLSv1.3"}) {
    auto const first_server = make_server({"example.com"});
    auto const first = make_client("example.com");
    ASSERT_TRUE(use_tls_version(first.get(), version));
    ASSERT_TRUE(shake_hands(first.get(), first_server.get()).client);
    EXPECT_EQ(SSL_session_reused(first.get()), 0);
    SSL_SESSION* const session = SSL_get1_session(first.get());
    EXPECT_EQ(SSL_SESSION_has_ticket(session), 1);
    EXPECT_EQ(SSL_SESSION_get_max_early_data(session), 0U);
    // Or the session would count as one that ended badly.
    SSL_shutdown(first.get());

    auto const second_server = make_server({"example.com"});
    auto const second = make_client("example.com");
    ASSERT_TRUE(use_tls_version(second.get(), version));
    SSL_set_session(second.get(), session);
    EXPECT_TRUE(shake_hands(second.get(), second_server.get()).client);
    EXPECT_EQ(SSL_session_reused(second.get()), 1) << version;
    SSL_SESSION_free(session);
  }
  EXPECT_EQ(SSL_CTX_sess_number(server_context_.get()), 0) << "sessions pile up in the server";
}

TEST_F(ServerContext, RefusesRenegotiationAndCompression) {
  auto const server = make_server({"example.com"});
  auto const client = make_client("example.com");
  ASSERT_TRUE(use_tls_version(server.get(), "TLSv1.2"));
  ASSERT_TRUE(shake_hands(client.get(), server.get()).client);
  EXPECT_EQ(SSL_get_current_compression(client.get()), nullptr);
  SSL_clear_options(client.get(), SSL_OP_NO_RENEGOTIATION);
  ASSERT_EQ(SSL_renegotiate(client.get()), 1);
  bool renegotiated = false;
  for (int flight = 0; flight < 8 && !renegotiated; ++flight) {
    renegotiated = SSL_do_handshake(client.get()) == 1;
    char byte = 0;
    SSL_read(server.get(), &byte, 1);
  }
  EXPECT_FALSE(renegotiated);
}

TEST_F(ServerContext, AsksForNoClientCertificate) {
  auto const server = make_server({"example.com"});
  auto const client = make_client("example.com");
  ASSERT_TRUE(shake_hands(client.get(), server.get()).client);
  const STACK_OF(X509_NAME)* const asked = SSL_get0_peer_CA_list(client.get());
  EXPECT_LE(sk_X509_NAME_num(asked), 0);
  EXPECT_EQ(SSL_get0_peer_certificate(server.get()), nullptr);
}

}  // namespace
}  // namespace reprise
