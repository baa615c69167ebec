#include "pageload/browser/nss_database.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "base/system/program.h"

namespace reprise {
namespace fs = std::filesystem;
namespace {

/// The user's HOME; a relative one would be another folder in each working directory.
fs::path home() {
  const char* const text = std::getenv("HOME");
  if (text != nullptr && *text == '/') return text;
  const passwd* const user = ::getpwuid(::getuid());
  return user != nullptr ? user->pw_dir : "/";
}

NssResult<std::string> certutil(const fs::path& database, std::vector<std::string> arguments) {
  auto const program = find_certutil();
  if (!program) return std::unexpected(program.error());
  arguments.insert(arguments.begin(), {"-d", "sql:" + database.string()});
  auto result = run_program(*program, arguments);
  if (!result) return std::unexpected("certutil: " + result.error().message());
  if (result->exit_code != 0) return std::unexpected(result->output);
  return std::move(result->output);
}

/// For commands whose output is not needed on success.
NssResult<void> certutil_silently(const fs::path& database, std::vector<std::string> arguments) {
  auto const done = certutil(database, std::move(arguments));
  if (!done) return std::unexpected(done.error());
  return {};
}

}  // namespace

std::vector<fs::path> nss_databases() {
  const char* const data = std::getenv("XDG_DATA_HOME");
  fs::path const data_folder =
      data != nullptr && fs::path(data).is_absolute() ? fs::path(data) : home() / ".local/share";
  std::vector<fs::path> found;
  for (const fs::path& folder : {home() / ".pki/nssdb", data_folder / "pki/nssdb"}) {
    std::error_code ignored;
    if (fs::exists(folder / "cert9.db", ignored)) found.push_back(folder);
  }
  return found;
}

fs::path new_nss_database() {
  return home() / ".pki/nssdb";
}

NssResult<fs::path> find_certutil() {
  if (auto program = find_program("certutil")) return *program;
  return std::unexpected("certutil is missing: sudo apt-get install libnss3-tools");
}

NssResult<void> create_nss_database(const fs::path& folder) {
  if (auto const program = find_certutil(); !program) return std::unexpected(program.error());
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return std::unexpected(folder.string() + ": " + error.message());
  ::chmod(folder.c_str(), S_IRWXU);
  return certutil_silently(folder, {"-N", "--empty-password"});
}

NssResult<std::vector<std::string>> trusted_authorities(const fs::path& database) {
  auto const listing = certutil(database, {"-L"});
  if (!listing) return std::unexpected(listing.error());
  // "name   C,,": the name, spaces, and three sets of flags; C in the first: signs for servers.
  std::vector<std::string> names;
  std::istringstream lines(*listing);
  for (std::string line; std::getline(lines, line);) {
    line.erase(line.find_last_not_of(" \r") + 1);
    auto const flags = line.rfind(' ');
    if (flags == std::string::npos) continue;
    auto const server_flags = line.substr(flags + 1, line.find(',', flags) - flags - 1);
    auto const name_end = line.find_last_not_of(' ', flags);
    if (server_flags.contains('C') && name_end != std::string::npos) {
      names.push_back(line.substr(0, name_end + 1));
    }
  }
  return names;
}

NssResult<void> trust_authority(const fs::path& database, const std::string& name,
                                const fs::path& file) {
  auto const before = trusted_authorities(database);
  if (before && std::ranges::find(*before, name) != before->end()) return {};
  auto added = certutil_silently(database, {"-A", "-t", "C,,", "-n", name, "-i", file.string()});
  // A database with a password accepts the certificate, and then refuses the trust.
  if (!added) (void)remove_authority(database, name);
  return added;
}

NssResult<void> remove_authority(const fs::path& database, const std::string& name) {
  return certutil_silently(database, {"-D", "-n", name});
}

}  // namespace reprise
