#include <boost/json/array.hpp>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "base/system/json_file.h"
#include "base/text/json_fields.h"
#include "base/text/printable.h"
#include "pageload/browser/launch.h"
#include "pageload/results/result_file.h"
#include "tools/commands.h"
#include "tools/load/browsing_options.h"
#include "tools/process/command_line.h"
#include "tools/process/say.h"
#include "tools/serve/command_environment.h"

namespace reprise {
namespace {

namespace json = boost::json;

struct LoadPageOptions {
  std::string url;
  std::filesystem::path browser;
  std::string cache = "cold";
  std::filesystem::path ready_file;
  std::filesystem::path output;
  std::string name;
  BrowsingOptions browsing;
};

/// The port in "127.0.0.1:8080"; 0 if it has none.
std::uint16_t port_of(std::string_view address) {
  auto const digits = address.substr(address.rfind(':') + 1);
  std::uint16_t port = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), port);
  return port;
}

/// Leads the browser to the replay that wrote this file when it was ready. Behind an emulated link
/// every name and address already leads there.
bool lead_to_replay(const std::filesystem::path& ready_file, bool firefox,
                    BrowserOptions& browser) {
  json::value const ready = read_json(ready_file);
  if (!ready.is_object()) return false;
  auto const& told = ready.get_object();
  if (firefox) {
    browser.http_port = port_of(text_at(told, "http"));
    browser.https_port = port_of(text_at(told, "https"));
    browser.authority = std::string(text_at(told, "ca_file"));
    browser.firefox_prefs = object_at(told, "firefox_prefs");
    browser.firefox_prefs["network.proxy.type"] = 0;  // not that of the environment: it is outside
    return true;
  }
  for (json::value const& flag : array_at(told, "chromium_flags")) {
    if (flag.is_string()) browser.extra_flags.emplace_back(flag.get_string());
  }
  return true;
}

/// Whether no load in this browser can succeed after this error of a start, although no browser
/// died: there is no such program, or it refuses an extension.
bool is_unusable(const std::error_code& error) {
  return error == std::errc::no_such_file_or_directory || error == std::errc::permission_denied ||
         error == std::errc::executable_format_error || error == std::errc::not_supported;
}

int load_page(const LoadPageOptions& options) {
  BrowserOptions browser = options.browsing.browser();
  browser.program = options.browser;
  if (!options.ready_file.empty() &&
      !lead_to_replay(options.ready_file, is_firefox(options.browser), browser)) {
    std::fprintf(stderr, "reprise: %s is not a ready file of `reprise replay`\n",
                 options.ready_file.c_str());
    return kExitFailed;
  }
  PageOptions page = options.browsing.page();
  page.warm = options.cache == "warm";
  if (const char* const script = std::getenv(kScriptVariable)) page.script = script;
  if (auto const& folder = options.browsing.screenshot_folder; !folder.empty()) {
    page.screenshot = folder / (options.name + ".png");
  }
  if (auto const& folder = options.browsing.trace_folder; !folder.empty()) {
    page.trace = folder / (options.name + ".trace.json.gz");
  }
  // A browser that dies leaves those of an earlier run.
  if (!remove_stale_file(page.screenshot, "--screenshot") ||
      !remove_stale_file(page.trace, "--trace")) {
    return kExitFailed;
  }
  PageReport report{.page = {.outcome = LoadOutcome::kBrowserDied, .url = options.url}};
  PageLoad& load = report.page;
  auto const started = Browser::start(browser, &load.failure);
  if (!started && is_unusable(started.error())) {
    std::fprintf(stderr, "reprise: %s\n", printable(load.failure).c_str());
    return kExitFailed;
  }
  if (started) {
    report.browser.version = (*started)->version();
    report.browser.flags = (*started)->flags();
    load = (*started)->load(options.url, page);
  }
  std::error_code error;
  if (std::filesystem::is_regular_file(page.trace, error)) {
    load.trace = page.trace.string();
  }
  sum_up(load);
  if (!options.browsing.dom) {
    load.dom.reset();
  } else if (!load.dom) {
    load.dom.emplace();
  }
  if (auto const written = write_page_report(report, options.output); !written) {
    std::fprintf(stderr, "reprise: %s cannot be written: %s\n", options.output.c_str(),
                 written.error().message().c_str());
    return kExitFailed;
  }
  for (const std::string& file : load.unwritten_files) say(0, file);
  return load.unwritten_files.empty() ? int{kExitDone} : int{kExitFailed};
}

}  // namespace

void add_load_page_command(CLI::App& app, int& exit_code) {
  auto const options = std::make_shared<LoadPageOptions>();
  auto* const sub = add_command(app, "load-page", "Load one page once, for reprise load");
  sub->group("");  // hidden from users
  sub->add_option("URL", options->url)->required();
  sub->add_option("--browser", options->browser);
  sub->add_option("--cache", options->cache)->check(CLI::IsMember({"cold", "warm"}));
  sub->add_option("--replay-ready", options->ready_file, "Ready file of the replay");
  sub->add_option("--name", options->name, "Prefix of the files about this load");
  sub->add_option("-o,--output", options->output)->required();
  options->browsing.add_to(*sub);
  sub->callback([options, &exit_code] { exit_code = load_page(*options); });
}

}  // namespace reprise
