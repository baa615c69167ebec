#include "pageload/browser/launch.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>
#include <string_view>

#include "base/system/guarded_process.h"
#include "base/system/last_error.h"

namespace fs = std::filesystem;

namespace reprise {
namespace {

constexpr const char* kNoQuic = "--disable-quic";
constexpr std::string_view kForceQuic = "--origin-to-force-quic-on=";
/// The flags with a list, of which Chromium uses only the last one.
constexpr std::string_view kLists[] = {
    "--disable-features=", "--enable-features=", "--host-resolver-rules=",
    "--ignore-certificate-errors-spki-list=", kForceQuic};
constexpr std::string_view kMisleading[] = {"--proxy-server", "--proxy-pac-url",
                                            "--proxy-auto-detect", "--user-data-dir"};
/// An origin of a host at this port forces nothing.
constexpr std::uint16_t kUnusedPort = 1;
/// Of all flags. Linux limits an argument to 128 KiB, and also a variable of the environment: the
/// command of a replay gets all flags in one.
constexpr std::size_t kFlagsBytesMax = 128'000;
constexpr std::size_t kQuotesBytes = 3;  // of each flag there, with a separator

/// The first one is the default, and stands for any of them.
constexpr std::string_view kPrograms[] = {"chromium", "google-chrome", "google-chrome-stable",
                                          "chromium-browser", "chromium-headless-shell"};

std::optional<fs::path> on_path(std::string_view name) {
  const char* const variable = std::getenv("PATH");
  std::string_view rest = variable == nullptr ? "/usr/bin:/bin" : variable;
  while (!rest.empty()) {
    auto const folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    fs::path const candidate = fs::path(folder) / name;
    std::error_code ignored;
    if (candidate.is_absolute() && fs::is_regular_file(candidate, ignored) &&
        ::access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
  }
  return std::nullopt;
}

/// A replay's flags contain the quiet flags, too.
void drop_repeated(std::vector<std::string>& flags) {
  std::set<std::string> seen;
  std::erase_if(flags, [&](const std::string& flag) { return !seen.insert(flag).second; });
}

/// Removes every `prefix`LIST from `flags` and adds one with all lists at the end.
void merge_lists(std::vector<std::string>& flags, std::string_view prefix) {
  std::string merged;
  std::erase_if(flags, [&](const std::string& flag) {
    if (!flag.starts_with(prefix)) return false;
    if (!merged.empty()) merged += ',';
    merged += flag.substr(prefix.size());
    return true;
  });
  if (!merged.empty()) flags.push_back(std::string(prefix) + merged);
}

}  // namespace

std::optional<fs::path> find_browser(const fs::path& wanted) {
  if (wanted.empty() || wanted.native() == kPrograms[0]) {
    for (auto const name : kPrograms) {
      if (auto found = on_path(name)) return found;
    }
    return std::nullopt;
  }
  if (!wanted.has_parent_path()) return on_path(wanted.native());
  std::error_code error;
  fs::path const path = fs::absolute(wanted, error);
  if (error || !fs::is_regular_file(path, error)) return std::nullopt;
  return path;
}

std::string check_browser(const fs::path& wanted) {
  if (auto const found = find_browser(wanted)) {
    if (::access(found->c_str(), X_OK) == 0) return {};
    return found->string() + " could not be started: " + last_system_error().message() + ".";
  }
  if (wanted.empty() || wanted.native() == kPrograms[0]) {
    return "No browser was found: install Debian's chromium, or name a Chromium by its path.";
  }
  return std::string("There is no browser ") +
         (wanted.has_parent_path() ? "at " : "on PATH named ") + wanted.string() + ".";
}

bool is_firefox(const fs::path& program) {
  return program.filename().native().starts_with("firefox");
}

std::vector<std::string> quiet_flags() {
  return {
      "--no-first-run",
      "--disable-sync",
      kNoQuic,
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-field-trial-config",
      "--gaia-url=http://127.0.0.1:1",
      "--component-updater=url-source=http://127.0.0.1:1/",
      // The last two: pages for the popup of the address bar, which take more of a processor at the
      // start than all the rest of the browser does.
      "--disable-features=NetworkTimeServiceQuerying,OptimizationHints,MediaRouter,Translate,"
      "HttpsUpgrades,LocalNetworkAccessChecks,WebUIOmniboxPopup,WebUIOmniboxAimPopup",
  };
}

bool lead_to_h3(std::vector<std::string>& flags, const H3Origins& led,
                const std::set<std::string>& offered) {
  std::erase(flags, kNoQuic);
  std::string list;
  auto const add = [&list](const std::string& host, std::uint16_t port) {
    if (!list.empty()) list += ',';
    list += host + ":" + std::to_string(port);
  };
  for (auto const& [host, port] : led) add(host, port);
  // Chromium takes a private authority over QUIC only for hosts in the list, whatever their port.
  for (const std::string& host : offered) add(host, kUnusedPort);
  std::size_t bytes = kForceQuic.size() + list.size() + kQuotesBytes;
  for (const std::string& flag : flags) bytes += flag.size() + kQuotesBytes;
  bool const fits = list.empty() || bytes <= kFlagsBytesMax;
  if (!fits) list = led.empty() ? "*:" + std::to_string(kUnusedPort) : "*";
  if (!list.empty()) flags.push_back(std::string(kForceQuic) + list);
  return fits || led.empty();
}

boost::json::object firefox_h3_preferences(const H3Origins& led, std::uint16_t port) {
  boost::json::object prefs{{"network.http.http3.disable_when_third_party_roots_found", false}};
  std::string mapping;
  for (auto const& [host, origin_port] : led) {
    if (!mapping.empty()) mapping += ',';
    mapping += host + ";h3=:" + std::to_string(port != 0 ? port : origin_port);
  }
  if (!mapping.empty()) prefs["network.http.http3.alt-svc-mapping-for-testing"] = mapping;
  return prefs;
}

std::string misleading_flag(const std::vector<std::string>& flags, std::string_view other) {
  for (const std::string& flag : flags) {
    auto name = flag.substr(0, flag.find('='));
    if (!name.starts_with("--")) name.insert(0, 1, '-');  // Chromium takes one dash, too
    if (std::ranges::find(kMisleading, name) != std::end(kMisleading) || name == other) return name;
  }
  return {};
}

std::vector<std::string> browser_flags(const BrowserOptions& options, const fs::path& profile) {
  std::vector<std::string> flags{
      "--remote-debugging-pipe",
      "--user-data-dir=" + profile.string(),
      "--window-size=" + std::to_string(options.width) + "," + std::to_string(options.height),
      "--no-default-browser-check",
      "--disable-gpu",
      "--disable-breakpad",
      // An invisible page runs like a visible one.
      "--disable-backgrounding-occluded-windows",
      "--disable-renderer-backgrounding",
      // Steps that go back load the page again, as its first load did.
      "--disable-back-forward-cache",
      "--disable-background-timer-throttling",
      // A fixed key instead of the desktop's key ring, which may ask for a password.
      "--password-store=basic",
      "--use-mock-keychain",
  };
  auto const quiet = quiet_flags();
  flags.insert(flags.end(), quiet.begin(), quiet.end());
  flags.emplace_back(options.extensions.empty() ? "--disable-extensions"
                                                : "--enable-unsafe-extension-debugging");
  if (options.headless) flags.emplace_back("--headless");
  if (::geteuid() == 0) flags.emplace_back("--no-sandbox");
  flags.insert(flags.end(), options.extra_flags.begin(), options.extra_flags.end());
  bool const quic = std::ranges::any_of(
      flags, [](const std::string& flag) { return flag.starts_with(kForceQuic); });
  if (quic) std::erase(flags, kNoQuic);
  drop_repeated(flags);
  for (auto const list : kLists) merge_lists(flags, list);
  flags.emplace_back("about:blank");  // the new-tab page would look up a name
  return flags;
}

std::vector<std::string> browser_environment(const fs::path& home) {
  std::vector<std::string> changes{
      "HOME=" + home.string(),
      "XDG_CONFIG_HOME=" + (home / ".config").string(),
      "XDG_CACHE_HOME=" + (home / ".cache").string(),
      "XDG_DATA_HOME=" + (home / ".local").string(),
      "TMPDIR=" + home.string(),
  };
  // A headed browser finds the display's key in the user's HOME.
  const char* const user_home = std::getenv("HOME");
  if (std::getenv("XAUTHORITY") == nullptr && user_home != nullptr) {
    changes.push_back("XAUTHORITY=" + (fs::path(user_home) / ".Xauthority").string());
  }
  return environment_with(changes);
}

}  // namespace reprise
