#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

struct evp_md_ctx_st;

namespace reprise {

using Sha256 = std::array<std::byte, 32>;

struct FreeDigest {
  void operator()(evp_md_ctx_st* context) const;
};

/// SHA-256, computed piece by piece. Aborts only if OpenSSL has no SHA-256.
class Digester {
 public:
  Digester();
  void update(std::span<const std::byte> bytes);
  /// The digest of everything so far; ends this digester.
  Sha256 finish();

 private:
  std::unique_ptr<evp_md_ctx_st, FreeDigest> context_;
};

/// The same with any algorithm by its OpenSSL name ("SHA1").
class NamedDigester {
 public:
  /// Aborts if OpenSSL has no such algorithm.
  explicit NamedDigester(const char* algorithm);
  void update(std::span<const std::byte> bytes);
  /// The digest of everything so far, as bytes; ends this digester.
  std::string finish();

 private:
  std::unique_ptr<evp_md_ctx_st, FreeDigest> context_;
};

Sha256 sha256(std::span<const std::byte> bytes);

/// In lower-case hexadecimal digits.
std::string hex(std::span<const std::byte> bytes);

/// SHA-256 in 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view bytes);

/// SHA-256 of a file. Errors: the system error of open(2) or read(2).
Result<std::string> sha256_hex_of_file(const std::filesystem::path& path);

}  // namespace reprise
