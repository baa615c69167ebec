#include "proxy/tls/client_certificate.h"

#include <openssl/err.h>
#include <openssl/pem.h>

#include <algorithm>

#include "base/http/headers.h"
#include "base/system/text_file.h"
#include "base/text/glob.h"

namespace reprise {
namespace {

constexpr std::uintmax_t kFileBytesMax = 1 << 20;

/// OpenSSL asks the terminal otherwise.
int no_passphrase(char*, int, int, void*) {
  return -1;
}

BioPtr over(const std::string& text) {
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

}  // namespace

std::expected<ClientCertificate, std::string> ClientCertificate::read(
    std::string_view host_and_file) {
  auto const equals = host_and_file.find('=');
  if (equals == 0 || equals == std::string_view::npos || equals + 1 == host_and_file.size()) {
    return std::unexpected("--client-cert must be HOST=FILE, not '" + std::string(host_and_file) +
                           "'");
  }
  std::string const file(host_and_file.substr(equals + 1));
  auto const cannot = [&file](const std::string& why) {
    return std::unexpected("--client-cert " + file + ": " + why);
  };
  auto const text = read_text_file(file, kFileBytesMax);
  if (!text) return cannot(text.error().message());
  ClientCertificate made;
  made.host_ = lower_case(host_and_file.substr(0, equals));
  auto const certificates = over(*text);
  while (X509Ptr next{PEM_read_bio_X509(certificates.get(), nullptr, no_passphrase, nullptr)}) {
    if (made.certificate_ == nullptr) {
      made.certificate_ = std::move(next);
    } else {
      made.chain_.push_back(std::move(next));
    }
  }
  made.key_.reset(PEM_read_bio_PrivateKey(over(*text).get(), nullptr, no_passphrase, nullptr));
  ERR_clear_error();
  if (made.certificate_ == nullptr) return cannot("it has no certificate (PEM)");
  if (made.key_ == nullptr) return cannot("it has no private key without a passphrase (PEM)");
  if (X509_check_private_key(made.certificate_.get(), made.key_.get()) != 1) {
    ERR_clear_error();
    return cannot("its key does not belong to its first certificate");
  }
  return made;
}

bool ClientCertificate::is_for(std::string_view host) const {
  return fits_glob(host_, lower_case(host));
}

bool ClientCertificate::present(SSL& ssl) const {
  bool taken = SSL_use_certificate(&ssl, certificate_.get()) == 1 &&
               SSL_use_PrivateKey(&ssl, key_.get()) == 1;
  for (const X509Ptr& each : chain_) {
    taken = taken && SSL_add1_chain_cert(&ssl, each.get()) == 1;
  }
  return taken;
}

const ClientCertificate* certificate_for(std::span<const ClientCertificate> all,
                                         std::string_view host) {
  auto const found = std::ranges::find_if(
      all, [host](const ClientCertificate& each) { return each.is_for(host); });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace reprise
