#include "tools/wpr/wpr_roots.h"

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <algorithm>
#include <cstdio>
#include <span>

#include "base/http/digest.h"
#include "base/invariant.h"
#include "pageload/browser/nss_database.h"
#include "proxy/tls/certificate_authority.h"
#include "tools/commands.h"
#include "tools/wpr/wpr_serving.h"

namespace reprise::wpr {
namespace {

namespace fs = std::filesystem;

struct Root {
  fs::path file;
  std::string name;  ///< in the database
  bool removed = false;
};

/// "Web Page Replay NAME 1a2b3c4d": roots can have the same common name, or an empty one, so the
/// first digits of the certificate's SHA-256 distinguish them.
std::string name_of(const CertificateAuthority& root) {
  constexpr std::size_t kDigestBytes = 4;
  Sha256 digest{};
  invariant(X509_digest(root.certificate(), EVP_sha256(),
                        reinterpret_cast<unsigned char*>(digest.data()), nullptr) == 1,
            "a certificate has a digest");
  auto name = "Web Page Replay " + root.common_name();
  if (!name.ends_with(' ')) name += ' ';
  name += hex(std::span(digest).first(kDigestBytes));
  std::ranges::replace(name, ':', '-');  // certutil takes what is before a colon as a token
  return name;
}

/// Empty after an error, which has been printed.
std::vector<Root> open_roots(const Flags& flags) {
  std::vector<Root> roots;
  for (auto const& [certificate, key] : roots_of(flags)) {
    auto const root = CertificateAuthority::open_files(certificate, key);
    if (!root) {
      say_error(certificate.string() + ": " + root.error().message());
      return {};
    }
    roots.push_back({.file = certificate, .name = name_of(*root)});
  }
  if (roots.empty()) say_error("there is no root. Use --https_cert_file and --https_key_file");
  return roots;
}

}  // namespace

std::vector<RootFiles> roots_of(const Flags& flags) {
  std::vector<RootFiles> roots;
  for (std::size_t i = 0; i < flags.cert_files.size(); ++i) {
    roots.push_back({.certificate = flags.cert_files[i], .key = flags.key_files[i]});
  }
  if (!roots.empty()) return roots;
  for (auto const& [certificate, key] :
       {std::pair{"wpr_cert.pem", "wpr_key.pem"}, {"ecdsa_cert.pem", "ecdsa_key.pem"}}) {
    std::error_code ignored;
    if (fs::exists(certificate, ignored)) {
      roots.push_back({.certificate = certificate, .key = key});
    }
  }
  return roots;
}

int install_roots(const Flags& flags) {
  auto const roots = open_roots(flags);
  if (roots.empty()) return kExitFailed;
  auto const database = new_nss_database();
  std::error_code ignored;
  if (!fs::exists(database / "cert9.db", ignored)) {
    if (auto const made = create_nss_database(database); !made) {
      say_error(made.error());
      return kExitFailed;
    }
  }
  for (const Root& root : roots) {
    if (auto const trusted = trust_authority(database, root.name, root.file); !trusted) {
      say_error(database.string() + ": " + trusted.error());
      return kExitFailed;
    }
    std::fprintf(stderr, "Chromium and Chrome trust \"%s\" (%s)\n", root.name.c_str(),
                 database.c_str());
  }
  return kExitDone;
}

int remove_roots(const Flags& flags) {
  auto roots = open_roots(flags);
  if (roots.empty()) return kExitFailed;
  for (const fs::path& database : nss_databases()) {
    auto const trusted = trusted_authorities(database);
    if (!trusted) {
      say_error(database.string() + ": " + trusted.error());
      return kExitFailed;
    }
    for (Root& root : roots) {
      if (std::ranges::find(*trusted, root.name) == trusted->end()) continue;
      if (auto const removed = remove_authority(database, root.name); !removed) {
        say_error(database.string() + ": " + removed.error());
        return kExitFailed;
      }
      std::fprintf(stderr, "Removed \"%s\" from %s\n", root.name.c_str(), database.c_str());
      root.removed = true;
    }
  }
  for (const Root& root : roots) {
    if (root.removed) continue;
    std::fprintf(stderr, "The databases of Chromium and Chrome do not contain \"%s\"\n",
                 root.name.c_str());
  }
  return kExitDone;
}

}  // namespace reprise::wpr
