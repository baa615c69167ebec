#include "proxy/stream/tls_error.h"

#include <openssl/err.h>

#include <string>

namespace reprise {
namespace {

class TlsCategory final : public std::error_category {
  const char* name() const noexcept override { return "tls"; }
  std::string message(int code) const override {
    if (code == kTlsBrokenOff) return "the peer broke off the TLS connection";
    char text[256];
    ERR_error_string_n(static_cast<unsigned long>(static_cast<unsigned>(code)), text, sizeof text);
    return text;
  }
};

}  // namespace

const std::error_category& tls_category() {
  static const TlsCategory category;
  return category;
}

}  // namespace reprise
