#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "archive/exchange.h"

struct evp_md_ctx_st;

namespace reprise {

/// SHA-256 over bytes that come in pieces. Aborts only when OpenSSL has no SHA-256 at all.
class Digester {
 public:
  Digester();
  void update(std::span<const std::byte> bytes);
  /// The digest of everything so far; ends this digester.
  Sha256 finish();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

Sha256 sha256(std::span<const std::byte> bytes);

}  // namespace reprise
