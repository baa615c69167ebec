#include "proxy/tls/client_context.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <openssl/err.h>

#include <algorithm>
#include <array>

#include "base/http/digest.h"
#include "base/invariant.h"
#include "base/system/descriptor.h"
#include "base/system/last_error.h"
#include "base/text/ascii.h"
#include "proxy/tls/client_offer.h"
#include "proxy/tls/error.h"
#include "proxy/tls/leaf_minter.h"

namespace reprise {
namespace {

Result<void> trust_file(SSL_CTX* context, const std::filesystem::path& path) {
  // To get the system's error for an unreadable file.
  Descriptor const file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return fail(last_system_error());
  if (SSL_CTX_load_verify_file(context, path.c_str()) == 1) return {};
  ERR_clear_error();
  return fail(trust_errc::trust_file_unusable);
}

bool is_ip(const std::string& host) {
  std::array<unsigned char, 16> address;
  return ::inet_pton(AF_INET, host.c_str(), address.data()) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), address.data()) == 1;
}

bool set_host(SSL* ssl, std::string host) {
  if (host.ends_with('.')) host.pop_back();  // the root; neither SNI nor certificates contain it
  // OpenSSL takes a leading dot as "any subdomain", and only certificates have asterisks.
  if (host.starts_with('.') || host.contains('*') || !is_certifiable(host)) return false;
  if (is_ip(host)) return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host.c_str()) == 1;
  SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  return SSL_set_tlsext_host_name(ssl, host.c_str()) == 1 && SSL_set1_host(ssl, host.c_str()) == 1;
}

bool set_alpn(SSL* ssl, std::span<const std::string> protocols) {
  if (protocols.empty()) return true;
  std::vector<unsigned char> list;
  for (const std::string& protocol : protocols) {
    if (protocol.empty() || protocol.size() > 255) return false;
    list.push_back(static_cast<unsigned char>(protocol.size()));
    list.insert(list.end(), protocol.begin(), protocol.end());
  }
  return SSL_set_alpn_protos(ssl, list.data(), static_cast<unsigned>(list.size())) == 0;
}

std::string_view asn1_text(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<std::size_t>(ASN1_STRING_length(text))};
}

std::string ip_text(const ASN1_OCTET_STRING* octets) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  int const length = ASN1_STRING_length(octets);
  if (length == 4 || length == 16) {
    ::inet_ntop(length == 4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(octets), text.data(),
                text.size());
  }
  return text.data();
}

std::vector<std::string> names_of(const X509* leaf) {
  std::vector<std::string> names;
  GeneralNamesPtr const list(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(leaf, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; i < sk_GENERAL_NAME_num(list.get()); ++i) {
    if (names.size() == LeafMinter::kNamesMax) break;
    const GENERAL_NAME* const entry = sk_GENERAL_NAME_value(list.get(), i);
    std::string name;
    if (entry->type == GEN_DNS) {
      std::ranges::transform(asn1_text(entry->d.dNSName), std::back_inserter(name), to_lower);
    } else if (entry->type == GEN_IPADD) {
      name = ip_text(entry->d.iPAddress);
    }
    if (is_certifiable(name)) names.push_back(std::move(name));
  }
  return names;
}

}  // namespace

Result<SslContextPtr> make_client_context(const ClientTrust& trust) {
  SslContextPtr context(SSL_CTX_new(TLS_client_method()));
  if (!context) return fail(std::make_error_code(std::errc::not_enough_memory));
  SSL_CTX* const made = context.get();
  SSL_CTX_set_min_proto_version(made, TLS1_2_VERSION);
  SSL_CTX_set_max_proto_version(made, TLS1_3_VERSION);
  SSL_CTX_set_options(made, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_session_cache_mode(made, SSL_SESS_CACHE_OFF);
  if (!trust.verify) {
    SSL_CTX_set_verify(made, SSL_VERIFY_NONE, nullptr);
    return context;
  }
  SSL_CTX_set_verify(made, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_default_verify_paths(made);
  ERR_clear_error();  // without a trust store nothing is trusted
  if (!trust.extra_ca.empty()) {
    if (auto const trusted = trust_file(made, trust.extra_ca); !trusted) {
      return fail(trusted.error());
    }
  }
  return context;
}

Result<SslPtr> make_client_ssl(SSL_CTX& context, std::string_view host,
                               std::span<const std::string> alpn, const ClientHello* like) {
  SslPtr ssl(SSL_new(&context));
  if (!ssl) return fail(std::make_error_code(std::errc::not_enough_memory));
  SSL_set_connect_state(ssl.get());
  if (!set_host(ssl.get(), std::string(host)) || !set_alpn(ssl.get(), alpn)) {
    ERR_clear_error();
    return fail(std::make_error_code(std::errc::invalid_argument));
  }
  if (like != nullptr) offer_like(ssl.get(), *like);
  return ssl;
}

PeerFacts read_peer_facts(const SSL& ssl) {
  PeerFacts facts;
  facts.tls_version = SSL_get_version(&ssl);
  facts.cipher = SSL_get_cipher_name(&ssl);
  const unsigned char* protocol = nullptr;
  unsigned protocol_bytes = 0;
  SSL_get0_alpn_selected(&ssl, &protocol, &protocol_bytes);
  facts.alpn.assign(reinterpret_cast<const char*>(protocol), protocol_bytes);
  if (const X509* const leaf = SSL_get0_peer_certificate(&ssl)) {
    facts.certificate_names = names_of(leaf);
  }
  Digester digester;
  STACK_OF(X509)* const chain = SSL_get_peer_cert_chain(&ssl);
  for (int i = 0; i < sk_X509_num(chain); ++i) {
    unsigned char* der = nullptr;
    int const length = i2d_X509(sk_X509_value(chain, i), &der);
    invariant(length > 0, "a certificate that was read can be written");
    digester.update({reinterpret_cast<const std::byte*>(der), static_cast<std::size_t>(length)});
    OPENSSL_free(der);
    facts.chain_bytes += static_cast<std::uint32_t>(length);
  }
  facts.chain_digest = digester.finish();
  return facts;
}

std::string describe_verify_error(const SSL& ssl) {
  if (SSL_get_verify_mode(&ssl) == SSL_VERIFY_NONE) return {};
  long const error = SSL_get_verify_result(&ssl);
  switch (error) {
    case X509_V_OK:
      return {};
    case X509_V_ERR_HOSTNAME_MISMATCH:
      return "certificate is for a different host name";
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return "certificate is not for this IP address";
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      return "certificate is from an authority that is not trusted";
    default:
      return X509_verify_cert_error_string(error);
  }
}

}  // namespace reprise
