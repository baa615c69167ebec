#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "archive/exchange.h"

struct evp_md_ctx_st;

namespace reprise {

struct FreeDigest {
  void operator()(evp_md_ctx_st* context) const;
};

/// SHA-256 over bytes that come in pieces. Aborts only when OpenSSL has no SHA-256 at all.
class Digester {
 public:
  Digester();
  void update(std::span<const std::byte> bytes);
  /// The digest of everything so far; ends this digester.
  Sha256 finish();

 private:
  std::unique_ptr<evp_md_ctx_st, FreeDigest> context_;
};

/// The same by any other algorithm that OpenSSL names ("SHA1").
class NamedDigester {
 public:
  /// Aborts when OpenSSL has no such algorithm.
  explicit NamedDigester(const char* algorithm);
  void update(std::span<const std::byte> bytes);
  /// The digest of everything so far, as bytes; ends this digester.
  std::string finish();

 private:
  std::unique_ptr<evp_md_ctx_st, FreeDigest> context_;
};

Sha256 sha256(std::span<const std::byte> bytes);

}  // namespace reprise
