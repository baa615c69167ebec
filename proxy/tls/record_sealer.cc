#include "proxy/tls/record_sealer.h"

#include <linux/tls.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <tuple>

#include "base/invariant.h"

namespace reprise {
namespace {

/// Smaller pieces are copied and encrypted together: a call costs as much as this many bytes.
constexpr std::size_t kJoinedBytesMax = 1 << 10;

/// Fetched once: otherwise OpenSSL searches its providers for each connection.
const EVP_CIPHER* gcm(std::size_t key_bytes) {
  static const EVP_CIPHER* const short_key = EVP_CIPHER_fetch(nullptr, "AES-128-GCM", nullptr);
  static const EVP_CIPHER* const long_key = EVP_CIPHER_fetch(nullptr, "AES-256-GCM", nullptr);
  return key_bytes == TLS_CIPHER_AES_GCM_128_KEY_SIZE ? short_key : long_key;
}

unsigned char* octets(std::byte* bytes) {
  return reinterpret_cast<unsigned char*>(bytes);
}

template <class Info>
std::pair<std::span<const unsigned char>, std::uint64_t> read(const Info& info,
                                                              std::array<unsigned char, 12>& mask) {
  static_assert(sizeof info.salt + sizeof info.iv == 12);
  std::ranges::copy(info.salt, mask.begin());
  std::ranges::copy(info.iv, mask.begin() + sizeof info.salt);
  std::uint64_t sequence = 0;
  for (unsigned char const octet : info.rec_seq) sequence = sequence << 8 | octet;
  return {info.key, sequence};
}

}  // namespace

std::unique_ptr<RecordSealer> RecordSealer::create(const void* crypto_info) {
  auto const& info = *static_cast<const tls_crypto_info*>(crypto_info);
  if (info.version != TLS_1_3_VERSION) return nullptr;
  std::unique_ptr<RecordSealer> sealer(new RecordSealer);
  std::span<const unsigned char> key;
  if (info.cipher_type == TLS_CIPHER_AES_GCM_128) {
    auto const& full = *static_cast<const tls12_crypto_info_aes_gcm_128*>(crypto_info);
    std::tie(key, sealer->sequence_) = read(full, sealer->mask_);
  } else if (info.cipher_type == TLS_CIPHER_AES_GCM_256) {
    auto const& full = *static_cast<const tls12_crypto_info_aes_gcm_256*>(crypto_info);
    std::tie(key, sealer->sequence_) = read(full, sealer->mask_);
  } else {
    return nullptr;
  }
  sealer->cipher_.reset(EVP_CIPHER_CTX_new());
  bool const ready = sealer->cipher_ && EVP_EncryptInit_ex(sealer->cipher_.get(), gcm(key.size()),
                                                           nullptr, key.data(), nullptr) == 1;
  return ready ? std::move(sealer) : nullptr;
}

void RecordSealer::begin(RecordType type, std::size_t content_bytes, std::byte* out) {
  invariant(content_bytes <= kContentBytesMax, "a record has at most 16 KiB");
  type_ = type;
  record_ = out;
  at_ = joined_ = out + kHeadBytes;
  auto const length = content_bytes + kTypeBytes + kTagBytes;
  // Encrypted records are those of application data, of version 1.2 (section 5.2).
  out[0] = std::byte{static_cast<std::uint8_t>(RecordType::kApplicationData)};
  out[1] = out[2] = std::byte{3};
  out[3] = static_cast<std::byte>(length >> 8);
  out[4] = static_cast<std::byte>(length & 0xff);
  auto nonce = mask_;
  for (std::size_t i = 0; i < sizeof sequence_; ++i) {
    nonce[kNonceBytes - 1 - i] ^= static_cast<unsigned char>(sequence_ >> (8 * i));
  }
  ++sequence_;
  int ignored = 0;
  invariant(EVP_EncryptInit_ex(cipher_.get(), nullptr, nullptr, nullptr, nonce.data()) == 1 &&
                EVP_EncryptUpdate(cipher_.get(), nullptr, &ignored, octets(out), kHeadBytes) == 1,
            "OpenSSL begins a record");
}

void RecordSealer::add(Bytes content) {
  if (content.size() < kJoinedBytesMax) {
    std::memcpy(at_, content.data(), content.size());
    at_ += content.size();
    return;
  }
  encrypt_joined();
  int size = 0;
  invariant(EVP_EncryptUpdate(cipher_.get(), octets(at_), &size,
                              reinterpret_cast<const unsigned char*>(content.data()),
                              static_cast<int>(content.size())) == 1,
            "OpenSSL encrypts");
  at_ += content.size();
  joined_ = at_;
}

void RecordSealer::encrypt_joined() {
  if (joined_ == at_) return;
  int size = 0;
  invariant(EVP_EncryptUpdate(cipher_.get(), octets(joined_), &size, octets(joined_),
                              static_cast<int>(at_ - joined_)) == 1,
            "OpenSSL encrypts in place");
  joined_ = at_;
}

std::size_t RecordSealer::end() {
  *at_++ = static_cast<std::byte>(type_);
  encrypt_joined();
  int size = 0;
  invariant(EVP_EncryptFinal_ex(cipher_.get(), octets(at_), &size) == 1 &&
                EVP_CIPHER_CTX_ctrl(cipher_.get(), EVP_CTRL_AEAD_GET_TAG, kTagBytes, at_) == 1,
            "OpenSSL makes the tag of a record");
  return static_cast<std::size_t>(at_ - record_) + kTagBytes;
}

}  // namespace reprise
