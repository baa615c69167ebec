#pragma once

// Finds browsers, and the command line of Chromium. With these flags it makes no request and no
// look-up of its own; each was tested by experiment.

#include <boost/json/object.hpp>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pageload/browser/browser.h"

namespace reprise {

/// The absolute path of `wanted`. If it is empty or "chromium", of the first on PATH of chromium,
/// google-chrome, google-chrome-stable, chromium-browser and chromium-headless-shell. Returns
/// nullopt if it is not installed.
std::optional<std::filesystem::path> find_browser(const std::filesystem::path& wanted);

/// Why find_browser() finds no program that can be run: a sentence; empty if it does.
std::string check_browser(const std::filesystem::path& wanted);

/// Whether the program is a Firefox, by its name.
bool is_firefox(const std::filesystem::path& program);

/// The flags that prevent Chromium's own requests and look-ups, for any user of Chromium.
std::vector<std::string> quiet_flags();

/// Host and port.
using H3Origins = std::vector<std::pair<std::string, std::uint16_t>>;

/// Makes Chromium use HTTP/3 for the origins in `led` from the first request on, and for the hosts
/// in `offered` where they offer it; for both with a private authority. If they do not fit on a
/// command line with the other `flags`, for all: the result is then false, unless `led` is empty.
bool lead_to_h3(std::vector<std::string>& flags, const H3Origins& led,
                const std::set<std::string>& offered);

/// Firefox's preferences for the same, by name. `port`: of HTTP/3; 0: each origin's own.
boost::json::object firefox_h3_preferences(const H3Origins& led, std::uint16_t port);

/// The first of a user's `flags` that would lead Chromium past a replay or recorder, or to another
/// profile, or that is `other`; without its value, such as "--proxy-server". Empty if none is.
std::string misleading_flag(const std::vector<std::string>& flags, std::string_view other = {});

/// The command line without the program. Chromium uses only the last one of a flag that has a list,
/// such as --disable-features or --host-resolver-rules, so each is merged into one, in the order in
/// which they are given. Pure except for the uid (Chromium refuses to run its sandbox as root).
std::vector<std::string> browser_flags(const BrowserOptions& options,
                                       const std::filesystem::path& profile);

/// The browser's environment: HOME and the XDG folders are in `home`, so that the user's files are
/// neither read nor written.
std::vector<std::string> browser_environment(const std::filesystem::path& home);

}  // namespace reprise
