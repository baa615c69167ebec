#pragma once

// How browsers are found, and Chromium is started. The flags are those under which it makes no
// request and no look-up of its own, each tried by experiment.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "pageload/browser/browser.h"

namespace reprise {

/// The absolute path of `wanted`, or of the first known browser on PATH when it is empty.
/// nullopt when there is none.
std::optional<std::filesystem::path> find_browser(const std::filesystem::path& wanted);

/// Whether the program is a Firefox, by its name.
bool is_firefox(const std::filesystem::path& program);

/// The flags that keep Chromium from making requests and look-ups of its own, whoever starts it.
std::vector<std::string> quiet_flags();

/// The whole command line but for the program. Chromium heeds only the last --disable-features and
/// --enable-features, so each is merged into one. Pure but for the uid (Chromium refuses its
/// sandbox to root).
std::vector<std::string> browser_flags(const BrowserOptions& options,
                                       const std::filesystem::path& profile);

/// The browser's environment: HOME and the XDG folders lie in `home`, so that nothing of the user's
/// is read or written.
std::vector<std::string> browser_environment(const std::filesystem::path& home);

}  // namespace reprise
