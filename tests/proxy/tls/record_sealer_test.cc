#include "proxy/tls/record_sealer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/tls.h>

#include <string>

namespace reprise {
namespace {

/// What OpenSSL would pass for a key, IV and sequence number of such octets.
tls12_crypto_info_aes_gcm_128 facts(unsigned short version = TLS_1_3_VERSION,
                                    unsigned char sequence = 0) {
  tls12_crypto_info_aes_gcm_128 info{};
  info.info = {.version = version, .cipher_type = TLS_CIPHER_AES_GCM_128};
  std::fill_n(info.key, sizeof info.key, 'k');
  std::fill_n(info.salt, sizeof info.salt, 's');
  std::fill_n(info.iv, sizeof info.iv, 'i');
  info.rec_seq[7] = sequence;
  return info;
}

/// A record of those pieces.
std::string seal(RecordSealer& sealer, RecordType type, const std::vector<std::string>& pieces) {
  std::size_t size = 0;
  for (const std::string& each : pieces) size += each.size();
  std::string record(size + RecordSealer::kOverheadBytes, '?');
  sealer.begin(type, size, reinterpret_cast<std::byte*>(record.data()));
  for (const std::string& each : pieces) sealer.add(bytes_of(each));
  EXPECT_EQ(sealer.end(), record.size());
  return record;
}

/// The content and type of a record with that sequence number (RFC 8446 section 5.2), by another
/// way; empty if its tag is wrong.
std::string open(const std::string& record, unsigned char sequence) {
  std::string nonce = "ssssiiiiiiii";
  nonce.back() = static_cast<char>(nonce.back() ^ sequence);
  auto const octets = [](const std::string& text) {
    return reinterpret_cast<const unsigned char*>(text.data());
  };
  auto const content = record.substr(5, record.size() - 5 - RecordSealer::kTagBytes);
  auto tag = record.substr(record.size() - RecordSealer::kTagBytes);
  std::string plain(content.size(), '?');
  CipherPtr const cipher(EVP_CIPHER_CTX_new());
  int size = 0;
  EVP_DecryptInit_ex(cipher.get(), EVP_aes_128_gcm(), nullptr, octets(std::string(16, 'k')),
                     octets(nonce));
  EVP_DecryptUpdate(cipher.get(), nullptr, &size, octets(record), 5);
  EVP_DecryptUpdate(cipher.get(), reinterpret_cast<unsigned char*>(plain.data()), &size,
                    octets(content), static_cast<int>(content.size()));
  EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_AEAD_SET_TAG, RecordSealer::kTagBytes, tag.data());
  return EVP_DecryptFinal_ex(cipher.get(), nullptr, &size) == 1 ? plain : "";
}

TEST(RecordSealer, MakesTheSameRecordOfOnePieceAndOfMany) {
  std::string const large(3000, 'x');
  auto const info = facts();
  auto const one = RecordSealer::create(&info);
  auto const many = RecordSealer::create(&info);
  auto const record = seal(*one, RecordType::kApplicationData, {"head" + large + "a" + large});
  EXPECT_EQ(seal(*many, RecordType::kApplicationData, {"he", "ad", large, "", "a", large}), record);
  EXPECT_EQ(open(record, 0), "head" + large + "a" + large + '\x17');
  EXPECT_EQ(record.substr(0, 3), "\x17\x03\x03");
}

TEST(RecordSealer, CountsItsRecordsOnFromTheNumberGiven) {
  auto const info = facts(TLS_1_3_VERSION, 7);
  auto const sealer = RecordSealer::create(&info);
  EXPECT_EQ(open(seal(*sealer, RecordType::kHandshake, {"a"}), 7), "a\x16");
  EXPECT_EQ(open(seal(*sealer, RecordType::kAlert, {"b"}), 8), "b\x15");
  EXPECT_EQ(open(seal(*sealer, RecordType::kApplicationData, {}), 9), "\x17");
  EXPECT_EQ(open(seal(*sealer, RecordType::kApplicationData, {"c"}), 9), "") << "another number";
}

TEST(RecordSealer, LeavesOtherVersionsAndCiphersToOpenSsl) {
  auto info = facts(TLS_1_2_VERSION);
  EXPECT_EQ(RecordSealer::create(&info), nullptr);
  info = facts();
  info.info.cipher_type = TLS_CIPHER_CHACHA20_POLY1305;
  EXPECT_EQ(RecordSealer::create(&info), nullptr);
}

}  // namespace
}  // namespace reprise
