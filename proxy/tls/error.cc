#include "proxy/tls/error.h"

namespace reprise {
namespace {

class TrustCategory final : public std::error_category {
  const char* name() const noexcept override { return "trust"; }

  std::string message(int code) const override {
    switch (static_cast<trust_errc>(code)) {
      case trust_errc::authority_damaged:
        return "the certificate authority's files are damaged: remove ca.pem and ca-key.pem, and a "
               "new authority is made";
      case trust_errc::authority_key_missing:
        return "the certificate authority's ca-key.pem is missing: put it back, or remove ca.pem, "
               "and a new authority is made";
      case trust_errc::authority_open:
        return "the certificate authority is open to other users: set mode 600 on ca-key.pem and "
               "700 on its folder";
      case trust_errc::authority_expiring:
        return "the certificate authority expires within 30 days: remove ca.pem and ca-key.pem, a "
               "new authority is made, and trust that one with `reprise ca install`";
      case trust_errc::trust_file_unusable:
        return "the file holds no certificates in PEM form";
      case trust_errc::name_not_certifiable:
        return "a certificate needs between 1 and 1000 names, each a DNS name or an IP address";
    }
    return "unknown trust error";
  }

  std::error_condition default_error_condition(int code) const noexcept override {
    switch (static_cast<trust_errc>(code)) {
      case trust_errc::authority_damaged:
      case trust_errc::trust_file_unusable:
        return std::errc::bad_message;
      case trust_errc::name_not_certifiable:
        return std::errc::invalid_argument;
      default:
        return {code, *this};
    }
  }
};

}  // namespace

const std::error_category& trust_category() {
  static const TrustCategory category;
  return category;
}

std::error_code make_error_code(trust_errc error) {
  return {static_cast<int>(error), trust_category()};
}

}  // namespace reprise
