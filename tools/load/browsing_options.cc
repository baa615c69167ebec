#include "tools/load/browsing_options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/system/text_file.h"
#include "base/text/printable.h"
#include "pageload/run/load_run.h"
#include "tools/process/command_line.h"

namespace fs = std::filesystem;

namespace reprise {
namespace {

constexpr int kSideMax = 16'384;  // px, the limit of a texture

/// Width and height; 0 and 0 if it is not WxH.
std::pair<int, int> size_of(std::string_view text) {
  int width = 0;
  int height = 0;
  auto const* const end = text.data() + text.size();
  auto const [cross, error] = std::from_chars(text.data(), end, width);
  if (error != std::errc() || cross == end || *cross != 'x') return {};
  auto const [rest, wrong] = std::from_chars(cross + 1, end, height);
  bool const fits = width > 0 && width <= kSideMax && height > 0 && height <= kSideMax;
  return wrong == std::errc() && rest == end && fits ? std::pair(width, height) : std::pair(0, 0);
}

std::string check_size(const std::string& text) {
  return size_of(text).first > 0 ? "" : "not WIDTHxHEIGHT in pixels, such as 1280x800: " + text;
}

constexpr std::uintmax_t kStepsBytesMax = 16 << 20;

std::vector<Step> steps_in(const std::string& path) {
  auto const text = read_text_file(path, kStepsBytesMax);
  if (!text) throw CLI::ValidationError(path, text.error().message());
  auto steps = parse_steps(*text);
  if (!steps) throw CLI::ValidationError(path, steps.error());
  return std::move(*steps);
}

constexpr auto kNoDisplay =
    "there is no display: neither DISPLAY nor WAYLAND_DISPLAY is set. Run it in a desktop session, "
    "or by xvfb-run";

bool has_display() {
  return std::ranges::any_of(std::array{"DISPLAY", "WAYLAND_DISPLAY"}, [](const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr && *value != '\0';
  });
}

constexpr auto kManifest = "manifest.json";

/// The extension of that name beside this program, as built, or where it is installed.
fs::path own_extension(const std::string& name) {
  std::error_code error;
  auto const program = fs::read_symlink("/proc/self/exe", error).parent_path();
  auto const built = program / "extension";
  if (fs::exists(built / kManifest, error)) return built;
  return program.parent_path() / "share/reprise" / name;
}

fs::path extension_in(const std::string& name) {
  std::error_code error;
  auto const folder = name == "trench" ? own_extension(name) : fs::absolute(name, error);
  if (fs::is_regular_file(folder / kManifest, error)) return folder;
  throw CLI::ValidationError("--extension", folder.string() + " has no " + kManifest);
}

}  // namespace

std::string check_page_url(const std::string& url) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    auto const same = [](char a, char b) { return (a | 0x20) == b || a == b; };
    bool const has = std::ranges::equal(url.substr(0, scheme.size()), scheme, same);
    if (has && url.size() > scheme.size()) return {};
  }
  return "'" + printable(url) + "' is not the URL of a page, such as https://www.example.org/";
}

std::string check_quiet(unsigned timeout_s, unsigned quiet_ms) {
  if (std::chrono::seconds(timeout_s) > std::chrono::milliseconds(quiet_ms)) return {};
  return "--timeout must be longer than --quiet (" + std::to_string(quiet_ms) + " ms)";
}

CLI::Option* add_device_option(CLI::App& command, std::string& device) {
  return command
      .add_option("--device", device,
                  "Pretend to be this device, such as 'Pixel 9': its screen, User-Agent, client "
                  "hints and touch; reprise profiles lists them (Chromium only)")
      ->check([](const std::string& name) {
        return device_called(name) != nullptr
                   ? std::string()
                   : "'" + printable(name) + "' is not a known device; reprise profiles lists them";
      })
      ->type_name("NAME");
}

void BrowsingOptions::add_to(CLI::App& command) {
  command
      .add_option("--timeout", timeout_s,
                  "Give up a page after this many seconds; must be longer than --quiet")
      ->check(CLI::Range(1U, 86'400U))
      ->capture_default_str();
  command
      .add_option(
          "--quiet", quiet_ms,
          "End the load after this many ms without requests; below 2000 there is no Last Load Time")
      ->check(CLI::Range(0U, 3'600'000U))
      ->capture_default_str();
  command
      .add_option("--settle", settle_ms,
                  "Navigate once the browser has been idle for this many ms in an empty page, "
                  "10 s at most; 0: at once")
      ->check(CLI::Range(0U, 60'000U))
      ->capture_default_str();
  auto* const size = command.add_option("--viewport", viewport, "Set the page size in CSS pixels")
                         ->check(CLI::Validator(check_size, "WxH"))
                         ->capture_default_str();
  add_device_option(command, device)->excludes(size);
  command
      .add_option("--cpu-throttle", cpu_throttle,
                  "Slow down the processor by this factor (Chromium only)")
      ->check(numbers_between(1.0, 1000.0))
      ->capture_default_str();
  command.add_option("--screenshot", screenshot_folder, "Write a PNG of each load to this folder")
      ->type_name("DIR");
  command
      .add_option(
          "--trace", trace_folder,
          "Write the browser's trace of each load to this folder (Chromium only; slows the loads)")
      ->type_name("DIR");
  command
      .add_option_function<std::string>(
          "--steps",
          [this](const std::string& path) {
            steps_file = path;
            steps = steps_in(path);
          },
          "Act as a user once the page is quiet: a file with a JSON array of {\"click\": "
          "SELECTOR}, {\"type\": TEXT, \"into\": SELECTOR}, {\"wait\": SELECTOR or MS}")
      ->type_name("FILE");
  command.add_option("--ca", authority, "Trust the authority in this PEM file, too");
  command.add_flag_function(
      "--headed",
      [this](std::int64_t) {
        if (!has_display()) throw CLI::ValidationError("--headed", kNoDisplay);
        headed = true;
      },
      "Show the browser");
  command
      .add_option_function<std::vector<std::string>>(
          "--extension",
          [this](const std::vector<std::string>& names) {
            for (const std::string& name : names) extensions.push_back(extension_in(name));
          },
          "Load this browser extension, unpacked: a folder, or trench, the panel that shows what "
          "servers did")
      ->allow_extra_args(false)
      ->type_name("DIR|trench");
  command.add_flag("--keep-open", keep_open,
                   "Leave the browser open after each load until it is closed (with --headed)");
  command.add_flag("--no-bodies", no_bodies, "Do not read bodies back to compute their digests");
  command.add_flag("--dom", dom, "Include the documents' text in the result");
  command
      .add_option("--chromium-flag", browser_flags,
                  "Pass this flag to the browser; arguments after -- are passed, too")
      ->allow_extra_args(false);
}

std::vector<std::string> BrowsingOptions::arguments() const {
  std::vector<std::string> all{
      "--timeout=" + std::to_string(timeout_s), "--quiet=" + std::to_string(quiet_ms),
      "--settle=" + std::to_string(settle_ms), "--cpu-throttle=" + std::to_string(cpu_throttle)};
  all.push_back(device.empty() ? "--viewport=" + viewport : "--device=" + device);
  if (!screenshot_folder.empty()) all.push_back("--screenshot=" + screenshot_folder.string());
  if (!trace_folder.empty()) all.push_back("--trace=" + trace_folder.string());
  if (!steps_file.empty()) all.push_back("--steps=" + steps_file.string());
  if (!authority.empty()) all.push_back("--ca=" + authority.string());
  if (headed) all.emplace_back("--headed");
  for (auto const& extension : extensions) all.push_back("--extension=" + extension.string());
  if (keep_open) all.emplace_back("--keep-open");
  if (no_bodies) all.emplace_back("--no-bodies");
  if (dom) all.emplace_back("--dom");
  for (const std::string& flag : browser_flags) all.push_back("--chromium-flag=" + flag);
  return all;
}

BrowserOptions BrowsingOptions::browser() const {
  BrowserOptions options;
  options.extra_flags = browser_flags;
  options.authority = authority;
  options.headless = !headed;
  options.keep_open = keep_open;
  options.extensions = extensions;
  std::tie(options.width, options.height) = size_of(viewport);
  if (auto const* const known = device_called(device)) {
    std::tie(options.width, options.height) = std::pair(known->width, known->height);
  }
  return options;
}

PageOptions BrowsingOptions::page() const {
  PageOptions options;
  options.timeout = std::chrono::seconds(timeout_s);
  options.quiet = std::chrono::milliseconds(quiet_ms);
  options.settle = std::chrono::milliseconds(settle_ms);
  options.cpu_throttle = cpu_throttle;
  options.fetch_bodies = !no_bodies;
  if (auto const* const known = device_called(device)) options.device = *known;
  options.steps = steps;
  options.keep_open = keep_open;
  return options;
}

std::chrono::seconds BrowsingOptions::time_limit() const {
  if (keep_open) return std::chrono::hours(24);
  std::chrono::seconds const timeout(timeout_s);
  auto limit = load_time_limit(timeout);
  for (const Step& step : steps) {
    bool const pauses = step.kind == Step::Kind::kPause;
    limit += pauses ? std::chrono::ceil<std::chrono::seconds>(step.pause) : timeout;
  }
  // After the last step, until the page is quiet again.
  if (!steps.empty()) limit += timeout;
  return limit;
}

}  // namespace reprise
