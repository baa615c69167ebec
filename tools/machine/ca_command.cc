#include <openssl/pem.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/system/program.h"
#include "pageload/browser/nss_database.h"
#include "proxy/tls/certificate_authority.h"
#include "tools/commands.h"
#include "tools/process/command_line.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

constexpr const char* kSystemFolder = "/usr/local/share/ca-certificates";
constexpr std::string_view kNamePrefix = "reprise local CA ";
constexpr std::string_view kSystemFilePrefix = "reprise-";
constexpr std::chrono::minutes kSystemUpdateTimeout{2};

void say(const std::string& line) {
  std::fprintf(stderr, "%s\n", line.c_str());
}

std::optional<CertificateAuthority> open_authority() {
  auto const folder = CertificateAuthority::default_directory();
  auto authority = CertificateAuthority::open_or_create(folder);
  if (authority) return std::move(*authority);
  say("reprise: " + folder.string() + ": " + authority.error().message());
  return std::nullopt;
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string der_of(X509* certificate) {
  unsigned char* der = nullptr;
  int const length = i2d_X509(certificate, &der);
  std::string text(reinterpret_cast<const char*>(der), static_cast<std::size_t>(length));
  OPENSSL_free(der);
  return text;
}

std::string utc_date(std::chrono::system_clock::time_point time) {
  std::time_t const seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%FT%TZ", &parts);
  return text;
}

json::object describe(const CertificateAuthority& authority) {
  return {{"ca_file", authority.certificate_path().string()},
          {"common_name", authority.common_name()},
          {"spki_sha256", authority.spki_sha256_base64()},
          {"not_after", utc_date(authority.not_after())}};
}

void write_out(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

int print_path(bool as_json) {
  auto const authority = open_authority();
  if (!authority) return kExitFailed;
  write_out(
      (as_json ? json::serialize(describe(*authority)) : authority->certificate_path().string()) +
      "\n");
  return kExitDone;
}

int print_certificate(bool as_der, bool as_json) {
  auto const authority = open_authority();
  if (!authority) return kExitFailed;
  if (as_der) {
    write_out(der_of(authority->certificate()));
    return kExitDone;
  }
  auto const pem = read_file(authority->certificate_path());
  if (!as_json) {
    write_out(pem);
    return kExitDone;
  }
  auto described = describe(*authority);
  described["pem"] = pem;
  write_out(json::serialize(described) + "\n");
  return kExitDone;
}

std::string quoted(const fs::path& path) {
  std::string text = "'";
  for (char const c : path.string()) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

/// The file from which the system's trust store reads this authority.
fs::path system_file(const CertificateAuthority& authority) {
  auto const name = authority.common_name();
  auto const random = name.substr(std::min(name.size(), kNamePrefix.size()));
  return fs::path(kSystemFolder) / (std::string(kSystemFilePrefix) + random + ".crt");
}

std::vector<fs::path> system_files() {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(kSystemFolder, ignored)) {
    auto const name = entry.path().filename().string();
    if (name.starts_with(kSystemFilePrefix) && name.ends_with(".crt")) {
      found.push_back(entry.path());
    }
  }
  std::ranges::sort(found);
  return found;
}

/// Through sudo, root would use root's own authority and databases, not the caller's.
std::optional<int> refuse_system(const std::string& commands) {
  if (::geteuid() == 0 && std::getenv("SUDO_UID") == nullptr) return std::nullopt;
  say("reprise: --system must be run by root itself (under sudo, reprise uses root's authority, "
      "not yours). Run instead:\n" +
      commands);
  return kExitListen;
}

bool update_system(const std::vector<std::string>& arguments) {
  auto const program = find_program("update-ca-certificates");
  if (!program) {
    say("reprise: update-ca-certificates is missing: apt-get install ca-certificates");
    return false;
  }
  auto const done = run_program(*program, arguments, kSystemUpdateTimeout);
  if (done && done->exit_code == 0) return true;
  say("reprise: update-ca-certificates failed: " + (done ? done->output : done.error().message()));
  return false;
}

int install_in_system(const CertificateAuthority& authority, const std::string& commands) {
  if (auto const refused = refuse_system(commands)) return *refused;
  auto const file = system_file(authority);
  std::error_code error;
  fs::create_directories(kSystemFolder, error);
  if (!error) {
    fs::copy_file(authority.certificate_path(), file, fs::copy_options::overwrite_existing, error);
  }
  if (error) {
    say("reprise: " + file.string() + ": " + error.message());
    return kExitFailed;
  }
  if (!update_system({})) return kExitFailed;
  say("The system's trust store trusts \"" + authority.common_name() + "\" (" + file.string() +
      ").\nUndo: reprise ca remove --system");
  return kExitDone;
}

int install_for_browsers(const CertificateAuthority& authority) {
  auto const name = authority.common_name();
  auto databases = nss_databases();
  if (databases.empty()) {
    databases.push_back(new_nss_database());
    if (auto const made = create_nss_database(databases.front()); !made) {
      say("reprise: " + made.error());
      return kExitFailed;
    }
  }
  int exit_code = kExitDone;
  for (const fs::path& database : databases) {
    auto const trusted = trust_authority(database, name, authority.certificate_path());
    if (trusted) {
      say("Chromium and Chrome trust \"" + name + "\" (" + database.string() + ").");
      continue;
    }
    say("reprise: " + database.string() + ": " + trusted.error() +
        "Nothing was changed there. If the database has a password, run: certutil -A -d sql:" +
        quoted(database) + " -t C,, -n '" + name + "' -i " + quoted(authority.certificate_path()));
    exit_code = kExitFailed;
  }
  say("Undo: reprise ca remove");
  return exit_code;
}

int install(bool system) {
  auto const authority = open_authority();
  if (!authority) return kExitFailed;
  auto const file = quoted(authority->certificate_path());
  auto const commands = "  sudo install -m 644 " + file + " " + system_file(*authority).string() +
                        "\n  sudo update-ca-certificates";
  if (system) return install_in_system(*authority, commands);
  int const exit_code = install_for_browsers(*authority);
  say("\nFor curl and other programs that use the system's trust store:\n" + commands +
      "\nFor one run of curl or node:\n  curl --cacert " + file + " ...\n  NODE_EXTRA_CA_CERTS=" +
      file + " node ...\nFor Firefox: Settings, Certificates, Authorities, Import.");
  return exit_code;
}

int remove_from_system(const std::string& commands) {
  if (auto const refused = refuse_system(commands)) return *refused;
  auto const files = system_files();
  for (const fs::path& file : files) {
    std::error_code error;
    fs::remove(file, error);
    if (error) {
      say("reprise: " + file.string() + ": " + error.message());
      return kExitFailed;
    }
    say("Removed " + file.string() + ".");
  }
  if (files.empty()) {
    say("The system's trust store contains no reprise authority.");
    return kExitDone;
  }
  return update_system({"--fresh"}) ? kExitDone : kExitFailed;
}

/// Removes every authority that reprise ever added, even if its folder is gone.
int remove_from_browsers() {
  bool found = false;
  for (const fs::path& database : nss_databases()) {
    auto const names = trusted_authorities(database);
    if (!names) {
      say("reprise: " + database.string() + ": " + names.error());
      return kExitFailed;
    }
    for (const std::string& name : *names) {
      if (!name.starts_with(kNamePrefix)) continue;
      if (auto const removed = remove_authority(database, name); !removed) {
        say("reprise: " + database.string() + ": " + removed.error());
        return kExitFailed;
      }
      say("Chromium and Chrome no longer trust \"" + name + "\" (" + database.string() + ").");
      found = true;
    }
  }
  if (!found) say("The databases of Chromium and Chrome contain no reprise authority.");
  return kExitDone;
}

int remove(bool system) {
  std::string commands;
  for (const fs::path& file : system_files()) commands += "  sudo rm " + quoted(file) + "\n";
  commands += "  sudo update-ca-certificates --fresh";
  if (system) return remove_from_system(commands);
  int const exit_code = remove_from_browsers();
  if (!system_files().empty())
    say("\nThe system's trust store still trusts a reprise authority. To remove it:\n" + commands);
  say("The authority itself stays in " + CertificateAuthority::default_directory().string() +
      "; undo: reprise ca install");
  return exit_code;
}

struct CaOptions {
  bool as_json = false;
  bool as_der = false;
  bool system = false;
};

}  // namespace

void add_ca_command(CLI::App& app, int& exit_code) {
  auto const options = std::make_shared<CaOptions>();
  auto* const ca =
      add_command(app, "ca", "Manage the certificate authority that browsers must trust");
  ca->require_subcommand(1);

  auto* const path = add_command(
      *ca, "path", "Print the path of the certificate, and create the authority if needed");
  path->add_flag("--json", options->as_json, "Print path, name, key digest and expiry as JSON");
  path->callback([options, &exit_code] { exit_code = print_path(options->as_json); });

  auto* const print = add_command(*ca, "export", "Print the certificate in PEM form");
  auto* const der = print->add_flag("--der", options->as_der, "Write DER instead of PEM");
  print->add_flag("--json", options->as_json, "Print JSON with the PEM text")->excludes(der);
  print->callback(
      [options, &exit_code] { exit_code = print_certificate(options->as_der, options->as_json); });

  auto* const add =
      add_command(*ca, "install", "Make this user's Chromium and Chrome trust the authority");
  add->add_flag("--system", options->system, "Use the system's trust store instead; needs root");
  add->callback([options, &exit_code] { exit_code = install(options->system); });

  auto* const take = add_command(*ca, "remove", "Undo install");
  take->add_flag("--system", options->system, "Use the system's trust store instead; needs root");
  take->callback([options, &exit_code] { exit_code = remove(options->system); });
}

}  // namespace reprise
