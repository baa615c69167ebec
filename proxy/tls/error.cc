#include "proxy/tls/error.h"

namespace reprise {
namespace {

class TrustCategory final : public std::error_category {
  const char* name() const noexcept override { return "trust"; }

  std::string message(int code) const override {
    switch (static_cast<trust_errc>(code)) {
      case trust_errc::authority_damaged:
        return "the certificate authority's files are damaged. Remove ca.pem and ca-key.pem to get "
               "a new authority";
      case trust_errc::authority_key_missing:
        return "the certificate authority's ca-key.pem is missing. Restore it, or remove ca.pem to "
               "get a new authority";
      case trust_errc::authority_open:
        return "other users can read the certificate authority. Set mode 600 on ca-key.pem and 700 "
               "on its folder";
      case trust_errc::authority_expiring:
        return "the certificate authority expires within 30 days. Remove ca.pem and ca-key.pem to "
               "get a new authority, and run `reprise ca install` to trust it";
      case trust_errc::trust_file_unusable:
        return "the file contains no PEM certificates";
      case trust_errc::root_unusable:
        return "the files are not a certificate and its key in PEM (RSA of at least 1024 bits, or "
               "ECDSA)";
      case trust_errc::name_not_certifiable:
        return "a certificate needs between 1 and 1000 names, each a DNS name or an IP address";
    }
    return "unknown trust error";
  }

  std::error_condition default_error_condition(int code) const noexcept override {
    switch (static_cast<trust_errc>(code)) {
      case trust_errc::authority_damaged:
      case trust_errc::root_unusable:
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
