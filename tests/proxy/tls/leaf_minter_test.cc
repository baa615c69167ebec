#include "proxy/tls/leaf_minter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <ctime>
#include <set>

#include "proxy/tls/certificate_builder.h"
#include "tests/scratch_folder.h"

namespace reprise {
namespace {

using ::testing::ElementsAre;

class Minter : public ::testing::Test {
 protected:
  X509* mint(const LeafNames& names) {
    // A key of its own for each: nothing comes from the cache.
    auto const leaf = minter_->leaf("test " + std::to_string(++minted_), names);
    EXPECT_TRUE(leaf.has_value()) << leaf.error().message();
    return leaf ? (*leaf)->certificate.get() : nullptr;
  }

  X509* mint(std::vector<std::string> names) { return mint(LeafNames{.names = std::move(names)}); }

  static std::string common_name(X509* certificate) {
    char text[100] = "";
    X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, text,
                              sizeof text);
    return text;
  }

  static bool has(X509* certificate, int nid) {
    return X509_get_ext_by_NID(certificate, nid, -1) >= 0;
  }

  /// Whether a client that trusts the authority accepts the leaf for `host`.
  std::string verify(X509* certificate, const char* host, bool is_ip = false) const {
    X509_STORE* const store = X509_STORE_new();
    X509_STORE_add_cert(store, authority_.certificate());
    X509_STORE_CTX* const context = X509_STORE_CTX_new();
    X509_STORE_CTX_init(context, store, certificate, nullptr);
    X509_VERIFY_PARAM* const wanted = X509_STORE_CTX_get0_param(context);
    X509_VERIFY_PARAM_set_purpose(wanted, X509_PURPOSE_SSL_SERVER);
    X509_VERIFY_PARAM_set_flags(wanted, X509_V_FLAG_X509_STRICT);
    if (is_ip) {
      X509_VERIFY_PARAM_set1_ip_asc(wanted, host);
    } else {
      X509_VERIFY_PARAM_set1_host(wanted, host, 0);
    }
    X509_verify_cert(context);
    std::string const result = X509_verify_cert_error_string(X509_STORE_CTX_get_error(context));
    X509_STORE_CTX_free(context);
    X509_STORE_free(store);
    return result;
  }

  ScratchFolder folder_;
  CertificateAuthority authority_ = CertificateAuthority::open_or_create(folder_.path()).value();
  std::unique_ptr<LeafMinter> minter_ = LeafMinter::create(authority_).value();
  int minted_ = 0;
};

TEST_F(Minter, MintsWhatAClientAccepts) {
  X509* const leaf = mint({"example.com", "*.example.org", "192.0.2.7", "2001:db8::7"});
  EXPECT_EQ(X509_verify(leaf, authority_.key()), 1);
  EXPECT_EQ(X509_check_issued(authority_.certificate(), leaf), X509_V_OK);
  EXPECT_EQ(verify(leaf, "example.com"), "ok");
  EXPECT_EQ(verify(leaf, "www.example.org"), "ok");
  EXPECT_EQ(verify(leaf, "192.0.2.7", true), "ok");
  EXPECT_EQ(verify(leaf, "2001:db8::7", true), "ok");
  EXPECT_NE(verify(leaf, "www.example.com"), "ok");
  EXPECT_NE(verify(leaf, "192.0.2.8", true), "ok");
}

TEST_F(Minter, GivesTheFieldsOfAServersCertificateAndNoAddresses) {
  X509* const leaf = mint({"example.com"});
  EXPECT_EQ(X509_get_version(leaf), X509_VERSION_3);
  EXPECT_EQ(X509_get_signature_nid(leaf), NID_ecdsa_with_SHA256);
  EXPECT_EQ(X509_check_ca(leaf), 0);
  EXPECT_EQ(X509_get_key_usage(leaf), unsigned{KU_DIGITAL_SIGNATURE});
  EXPECT_EQ(X509_get_extended_key_usage(leaf), unsigned{XKU_SSL_SERVER});
  EXPECT_EQ(ASN1_OCTET_STRING_cmp(X509_get0_authority_key_id(leaf),
                                  X509_get0_subject_key_id(authority_.certificate())),
            0);
  EXPECT_NE(X509_get0_subject_key_id(leaf), nullptr);
  EXPECT_EQ(EVP_PKEY_eq(X509_get0_pubkey(leaf), minter_->key()), 1);
  for (int const nid : {NID_info_access, NID_crl_distribution_points, NID_freshest_crl,
                        NID_sinfo_access, NID_tlsfeature, NID_certificate_policies}) {
    EXPECT_FALSE(has(leaf, nid)) << OBJ_nid2ln(nid);
  }
  EXPECT_EQ(X509_get_ext_count(leaf), 6) << "no padding was asked for";
}

TEST_F(Minter, IsValidFromYesterdayForAYear) {
  X509* const leaf = mint({"example.com"});
  int days = 0;
  int seconds = 0;
  ASSERT_EQ(ASN1_TIME_diff(&days, &seconds, X509_get0_notBefore(leaf), X509_get0_notAfter(leaf)),
            1);
  EXPECT_EQ(days, 366);
  ASSERT_EQ(ASN1_TIME_diff(&days, &seconds, X509_get0_notBefore(leaf), nullptr), 1);
  EXPECT_EQ(days, 1);
}

TEST_F(Minter, NeverRepeatsASerialNumber) {
  std::set<std::string> serials;
  int longest_bits = 0;
  for (int i = 0; i < 200; ++i) {
    const ASN1_INTEGER* const serial = X509_get0_serialNumber(mint({"example.com"}));
    BignumPtr const value(ASN1_INTEGER_to_BN(serial, nullptr));
    EXPECT_FALSE(BN_is_negative(value.get()));
    longest_bits = std::max(longest_bits, BN_num_bits(value.get()));
    char* const text = BN_bn2hex(value.get());
    serials.insert(text);
    OPENSSL_free(text);
  }
  EXPECT_EQ(serials.size(), 200U);
  EXPECT_GT(longest_bits, 120);
  EXPECT_LE(longest_bits, 128);
}

TEST_F(Minter, TakesTheFirstNameThatFitsAsCommonName) {
  std::string const label(60, 'a');
  std::string const long_name = label + "." + label + ".example.com";
  X509* const second = mint({long_name, "example.com"});
  EXPECT_EQ(common_name(second), "example.com");
  EXPECT_EQ(verify(second, long_name.c_str()), "ok");

  X509* const none = mint({long_name});
  EXPECT_EQ(X509_NAME_entry_count(X509_get_subject_name(none)), 0);
  int const at = X509_get_ext_by_NID(none, NID_subject_alt_name, -1);
  EXPECT_EQ(X509_EXTENSION_get_critical(X509_get_ext(none, at)), 1);
  EXPECT_EQ(verify(none, long_name.c_str()), "ok");
}

TEST_F(Minter, PadsTheChainToTheRecordedLength) {
  auto const authority_bytes = der_bytes(authority_.certificate());
  auto const plain_bytes = der_bytes(mint({"example.com"})) + authority_bytes;
  // Around every length of a length, and at the sizes of real chains.
  std::vector<std::uint32_t> wanted = {2'000, 2'816, 4'096, 5'500, 9'000, 16'384};
  for (std::uint32_t more = 30; more < 400; ++more) wanted.push_back(plain_bytes + more);
  std::uint32_t most_over = 0;
  for (std::uint32_t const chain_bytes : wanted) {
    X509* const leaf = mint(LeafNames{.names = {"example.com"}, .chain_bytes = chain_bytes});
    auto const got = der_bytes(leaf) + authority_bytes;
    ASSERT_GE(got, chain_bytes);
    most_over = std::max(most_over, got - chain_bytes);
    ASSERT_EQ(verify(leaf, "example.com"), "ok") << chain_bytes;
  }
  EXPECT_LE(most_over, 6U);
}

TEST_F(Minter, AddsNoPaddingToAChainThatIsLongEnough) {
  X509* const leaf = mint(LeafNames{.names = {"example.com"}, .chain_bytes = 200});
  EXPECT_EQ(X509_get_ext_count(leaf), 6);
}

TEST_F(Minter, CapsThePaddingAndKeepsItWellFormed) {
  X509* const leaf = mint(LeafNames{.names = {"example.com"}, .chain_bytes = 4'000'000'000});
  EXPECT_LT(der_bytes(leaf), LeafMinter::kPaddingBytesMax + 1'000);
  EXPECT_GT(der_bytes(leaf), LeafMinter::kPaddingBytesMax);
  OidPtr const oid(OBJ_txt2obj("1.3.6.1.4.1.32473.1", 1));
  X509_EXTENSION* const padding = X509_get_ext(leaf, X509_get_ext_by_OBJ(leaf, oid.get(), -1));
  ASSERT_NE(padding, nullptr);
  EXPECT_EQ(X509_EXTENSION_get_critical(padding), 0);
  const ASN1_OCTET_STRING* const value = X509_EXTENSION_get_data(padding);
  const unsigned char* der = ASN1_STRING_get0_data(value);
  OctetStringPtr const inner(d2i_ASN1_OCTET_STRING(nullptr, &der, ASN1_STRING_length(value)));
  ASSERT_NE(inner, nullptr);
  EXPECT_EQ(ASN1_STRING_length(inner.get()), int{LeafMinter::kPaddingBytesMax});
  EXPECT_EQ(verify(leaf, "example.com"), "ok");
}

TEST_F(Minter, CarriesAsManyNamesAsItPromises) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < LeafMinter::kNamesMax; ++i) {
    names.push_back("host-" + std::to_string(i) + ".example.com");
  }
  EXPECT_EQ(verify(mint(names), names.back().c_str()), "ok");
  names.push_back("one-more.example.com");
  EXPECT_EQ(minter_->leaf("many", {.names = names}).error(), std::errc::invalid_argument);
}

TEST_F(Minter, RefusesNamesThatNoCertificateCanCarry) {
  for (const std::string& name :
       {std::string(), std::string("a b"), std::string("a\0b", 3), std::string("ex\xc3\xa4mple"),
        std::string("a/b"), std::string("[::1]"), std::string("1::2::3"), std::string(254, 'a')}) {
    auto const leaf = minter_->leaf("wrong", {.names = {"example.com", name}});
    ASSERT_FALSE(leaf) << name;
    EXPECT_EQ(leaf.error(), trust_errc::name_not_certifiable);
  }
  EXPECT_FALSE(minter_->leaf("none", {}));
}

TEST_F(Minter, KeepsLeavesByKeyUntilTooManyOthersWereAskedFor) {
  auto const ask = [&](const std::string& key) {
    return (*minter_->leaf(key, {.names = {key}}))->certificate.get();
  };
  X509Ptr const first(X509_dup(ask("first.example")));
  EXPECT_EQ(X509_cmp(ask("first.example"), first.get()), 0);
  for (std::size_t i = 0; i + 1 < LeafMinter::kLeavesMax; ++i) {
    ask("host-" + std::to_string(i) + ".example");
  }
  EXPECT_EQ(X509_cmp(ask("first.example"), first.get()), 0) << "it was the oldest, and is kept";
  X509Ptr const second(X509_dup(ask("host-1.example")));
  ask("one-more.example");  // pushes out host-0
  EXPECT_EQ(X509_cmp(ask("first.example"), first.get()), 0);
  EXPECT_EQ(X509_cmp(ask("host-1.example"), second.get()), 0);
}

TEST_F(Minter, CostsAsReported) {
  constexpr int kLeaves = 500;
  auto const cpu_us = [&](std::uint32_t chain_bytes) {
    std::clock_t const start = std::clock();
    for (int i = 0; i < kLeaves; ++i) {
      mint(LeafNames{.names = {"example.com", "*.example.com"}, .chain_bytes = chain_bytes});
    }
    return 1e6 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC / kLeaves;
  };
  std::printf("CPU time of a leaf: %.0f us; padded to a chain of 4 KB: %.0f us\n", cpu_us(0),
              cpu_us(4096));
  EXPECT_EQ(minted_, 2 * kLeaves);
}

}  // namespace
}  // namespace reprise
