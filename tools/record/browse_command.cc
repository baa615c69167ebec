#include "tools/record/browse_command.h"

#include <utility>

#include "pageload/browser/launch.h"

namespace reprise {

std::vector<std::string> browse_command(const RecordOptions& options) {
  std::vector<std::string> command{"/proc/self/exe",
                                   "load",
                                   "--live",
                                   "--quiet",
                                   std::to_string(options.quiet_ms),
                                   "--settle",
                                   std::to_string(options.settle_ms),
                                   "--timeout",
                                   std::to_string(options.timeout_s)};
  if (!options.browser.empty()) {
    command.insert(command.end(), {"--browser", options.browser.string()});
  }
  for (const std::string& flag : options.browser_flags) {
    command.push_back("--chromium-flag=" + flag);
  }
  if (!options.device.empty()) command.insert(command.end(), {"--device", options.device});
  if (!options.load_report.empty()) {
    command.insert(command.end(), {"-o", options.load_report.string()});
  }
  command.insert(command.end(), options.urls.begin(), options.urls.end());
  command.insert(command.end(), {"--", "{chromium-flags}"});
  return command;
}

std::optional<CommandRefusal> refused_browser(const RecordOptions& options) {
  if (is_firefox(options.browser)) {
    return CommandRefusal{kExitUsage,
                          "record opens only Chromium itself. For other browsers use record ... -- "
                          "COMMAND"};
  }
  // With the user's rules a host would be loaded, but not recorded.
  auto const flag = misleading_flag(options.browser_flags, "--host-resolver-rules");
  if (!flag.empty()) {
    return CommandRefusal{kExitUsage,
                          flag +
                              " cannot be used with record: the browser reaches only the recorder, "
                              "and has a new profile. Use --connect-to or --upstream-proxy, or "
                              "start the browser yourself: record ... -- COMMAND"};
  }
  if (auto wrong = check_browser(options.browser); !wrong.empty()) {
    return CommandRefusal{kExitFailed, std::move(wrong)};
  }
  return std::nullopt;
}

}  // namespace reprise
