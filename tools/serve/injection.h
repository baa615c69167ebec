#pragma once

// --inject and the options that belong to it, for `record` and `replay`.

#include <boost/json/object.hpp>
#include <chrono>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "archive/exchange.h"
#include "inject/deterministic.h"
#include "inject/rewrite.h"
#include "proxy/replay/replay_session.h"

namespace CLI {
class App;
}

namespace reprise {

struct InjectionOptions {
  std::vector<std::string> inject = {"default"};  ///< "default", "none", or files
  std::string time_seed;
  std::optional<std::uint64_t> random_seed;
  std::string clock;
  std::string time_zone;
  std::string script_in = "documents";  ///< "documents" or "browser"
  /// Not on our command line: what users know the option as that gives files.
  std::string option = "--inject";
  /// Not on our command line: changes the text of each file before it is injected.
  std::function<std::string(std::string, const inject::PageSettings&)> adapt;

  void add_to(CLI::App& command);
};

struct Injection {
  std::optional<inject::InjectedScript> script;  ///< nothing: no script
  inject::PageSettings settings;
  std::vector<std::string> files;  ///< given by the user
  /// What the browser runs before each document; empty if the script is in the documents.
  std::string browser_script;
};

/// Makes the script from the options, with defaults from the recorded or replayed session: its
/// clock, its seed and its time zone. `date_shift`: by which a replay moves dates. The error is an
/// exit code; its message has been printed.
std::expected<Injection, int> make_injection(const InjectionOptions& options,
                                             const SessionInfo& session,
                                             std::chrono::seconds date_shift = {});

/// For the report of a replay.
boost::json::object injection_json(const Injection& injection, const ReplayReport& report);
/// "the script is in 3 responses, +10.2 KB".
std::string injected_text(std::uint64_t responses, std::int64_t bytes);

}  // namespace reprise
