#include "tools/record/browse_command.h"

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

}  // namespace reprise
