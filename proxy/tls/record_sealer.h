#pragma once

// Encrypts the records of a TLS 1.3 connection (RFC 8446 section 5) in place of OpenSSL, which
// would copy all content twice: into its own buffer, and from there into the BIO.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/bytes.h"
#include "proxy/tls/openssl_ptr.h"

namespace reprise {

/// The types of content (RFC 8446 section 5.1).
enum class RecordType : std::uint8_t { kAlert = 21, kHandshake = 22, kApplicationData = 23 };

/// Our direction of one connection that uses AES-GCM. OpenSSL hands over its key to a BIO as it
/// does to a kernel with TLS (SSL_OP_ENABLE_KTLS), and from then on passes plain messages, each
/// with its type. One thread. Allocates nothing after create().
class RecordSealer {
 public:
  static constexpr std::size_t kContentBytesMax = 16 << 10;
  /// A record is longer than its content by a head, the type and a tag.
  static constexpr std::size_t kHeadBytes = 5;
  static constexpr std::size_t kTypeBytes = 1;
  static constexpr std::size_t kTagBytes = 16;
  static constexpr std::size_t kOverheadBytes = kHeadBytes + kTypeBytes + kTagBytes;

  /// `crypto_info` is what OpenSSL passes with the control command of its KTLS: a struct of
  /// <linux/tls.h>. Null for other versions and ciphers, which OpenSSL then encrypts itself.
  static std::unique_ptr<RecordSealer> create(const void* crypto_info);

  /// Begins a record of `content_bytes` at `out`, which has room for kOverheadBytes more. Add
  /// exactly that much content before end().
  void begin(RecordType type, std::size_t content_bytes, std::byte* out);
  /// The next piece of the content. Not kept.
  void add(Bytes content);
  /// Completes the record. Returns its length, with kOverheadBytes.
  std::size_t end();

 private:
  RecordSealer() = default;
  void encrypt_joined();

  static constexpr std::size_t kNonceBytes = 12;
  CipherPtr cipher_;
  std::array<unsigned char, kNonceBytes> mask_{};  // of the nonce
  std::uint64_t sequence_ = 0;

  // The record that has begun:
  std::byte* record_ = nullptr;
  std::byte* at_ = nullptr;      // where the next content goes
  std::byte* joined_ = nullptr;  // from here to at_: plain small pieces, encrypted as one
  RecordType type_{};
};

}  // namespace reprise
