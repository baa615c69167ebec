#include <poll.h>
#include <sys/inotify.h>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <fstream>
#include <utility>

#include "base/system/json_file.h"
#include "base/system/last_error.h"
#include "base/text/json_fields.h"
#include "pageload/browser/bidi_session.h"
#include "pageload/browser/driver.h"
#include "pageload/browser/launch.h"
#include "pageload/browser/web_socket.h"

namespace fs = std::filesystem;
namespace json = boost::json;

namespace reprise {
namespace {

/// Firefox writes it to its profile when its remote agent listens.
constexpr auto kServerFile = "WebDriverBiDiServer.json";

/// Preferences beyond those of the remote agent: Firefox makes no requests of its own, and does not
/// change those of the page.
json::object preferences(const BrowserOptions& options) {
  json::object prefs{
      {"app.normandy.enabled", false},
      {"app.update.enabled", false},
      {"browser.aboutwelcome.enabled", false},
      {"browser.contentblocking.category", "custom"},
      {"browser.newtabpage.enabled", false},
      {"browser.region.network.url", ""},
      {"browser.safebrowsing.downloads.enabled", false},
      {"browser.safebrowsing.malware.enabled", false},
      {"browser.safebrowsing.phishing.enabled", false},
      {"browser.search.update", false},
      {"browser.shell.checkDefaultBrowser", false},
      {"browser.startup.homepage", "about:blank"},
      {"browser.startup.page", 0},
      {"browser.translations.enable", false},
      {"datareporting.healthreport.uploadEnabled", false},
      {"datareporting.policy.dataSubmissionEnabled", false},
      {"dom.push.connection.enabled", false},
      {"dom.security.https_first", false},
      {"dom.security.https_first_schemeless", false},
      {"extensions.update.enabled", false},
      {"media.gmp-manager.updateEnabled", false},
      {"network.captive-portal-service.enabled", false},
      {"network.connectivity-service.enabled", false},
      // Pages of the archive lead from public names to loopback.
      {"network.lna.enabled", false},
      {"network.lna.blocking", false},
      {"network.trr.mode", 5},
      {"privacy.trackingprotection.enabled", false},
      {"privacy.trackingprotection.pbmode.enabled", false},
      {"security.OCSP.enabled", 0},
      {"services.settings.server", "http://127.0.0.1:1"},
      {"toolkit.telemetry.enabled", false},
  };
  if (options.http_port != 0 || options.https_port != 0) {
    prefs["network.dns.forceResolve"] = "127.0.0.1";
    prefs["network.socket.forcePort"] =
        "80=" + std::to_string(options.http_port) + ";443=" + std::to_string(options.https_port);
  }
  for (auto const& [name, value] : options.firefox_prefs) prefs[name] = value;
  return prefs;
}

/// Drives Firefox over WebDriver BiDi.
class FirefoxDriver : public BrowserDriver {
 public:
  FirefoxDriver(const BrowserOptions& options, fs::path folder)
      : options_(options), folder_(std::move(folder)) {}

  std::expected<void, std::string> prepare() override {
    std::error_code error;
    fs::create_directories(profile(), error);
    std::ofstream file(profile() / "user.js");
    for (auto const& [name, value] : preferences(options_)) {
      file << "user_pref(" << json::serialize(json::string(name)) << ", " << json::serialize(value)
           << ");\n";
    }
    if (!file.flush()) return std::unexpected(profile().string() + " cannot be written.");
    // Start the watch before the file can appear.
    watch_ = Descriptor(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    if (!watch_.is_open() ||
        ::inotify_add_watch(watch_.get(), profile().c_str(), IN_CLOSE_WRITE | IN_MOVED_TO) < 0) {
      return std::unexpected(last_system_error().message() + ".");
    }
    if (options_.authority.empty()) return {};
    return make_trusting_database(profile(), options_.authority);
  }

  void describe(GuardedProcess::Options& process) override {
    process.arguments = {"--no-remote",      "--new-instance",          "--profile",
                         profile().string(), "--remote-debugging-port", "0"};
    if (options_.headless) process.arguments.emplace_back("--headless");
    process.arguments.insert(process.arguments.end(), options_.extra_flags.begin(),
                             options_.extra_flags.end());
    process.arguments.emplace_back("about:blank");
    process.environment = browser_environment(folder_);
    // Without it, Firefox requests Mozilla's settings at the start, whatever the preferences are.
    process.environment.emplace_back("MOZ_REMOTE_SETTINGS_DEVTOOLS=1");
    process.environment.emplace_back("MOZ_CRASHREPORTER_DISABLE=1");
  }

  Result<std::unique_ptr<MessageStream>> connect(GuardedProcess& process,
                                                 TimePoint deadline) override {
    auto const port = wait_for_port(process, deadline);
    if (!port) return fail(port.error());
    auto socket = WebSocket::connect(*port, "/session");
    if (!socket) return fail(socket.error());
    return std::move(*socket);
  }

  Result<std::string> greet(RemoteConnection& connection, TimePoint deadline) override {
    // A prompt blocks the page until it is closed. Until a user is present, the session closes it.
    auto const* const prompts = options_.keep_open ? "ignore" : "accept";
    json::object const wanted{{"unhandledPromptBehavior", {{"default", prompts}}}};
    auto const hello =
        connection.call({}, "session.new", {{"capabilities", {{"alwaysMatch", wanted}}}}, deadline);
    if (!hello) return fail(hello.error());
    if (!hello->error.empty()) return fail(std::make_error_code(std::errc::bad_message));
    auto const version = text_at(object_at(hello->result, "capabilities"), "browserVersion");
    return "Firefox/" + std::string(version);
  }

  RemoteCommand install_command(const fs::path& folder) const override {
    return {{},
            "webExtension.install",
            {{"extensionData", {{"type", "path"}, {"path", folder.string()}}}}};
  }

  std::unique_ptr<PageSession> open_page(RemoteConnection& connection,
                                         const PageOptions& options) override {
    return std::make_unique<BidiSession>(connection, options);
  }

 private:
  fs::path profile() const { return folder_ / "profile"; }

  /// 0 until Firefox has written the port.
  std::uint16_t told_port() const {
    auto const value = read_json(profile() / kServerFile);
    if (!value.is_object()) return 0;
    return static_cast<std::uint16_t>(integer_at(value.get_object(), "ws_port"));
  }

  Result<std::uint16_t> wait_for_port(GuardedProcess& process, TimePoint deadline) const {
    for (;;) {
      if (auto const port = told_port(); port != 0) return port;
      auto const now = std::chrono::steady_clock::now();
      if (process.wait_until(now)) return fail(std::make_error_code(std::errc::broken_pipe));
      auto const left = std::chrono::ceil<std::chrono::milliseconds>(deadline - now);
      struct pollfd watched[2] = {
          {.fd = watch_.get(), .events = POLLIN, .revents = 0},
          {.fd = process.ended_fd(), .events = POLLIN, .revents = 0},
      };
      if (::poll(watched, 2, static_cast<int>(std::max<long>(left.count(), 0))) == 0) {
        return fail(std::make_error_code(std::errc::timed_out));
      }
      alignas(inotify_event) char events[4096];
      while (::read(watch_.get(), events, sizeof events) > 0) {
      }
    }
  }

  const BrowserOptions& options_;
  fs::path folder_;
  Descriptor watch_;
};

}  // namespace

std::unique_ptr<BrowserDriver> make_firefox_driver(const BrowserOptions& options,
                                                   const fs::path& folder) {
  return std::make_unique<FirefoxDriver>(options, folder);
}

}  // namespace reprise
