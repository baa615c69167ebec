#include "proxy/tls/record_sealer.h"

#include <linux/tls.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <tuple>

#include "base/invariant.h"

namespace reprise {
namespace {

/// Smaller pieces are copied and encrypted together: a call costs as much as this many bytes.
constexpr std::size_t kJoinedBytesMax = 1 << 10;

const EVP_CIPHER* gcm(std::size_t key_bytes) {
  return key_bytes == TLS_CIPHER_AES_GCM_128_KEY_SIZE ? EVP_aes_128_gcm() : EVP_aes_256_gcm();
}

unsigned char* octets(std::byte* bytes) {
  return reinterpret_cast<unsigned char*>(bytes);
}

/// HKDF-Expand-Label without a context (section 7.1).
bool expand(std::span<const unsigned char> secret, const char* digest, std::string_view label,
            std::span<unsigned char> out) {
  std::unique_ptr<EVP_KDF, decltype(&EVP_KDF_free)> const kdf(
      EVP_KDF_fetch(nullptr, OSSL_KDF_NAME_TLS1_3_KDF, nullptr), EVP_KDF_free);
  std::unique_ptr<EVP_KDF_CTX, decltype(&EVP_KDF_CTX_free)> const context(
      EVP_KDF_CTX_new(kdf.get()), EVP_KDF_CTX_free);
  int mode = EVP_KDF_HKDF_MODE_EXPAND_ONLY;
  auto const text = [](std::string_view value) { return const_cast<char*>(value.data()); };
  std::string_view const prefix = "tls13 ";
  OSSL_PARAM const parameters[] = {
      OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &mode),
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, const_cast<char*>(digest), 0),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY,
                                        const_cast<unsigned char*>(secret.data()), secret.size()),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_PREFIX, text(prefix), prefix.size()),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_LABEL, text(label), label.size()),
      OSSL_PARAM_construct_end()};
  return context && EVP_KDF_derive(context.get(), out.data(), out.size(), parameters) == 1;
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
  sealer->key_bytes_ = key.size();
  return sealer->set_key(key) ? std::move(sealer) : nullptr;
}

bool RecordSealer::set_key(std::span<const unsigned char> key) {
  return cipher_ != nullptr &&
         EVP_EncryptInit_ex(cipher_.get(), gcm(key.size()), nullptr, key.data(), nullptr) == 1;
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

bool RecordSealer::update_key(std::vector<unsigned char>& secret) {
  const char* const digest = key_bytes_ == TLS_CIPHER_AES_GCM_128_KEY_SIZE ? "SHA256" : "SHA384";
  std::vector<unsigned char> next(secret.size());
  std::vector<unsigned char> key(key_bytes_);
  bool const derived = !secret.empty() && expand(secret, digest, "traffic upd", next) &&
                       expand(next, digest, "key", key) && expand(next, digest, "iv", mask_) &&
                       set_key(key);
  OPENSSL_cleanse(key.data(), key.size());
  OPENSSL_cleanse(secret.data(), secret.size());
  secret.swap(next);
  sequence_ = 0;
  return derived;
}

namespace {

void free_secret(void*, void* kept, CRYPTO_EX_DATA*, int, long, void*) {
  auto* const secret = static_cast<std::vector<unsigned char>*>(kept);
  if (secret == nullptr) return;
  OPENSSL_cleanse(secret->data(), secret->size());
  delete secret;
}

int secret_index() {
  static int const index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, free_secret);
  return index;
}

/// A line of NSS's key log: a label, the client's random, the secret.
void keep_secret(const SSL* ssl, const char* line) {
  constexpr std::string_view kLabel = "SERVER_TRAFFIC_SECRET_0 ";
  std::string_view text(line);
  if (!text.starts_with(kLabel)) return;
  text.remove_prefix(text.rfind(' ') + 1);
  auto kept = std::make_unique<std::vector<unsigned char>>(text.size() / 2);
  std::size_t length = 0;
  bool const read = OPENSSL_hexstr2buf_ex(kept->data(), kept->size(), &length, text.data(), '\0');
  auto* const owner = const_cast<SSL*>(ssl);
  free_secret(nullptr, server_secret(owner), nullptr, 0, 0, nullptr);
  bool const set = read && SSL_set_ex_data(owner, secret_index(), kept.get()) == 1;
  if (set) static_cast<void>(kept.release());
}

}  // namespace

void keep_server_secrets(SSL_CTX* context) {
  SSL_CTX_set_keylog_callback(context, keep_secret);
}

std::vector<unsigned char>* server_secret(SSL* ssl) {
  return static_cast<std::vector<unsigned char>*>(SSL_get_ex_data(ssl, secret_index()));
}

}  // namespace reprise
