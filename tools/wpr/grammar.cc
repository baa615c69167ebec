#include "tools/wpr/grammar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <variant>

namespace reprise::wpr {
namespace {

using Text = std::string Flags::*;
using Number = int Flags::*;
using Switch = bool Flags::*;
using List = std::vector<std::string> Flags::*;
using OptionalList = std::optional<std::vector<std::string>> Flags::*;
/// A list whose flag can be repeated.
struct Repeated {
  List list;
};
/// A switch that changes nothing here.
struct Ignored {};
/// A flag of the tool that this one does not have, unless its value is `harmless`.
struct Refused {
  std::string_view why;
  std::string_view harmless;
  bool is_switch = false;
};
using Place = std::variant<Text, Number, Switch, List, Repeated, OptionalList, Ignored, Refused>;

constexpr unsigned kRecord = 1;
constexpr unsigned kReplay = 2;
constexpr unsigned kRoots = 4;
constexpr unsigned kServing = kRecord | kReplay;
constexpr unsigned kAll = kServing | kRoots;

struct Flag {
  std::string_view name;  ///< in snake case
  unsigned verbs;
  Place place;
  std::string_view help;  ///< empty: not listed
};

constexpr std::string_view kNoShaping =
    "the network is not imitated in the server. Use `reprise replay --link` for a real link";
constexpr std::string_view kNoAndroid = "Android devices are not supported. Use adb yourself";

constexpr std::array kFlags = {
    Flag{"host", kServing, &Flags::host, "address of the listeners [localhost]"},
    Flag{"http_port", kServing, &Flags::http_port, "port for HTTP; 0: any; -1: off [-1]"},
    Flag{"https_port", kServing, &Flags::https_port, "port for HTTPS; 0: any; -1: off [-1]"},
    Flag{"https_cert_file", kAll, &Flags::cert_files,
         "root certificates, PEM, separated by commas [wpr_cert.pem,ecdsa_cert.pem]"},
    Flag{"https_key_file", kAll, &Flags::key_files, "their keys [wpr_key.pem,ecdsa_key.pem]"},
    Flag{"inject_scripts", kServing, &Flags::inject_scripts,
         "scripts to inject, separated by commas; empty: none [deterministic.js]"},
    Flag{"html_injection", kServing, &Flags::html_injection,
         "inject the scripts into documents [true]"},
    Flag{"constant_math_random_result", kServing, &Flags::constant_random,
         "let Math.random() return this number"},
    Flag{"param_to_ignore_in_url_path", kServing, &Flags::ignored_param,
         "URL::NAME: ignore this query parameter of URLs that begin with URL"},
    Flag{"rules_file", kReplay, &Flags::rules_file,
         "JSON: header fields and scripts to add to responses"},
    Flag{"inject_script_by_url", kReplay, Repeated{&Flags::scripts_by_url},
         "SCRIPT::PATTERN: inject this script into documents whose URL matches"},
    Flag{"serve_response_in_chronological_sequence", kReplay, &Flags::chronological,
         "answer the n-th request for a URL with its n-th response"},
    Flag{"disable_fuzzy_url_matching", kReplay, &Flags::exact_urls, "answer only exact URLs"},
    Flag{"quiet_mode", kReplay, &Flags::quiet, "log only errors"},
    Flag{"log_level", kServing, &Flags::log_level, "DEBUG, INFO, WARN or ERROR"},
    Flag{"allow_private", kRecord, &Flags::allow_private,
         "let pages of public hosts reach private addresses, too, as Web Page Replay does"},
    Flag{"reprise_clock", kServing, &Flags::own_clock,
         "inject the script of reprise instead of deterministic.js"},
    Flag{"reprise_old_lines", kServing, &Flags::old_lines,
         "print \"Starting server on\" on stderr with a date, as Catapult's wpr does"},
    Flag{"certutil_path", kRoots,
         Refused{.why = "certutil is looked up on PATH", .harmless = "certutil"}, ""},
    Flag{"no_archive_certificates", kServing, Ignored(), ""},
    Flag{"relative_timestamps", kServing, Ignored(), ""},
    Flag{"https_to_http_port", kServing,
         Refused{.why = "a proxy inside TLS is not supported. Use `reprise replay --proxy`",
                 .harmless = "-1"},
         ""},
    Flag{"enable_experimental_timed_chunk", kRecord,
         Refused{.why = "NOTIMPLEMENTED. Recordings in .reprise keep the times of all chunks",
                 .harmless = "false",
                 .is_switch = true},
         ""},
    Flag{"js_injection", kServing,
         Refused{.why = "scripts are not injected into other scripts",
                 .harmless = "false",
                 .is_switch = true},
         ""},
    Flag{"inject_archive_scripts", kServing,
         Refused{.why = "scripts inside a .wprgo are not read. Use --inject_scripts",
                 .harmless = "false"},
         ""},
    Flag{"android_device_id", kRoots, Refused{.why = kNoAndroid, .harmless = ""}, ""},
    Flag{"adb_binary_path", kRoots, Refused{.why = kNoAndroid, .harmless = "adb"}, ""},
};

unsigned bit_of(Verb verb) {
  if (verb == Verb::kRecord) return kRecord;
  return verb == Verb::kReplay ? kReplay : kRoots;
}

std::optional<Verb> verb_of(std::string_view word) {
  if (word == "record") return Verb::kRecord;
  if (word == "replay") return Verb::kReplay;
  if (word == "installroot") return Verb::kInstallRoot;
  if (word == "removeroot") return Verb::kRemoveRoot;
  if (word == "help" || word == "h" || word == "--help" || word == "-h") return Verb::kHelp;
  return std::nullopt;
}

std::string in_snake_case(std::string_view name) {
  std::string text(name);
  std::ranges::replace(text, '-', '_');
  return text;
}

bool takes_no_word(const Place& place) {
  if (auto const* const refused = std::get_if<Refused>(&place)) return refused->is_switch;
  return std::holds_alternative<Switch>(place) || std::holds_alternative<Ignored>(place);
}

std::optional<bool> truth_of(std::string_view text) {
  constexpr std::array<std::string_view, 6> kTrue = {"true", "1", "t", "T", "TRUE", "True"};
  constexpr std::array<std::string_view, 6> kFalse = {"false", "0", "f", "F", "FALSE", "False"};
  if (std::ranges::find(kTrue, text) != kTrue.end()) return true;
  if (std::ranges::find(kFalse, text) != kFalse.end()) return false;
  return std::nullopt;
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    auto const end = std::min(text.find(','), text.size());
    if (end > 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

/// Stores values into the flags; returns the problem, or nothing.
struct Store {
  Flags& flags;
  const std::string& value;

  std::string operator()(Text place) const {
    flags.*place = value;
    return {};
  }
  std::string operator()(Number place) const {
    int number = 0;
    auto const* const end = value.data() + value.size();
    auto const [stop, error] = std::from_chars(value.data(), end, number);
    if (error != std::errc() || stop != end) return "'" + value + "' is not a number";
    flags.*place = number;
    return {};
  }
  std::string operator()(Switch place) const {
    auto const truth = truth_of(value);
    if (!truth) return "'" + value + "' is neither true nor false";
    flags.*place = *truth;
    return {};
  }
  std::string operator()(List place) const {
    flags.*place = split(value);
    return {};
  }
  std::string operator()(Repeated place) const {
    for (std::string& each : split(value)) (flags.*place.list).push_back(std::move(each));
    return {};
  }
  std::string operator()(OptionalList place) const {
    flags.*place = split(value);
    return {};
  }
  std::string operator()(Ignored) const {
    return truth_of(value) ? "" : "'" + value + "' is neither true nor false";
  }
  std::string operator()(const Refused& flag) const {
    return value == flag.harmless ? std::string() : std::string(flag.why);
  }
};

constexpr int kPortMax = 65'535;

/// What is wrong with a command line whose words are all known; nothing if it is complete.
std::string check(const CommandLine& line) {
  auto const& flags = line.flags;
  if (flags.cert_files.size() != flags.key_files.size()) {
    return "--https_cert_file and --https_key_file must list as many files";
  }
  if (line.verb != Verb::kRecord && line.verb != Verb::kReplay) {
    return line.archive.empty() ? "" : "too many args";
  }
  if (line.archive.empty()) return "must specify archive_file";
  if (flags.http_port == -1 && flags.https_port == -1) return "must specify at least one port flag";
  for (int const port : {flags.http_port, flags.https_port}) {
    if (port < -1 || port > kPortMax) return std::to_string(port) + " is not a port";
  }
  return {};
}

class Parser {
 public:
  explicit Parser(std::span<const std::string> words) : words_(words) {}

  std::expected<CommandLine, std::string> parse() {
    if (words_.empty()) return CommandLine();
    auto const verb = verb_of(words_.front());
    if (!verb) return std::unexpected("unknown command '" + words_.front() + "'");
    line_.verb = *verb;
    words_ = words_.subspan(1);
    while (!words_.empty() && line_.verb != Verb::kHelp) {
      auto const word = words_.front();
      words_ = words_.subspan(1);
      if (auto wrong = take(word); !wrong.empty()) return std::unexpected(std::move(wrong));
    }
    if (line_.verb == Verb::kHelp) return CommandLine();
    if (auto wrong = check(line_); !wrong.empty()) return std::unexpected(std::move(wrong));
    return line_;
  }

 private:
  std::string take(const std::string& word) {
    if (word == "--" && !flags_ended_) {
      flags_ended_ = true;
      return {};
    }
    if (!flags_ended_ && word.size() > 1 && word.starts_with('-')) return take_flag(word);
    if (!line_.archive.empty()) return "too many args";
    line_.archive = word;
    return {};
  }

  std::string take_flag(std::string_view word) {
    auto const dashed = word;
    word.remove_prefix(word.starts_with("--") ? 2 : 1);
    auto const equals = word.find('=');
    auto const name = in_snake_case(word.substr(0, equals));
    if (name == "help" || name == "h") {
      line_.verb = Verb::kHelp;
      return {};
    }
    auto const* const flag = std::ranges::find_if(kFlags, [&](const Flag& each) {
      return each.name == name && (each.verbs & bit_of(line_.verb)) != 0;
    });
    if (flag == kFlags.end()) {
      return "flag provided but not defined: " + std::string(dashed.substr(0, dashed.find('=')));
    }
    std::string value = "true";
    if (equals != std::string_view::npos) {
      value = word.substr(equals + 1);
    } else if (!takes_no_word(flag->place)) {
      if (words_.empty()) return "flag needs an argument: --" + name;
      value = words_.front();
      words_ = words_.subspan(1);
    }
    auto const wrong = std::visit(Store{.flags = line_.flags, .value = value}, flag->place);
    return wrong.empty() ? wrong : "--" + name + ": " + wrong;
  }

  std::span<const std::string> words_;
  CommandLine line_;
  bool flags_ended_ = false;
};

}  // namespace

std::expected<CommandLine, std::string> parse(std::span<const std::string> words) {
  // The shaping of the new tool has many flags, all of the same answer.
  for (const std::string& word : words) {
    auto const name = in_snake_case(word.substr(0, word.find('=')));
    if (name.starts_with("__network_") || name.starts_with("_network_")) {
      return std::unexpected(word + ": " + std::string(kNoShaping));
    }
  }
  return Parser(words).parse();
}

std::string usage(std::string_view program) {
  auto const name = std::string(program);
  std::string text = "Web Page Replay's command line, by reprise\n\nUsage:\n  " + name +
                     " record|replay [flags] ARCHIVE\n  " + name +
                     " installroot|removeroot [flags]\n\nFlags, in snake or kebab case:\n";
  for (const Flag& flag : kFlags) {
    if (flag.help.empty()) continue;
    text += "  --" + std::string(flag.name) + "\n        " + std::string(flag.help) + "\n";
  }
  return text;
}

}  // namespace reprise::wpr
