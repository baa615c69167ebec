// For EC_KEY, see make_shared_key().
#define OPENSSL_SUPPRESS_DEPRECATED

#include "proxy/tls/leaf_minter.h"

#include <arpa/inet.h>
#include <openssl/ec.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "base/invariant.h"
#include "proxy/tls/certificate_builder.h"
#include "proxy/tls/prepared_leaves.h"

namespace reprise {
namespace {

constexpr std::chrono::days kLeafLifetime{365};
constexpr std::size_t kDnsNameBytesMax = 253;
constexpr std::size_t kCommonNameBytesMax = 64;  // RFC 5280 appendix A.1, ub-common-name

/// Below the enterprise number that RFC 5612 reserves for examples: it has no meaning, and needs no
/// registration. Arcs made from a UUID (2.25.*) are too long for some clients.
constexpr const char* kPaddingOid = "1.3.6.1.4.1.32473.1";

struct IpOctets {
  std::array<unsigned char, 16> octets;
  int count = 0;
};

std::optional<IpOctets> parse_ip(const std::string& text) {
  IpOctets ip;
  if (::inet_pton(AF_INET, text.c_str(), ip.octets.data()) == 1) {
    ip.count = 4;
    return ip;
  }
  if (::inet_pton(AF_INET6, text.c_str(), ip.octets.data()) == 1) {
    ip.count = 16;
    return ip;
  }
  return std::nullopt;
}

/// OpenSSL 3.0 copies a key that it made itself into a certificate by encoding and decoding it
/// through its providers: 265 us. An EC_KEY takes 6 us, and a leaf 60 us instead of 270.
PrivateKeyPtr make_shared_key() {
  EC_KEY* const ec_key = EC_KEY_new_by_curve_name(NID_X9_62_prime256v1);
  PrivateKeyPtr key(EVP_PKEY_new());
  invariant(ec_key != nullptr && key != nullptr && EC_KEY_generate_key(ec_key) == 1 &&
                EVP_PKEY_assign_EC_KEY(key.get(), ec_key) == 1,
            "OpenSSL makes P-256 keys");
  return key;
}

PrivateKeyPtr share_key(EVP_PKEY* key) {
  invariant(EVP_PKEY_up_ref(key) == 1, "OpenSSL counts references");
  return PrivateKeyPtr(key);
}

bool is_dns_name(std::string_view name) {
  return !name.empty() && name.size() <= kDnsNameBytesMax && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_' || c == '*';
  });
}

GeneralNamePtr make_general_name(const std::string& name) {
  GeneralNamePtr made(GENERAL_NAME_new());
  if (auto const ip = parse_ip(name)) {
    ASN1_OCTET_STRING* const octets = ASN1_OCTET_STRING_new();
    ASN1_OCTET_STRING_set(octets, ip->octets.data(), ip->count);
    GENERAL_NAME_set0_value(made.get(), GEN_IPADD, octets);
  } else {
    ASN1_IA5STRING* const text = ASN1_IA5STRING_new();
    ASN1_STRING_set(text, name.data(), static_cast<int>(name.size()));
    GENERAL_NAME_set0_value(made.get(), GEN_DNS, text);
  }
  return made;
}

Result<GeneralNamesPtr> make_alternative_names(const std::vector<std::string>& names) {
  bool const usable = !names.empty() && names.size() <= LeafMinter::kNamesMax &&
                      std::ranges::all_of(names, is_certifiable);
  if (!usable) return fail(trust_errc::name_not_certifiable);
  GeneralNamesPtr list(GENERAL_NAMES_new());
  for (const std::string& name : names) {
    invariant(sk_GENERAL_NAME_push(list.get(), make_general_name(name).release()) > 0,
              "OpenSSL keeps names");
  }
  return list;
}

/// The length of what follows the contents in a leaf signed with `key`: the algorithm and the
/// signature. ECDSA signatures on P-256 are 70 to 72 bytes long, rarely shorter; the estimate uses
/// 70.
int signature_bytes(EVP_PKEY* key) {
  constexpr int kEcdsaAlgorithmBytes = 12;  // SEQUENCE of ecdsa-with-SHA256's OID
  constexpr int kEcdsaSignatureBytes =
      2 + 1 + 70;                         // BIT STRING, its count of unused bits, the rest
  constexpr int kRsaAlgorithmBytes = 15;  // SEQUENCE of sha256WithRSAEncryption's OID and NULL
  if (EVP_PKEY_get_base_id(key) != EVP_PKEY_RSA) return kEcdsaAlgorithmBytes + kEcdsaSignatureBytes;
  int const length = EVP_PKEY_get_size(key) + 1;
  return kRsaAlgorithmBytes + (length < 0x100 ? 3 : 4) + length;
}

/// The leaf's DER length after signing again.
std::int64_t signed_bytes(X509* certificate, EVP_PKEY* key) {
  constexpr int kOuterHeaderBytes = 4;  // SEQUENCE of 256 bytes to 64 KiB
  return i2d_re_X509_tbs(certificate, nullptr) + signature_bytes(key) + kOuterHeaderBytes;
}

/// The value of an extension is DER itself (RFC 5280 section 4.2): an OCTET STRING of zeros.
ExtensionPtr make_padding(const ASN1_OBJECT* oid, std::int64_t bytes) {
  std::vector<unsigned char> const zeros(static_cast<std::size_t>(bytes));
  OctetStringPtr const inner(ASN1_OCTET_STRING_new());
  OctetStringPtr const outer(ASN1_OCTET_STRING_new());
  ASN1_OCTET_STRING_set(inner.get(), zeros.data(), static_cast<int>(zeros.size()));
  unsigned char* der = nullptr;
  int const der_length = i2d_ASN1_OCTET_STRING(inner.get(), &der);
  invariant(der_length > 0, "an octet string has an encoding");
  ASN1_STRING_set0(outer.get(), der, der_length);
  return ExtensionPtr(X509_EXTENSION_create_by_OBJ(nullptr, oid, 0, outer.get()));
}

}  // namespace

bool is_certifiable(std::string_view name) {
  return is_dns_name(name) || (name.size() <= kDnsNameBytesMax && parse_ip(std::string(name)));
}

std::string leaf_key(const LeafNames& names) {
  std::string key = std::to_string(names.chain_bytes);
  for (const std::string& name : names.names) key.append(" ").append(name);
  return key;
}

LeafMinter::LeafMinter(const CertificateAuthority& authority)
    : authority_(&authority), chain_(sk_X509_new_null()) {
  invariant(X509_add_cert(chain_.get(), authority.certificate(), X509_ADD_FLAG_UP_REF) == 1,
            "OpenSSL keeps certificates");
}

Result<std::unique_ptr<LeafMinter>> LeafMinter::create(const CertificateAuthority& authority) {
  std::unique_ptr<LeafMinter> minter(new LeafMinter(authority));
  minter->authority_bytes_ = der_bytes(authority.certificate());
  minter->key_ = authority.lends_its_key() ? share_key(authority.key()) : make_shared_key();
  minter->padding_oid_.reset(OBJ_txt2obj(kPaddingOid, 1));

  // The extensions shared by all leaves are made once.
  X509Ptr const model(X509_new());
  invariant(model != nullptr && X509_set_pubkey(model.get(), minter->key()) == 1,
            "OpenSSL makes certificates");
  X509* const issuer = authority.certificate();
  add_extension(model.get(), issuer, NID_basic_constraints, "critical,CA:FALSE");
  add_extension(model.get(), issuer, NID_key_usage, "critical,digitalSignature");
  add_extension(model.get(), issuer, NID_ext_key_usage, "serverAuth");
  add_extension(model.get(), issuer, NID_subject_key_identifier, "hash");
  if (X509_get0_subject_key_id(issuer) != nullptr) {
    add_extension(model.get(), issuer, NID_authority_key_identifier, "keyid:always");
  }
  for (int i = 0; i < X509_get_ext_count(model.get()); ++i) {
    minter->extensions_.emplace_back(X509_EXTENSION_dup(X509_get_ext(model.get(), i)));
  }
  return minter;
}

std::unique_ptr<LeafMinter> LeafMinter::twin() const {
  std::unique_ptr<LeafMinter> minter(new LeafMinter(*authority_));
  minter->authority_bytes_ = authority_bytes_;
  minter->key_ = share_key(key());
  minter->padding_oid_.reset(OBJ_dup(padding_oid_.get()));
  for (const ExtensionPtr& each : extensions_) {
    minter->extensions_.emplace_back(X509_EXTENSION_dup(each.get()));
  }
  return minter;
}

Result<Leaf> LeafMinter::make(const LeafNames& names) const {
  auto const alternative_names = make_alternative_names(names.names);
  if (!alternative_names) return fail(alternative_names.error());
  return Leaf{.certificate = mint(names, alternative_names->get())};
}

Result<const Leaf*> LeafMinter::leaf(std::string_view key, const LeafNames& names) {
  if (auto const found = by_key_.find(key); found != by_key_.end()) {
    kept_.splice(kept_.begin(), kept_, found->second);
    return &found->second->leaf;
  }
  if (auto const* const prepared = prepared_ != nullptr ? prepared_->find(key) : nullptr) {
    return prepared;
  }
  auto made = make(names);
  if (!made) return fail(made.error());
  ++minted_;
  kept_.push_front({.key = std::string(key), .leaf = std::move(*made)});
  by_key_.emplace(kept_.front().key, kept_.begin());
  if (kept_.size() > kLeavesMax) {
    by_key_.erase(kept_.back().key);
    kept_.pop_back();
  }
  return &kept_.front().leaf;
}

X509Ptr LeafMinter::mint(const LeafNames& names, GENERAL_NAMES* alternative_names) const {
  X509Ptr certificate(X509_new());
  X509* const made = certificate.get();
  invariant(made != nullptr && X509_set_version(made, X509_VERSION_3) == 1 &&
                X509_set_pubkey(made, key()) == 1 &&
                X509_set_issuer_name(made, X509_get_subject_name(authority_->certificate())) == 1,
            "OpenSSL makes certificates");
  for (const ExtensionPtr& extension : extensions_) X509_add_ext(made, extension.get(), -1);
  set_random_serial(made);
  set_validity(made, kLeafLifetime);
  auto const common_name = std::ranges::find_if(
      names.names, [](const std::string& name) { return name.size() <= kCommonNameBytesMax; });
  bool const has_subject = common_name != names.names.end();
  if (has_subject) {
    X509_NAME_add_entry_by_NID(X509_get_subject_name(made), NID_commonName, MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(common_name->data()),
                               static_cast<int>(common_name->size()), -1, 0);
  }
  // Without a subject the names must be critical (RFC 5280 section 4.2.1.6).
  invariant(X509_add1_ext_i2d(made, NID_subject_alt_name, alternative_names, has_subject ? 0 : 1,
                              X509V3_ADD_DEFAULT) == 1,
            "OpenSSL adds names");
  sign_padded(made, names.chain_bytes);
  return certificate;
}

void LeafMinter::sign_padded(X509* certificate, std::uint32_t chain_bytes) const {
  sign(certificate, authority_->key());  // this also determines its length
  std::int64_t const wanted = std::int64_t{chain_bytes} - authority_bytes_;
  if (der_bytes(certificate) >= wanted) return;

  int const position = X509_get_ext_count(certificate);
  std::int64_t padding_bytes = 0;
  auto const pad_by = [&](std::int64_t more) {
    padding_bytes = std::clamp<std::int64_t>(padding_bytes + more, 0, kPaddingBytesMax);
    ExtensionPtr(X509_delete_ext(certificate, position)).reset();
    X509_add_ext(certificate, make_padding(padding_oid_.get(), padding_bytes).get(), position);
  };
  // The first step ignores the size of the extension itself, the second may change the length of a
  // length field, the third is exact.
  pad_by(wanted - signed_bytes(certificate, authority_->key()));
  pad_by(wanted - signed_bytes(certificate, authority_->key()));
  pad_by(wanted - signed_bytes(certificate, authority_->key()));
  sign(certificate, authority_->key());
  // For a short signature, about one in a hundred.
  if (std::int64_t const missing = wanted - der_bytes(certificate); missing > 0) {
    pad_by(missing + 2);
    sign(certificate, authority_->key());
  }
}

}  // namespace reprise
