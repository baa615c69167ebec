#include "tools/serve/command_environment.h"

#include <boost/json.hpp>
#include <cstdio>
#include <cstdlib>

#include "base/http/digest.h"
#include "base/system/private_file.h"
#include "base/system/text_file.h"
#include "base/system/user_folder.h"
#include "tools/process/chromium_flags.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNodeRoots = "NODE_EXTRA_CA_CERTS";
/// Those whose file replaces the system's roots.
constexpr const char* kAllRoots[] = {"SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE",
                                     "GIT_SSL_CAINFO"};
/// Where systems keep their roots in one file: Debian, Fedora, SUSE, Alpine.
constexpr const char* kSystemRoots[] = {"/etc/ssl/certs/ca-certificates.crt",
                                        "/etc/pki/tls/certs/ca-bundle.crt",
                                        "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"};
constexpr std::uintmax_t kRootsBytesMax = 16 << 20;

/// The value of an environment variable; empty if it is not set.
std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Adds the file's text unless it is there already.
void add_roots(const fs::path& file, std::string& roots) {
  auto const text = read_text_file(file, kRootsBytesMax);
  if (!text || text->empty() || roots.find(*text) != std::string::npos) return;
  if (!roots.empty() && roots.back() != '\n') roots.push_back('\n');
  roots += *text;
}

std::string all_roots(std::span<const CertificateAuthority> authorities) {
  std::string roots;
  if (variable(kAllRoots[0]).empty()) {
    for (const char* const file : kSystemRoots) {
      if (!roots.empty()) break;
      add_roots(file, roots);
    }
  }
  for (const char* const name : kAllRoots) {
    if (auto const file = variable(name); !file.empty()) add_roots(file, roots);
  }
  if (auto const file = variable(kNodeRoots); !file.empty()) add_roots(file, roots);
  for (const CertificateAuthority& each : authorities) add_roots(each.certificate_path(), roots);
  return roots;
}

}  // namespace

std::vector<std::string> addresses_environment(const ListenAddresses& bound,
                                               const CertificateAuthority& authority,
                                               const std::vector<std::string>& chromium_flags) {
  auto const text_of = [](const ListenAddress& address) {
    return address.at ? to_text(*address.at) : std::string();
  };
  return {"REPRISE_HTTP=" + text_of(bound.http),
          "REPRISE_HTTPS=" + text_of(bound.https),
          "REPRISE_PROXY=" + text_of(bound.proxy),
          "REPRISE_DNS=" + text_of(bound.dns),
          "REPRISE_CA=" + authority.certificate_path().string(),
          "REPRISE_CHROMIUM_FLAGS=" + to_shell_words(chromium_flags),
          "REPRISE_CHROMIUM_FLAGS_JSON=" +
              boost::json::serialize(boost::json::value_from(chromium_flags))};
}

fs::path write_all_roots(std::span<const CertificateAuthority> authorities) {
  auto const roots = all_roots(authorities);
  auto const folder = user_folder("XDG_CACHE_HOME", ".cache") / "reprise" / "roots";
  auto const path = folder / (sha256_hex(roots).substr(0, 32) + ".pem");
  std::error_code error;
  if (fs::is_regular_file(path, error)) return path;
  fs::create_directories(folder, error);
  auto const written = write_private_file(roots, path);
  if (written) return path;
  std::fprintf(stderr,
               "reprise: %s cannot be written: %s. So programs of the command do not trust the CA "
               "by themselves; its certificate is $REPRISE_CA\n",
               path.c_str(), written.error().message().c_str());
  return {};
}

std::vector<std::string> trust_environment(std::span<const CertificateAuthority> authorities,
                                           const fs::path& all_roots) {
  std::vector<std::string> environment;
  for (const char* const name : kAllRoots) {
    environment.push_back(std::string(name) + "=" + all_roots.string());
  }
  // Node adds the file to its own roots.
  bool const only_ours = authorities.size() == 1 && variable(kNodeRoots).empty();
  auto const& for_node = only_ours ? authorities.front().certificate_path() : all_roots;
  environment.push_back(std::string(kNodeRoots) + "=" + for_node.string());
  return environment;
}

}  // namespace reprise
