#pragma once

// The command line of Web Page Replay's `wpr`, old and new. Pure.

#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::wpr {

enum class Verb : std::uint8_t { kHelp, kRecord, kReplay, kInstallRoot, kRemoveRoot };

/// The values of the flags; lists are separated by commas on the command line.
struct Flags {
  std::string host = "localhost";
  int http_port = -1;  ///< -1: off; 0: any
  int https_port = -1;
  std::vector<std::string> cert_files;  ///< PEM; empty: those of the current folder
  std::vector<std::string> key_files;   ///< as many, in the same order
  /// Nothing: the flag was not given, which means deterministic.js in the current folder.
  std::optional<std::vector<std::string>> inject_scripts;
  bool html_injection = true;
  std::string constant_random;  ///< what Math.random() returns; empty: not fixed
  std::string ignored_param;    ///< "URL_PREFIX::NAME"
  std::string rules_file;
  std::vector<std::string> scripts_by_url;  ///< "SCRIPT::URL_PATTERN"
  bool chronological = false;
  bool exact_urls = false;
  bool quiet = false;
  std::string log_level;
  bool own_clock = false;      ///< our script instead of theirs
  bool allow_private = false;  ///< as of `reprise record`
  bool old_lines = false;      ///< the lines as of Catapult's wpr: on stderr, with a date
};

struct CommandLine {
  Verb verb = Verb::kHelp;
  Flags flags;
  std::string archive;  ///< of record and replay
};

/// Parses the words after the program's name. Flags are in snake or kebab case, with one or two
/// dashes, their value after '=' or in the next word; they can follow the archive, too. The error
/// is a sentence without the program's name.
std::expected<CommandLine, std::string> parse(std::span<const std::string> words);

/// The help. `program`: as typed.
std::string usage(std::string_view program);

}  // namespace reprise::wpr
