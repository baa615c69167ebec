#include "tools/load/load_options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "pageload/browser/launch.h"
#include "proxy/replay/response/schedule.h"
#include "tools/process/command_line.h"
#include "tools/process/interruption.h"
#include "tools/process/output_folder.h"

namespace reprise {
namespace {

/// Options that `load` passes to replay unchanged.
struct PassedOn {
  const char* flag;
  const char* type;  ///< null: without a value
  bool of_link = false;
};
constexpr std::array kPassedOn = {
    PassedOn{"--match", "fuzzy|exact"},
    PassedOn{"--ignore-param", "GLOB"},
    PassedOn{"--inject", "default|none|FILE"},
    PassedOn{"--time-seed", "TIME"},
    PassedOn{"--random-seed", "N"},
    PassedOn{"--clock", "MODE"},
    PassedOn{"--timezone", "NAME"},
    PassedOn{"--dates", "shift|recorded"},
    PassedOn{"--session", "N"},
    PassedOn{"--topology", "recorded|single"},
    PassedOn{"--dns-any", nullptr},
    PassedOn{"--dns-chains", nullptr},
    PassedOn{"--strict", nullptr},
    PassedOn{"--think-time", "none|recorded|MS|xF"},
    PassedOn{"--dns-time", "none|recorded|MS|xF"},
    PassedOn{"--origin-rtt", "none|recorded", true},
    PassedOn{"--link-seed", "N", true},
    PassedOn{"--congestion", "cubic|bbr|reno", true},
    PassedOn{"--realtime", nullptr, true},
    PassedOn{"--no-realtime", nullptr, true},
    PassedOn{"--keep-awake", nullptr, true},
    PassedOn{"--no-selfcheck", nullptr, true},
};
/// Those that change nothing that a page gets, or another thing each time.
constexpr std::string_view kOfTheMachine[] = {"--strict",      "--link-seed",  "--realtime",
                                              "--no-realtime", "--keep-awake", "--no-selfcheck"};
constexpr auto kReplayGroup = "Replay options (see reprise replay --help)";

void add_once(std::string value, std::vector<std::string>& all) {
  if (std::ranges::find(all, value) == all.end()) all.push_back(std::move(value));
}

/// All values of options that can each be a list; `usual` if there are none.
std::vector<std::string> values_of(const std::vector<std::string>& lists,
                                   const std::string& usual) {
  std::vector<std::string> all;
  for (const std::string& list : lists) {
    for (std::string& each : split_list(list)) add_once(std::move(each), all);
  }
  return all.empty() ? std::vector{usual} : all;
}

/// The first value that is not in `allowed`, or empty.
std::string stranger(const std::vector<std::string>& values,
                     std::initializer_list<std::string_view> allowed) {
  for (const std::string& value : values) {
    if (std::ranges::find(allowed, value) == allowed.end()) return value;
  }
  return {};
}

}  // namespace

void LoadOptions::add_to(CLI::App& command) {
  command.add_option("ARCHIVE URL...", arguments,
                     "Archive or folder of archives, and URLs of pages in it [the recorded start "
                     "URLs]; with --live, URLs only");
  command.add_flag("--live", live, "Load from the network, without an archive");
  command
      .add_option("--record-to", record_to,
                  "Record the pages into this archive first, then load them")
      ->type_name("FILE");
  command.add_option("--record-flag", record_flags, "Pass this argument to record")
      ->allow_extra_args(false);
  command
      .add_option("--runs", runs,
                  "Load each page in each combination this many times, with --budget at least "
                  "twice [1; 5 with --budget]")
      ->check(CLI::Range(1U, 100'000U));
  command
      .add_option("--budget", budget,
                  "Spend this time (90s, 20m, 1h): --runs loads of each, then more of those whose "
                  "load events vary most for the time that they take; for a folder of archives, on "
                  "all together")
      ->type_name("TIME");
  command
      .add_option("--warm-up", warm_ups,
                  "Load each this many times before, without counting [1; 0 with --runs 1]")
      ->check(CLI::Range(0U, 1000U));
  command
      .add_option("--seed", seed, "Seed for the order of all loads [random; written to the result]")
      ->check(seeds());
  command.add_option("-o,--output", output,
                     "Write the result here as JSON; - writes to standard output; for a folder of "
                     "archives, a folder");
  command
      .add_option(
          "--har", har_folder,
          "Write a HAR of each load, with its timings, to this folder: load-0001.har, for a "
          "folder of archives NAME-load-0001.har")
      ->type_name("DIR");
  auto const list = [&](const char* flag, std::vector<std::string>& values, const char* what) {
    command.add_option(flag, values, what)->allow_extra_args(false)->type_name("A,B");
  };
  list("--browser", browsers,
       "Use these browsers: chromium, firefox-esr, or paths of programs [chromium]");
  list("--protocol", protocols, "Use these protocols: recorded, h1, h2, h3, h3-known [recorded]");
  list("--link", links,
       "Emulate these links: none, or as for replay --link: wpt:4g, 9000/9000/170 [none]");
  list("--cache", caches, "Use a cold cache, or a warm one: the second load in one browser [cold]");
  browsing.add_to(command);
  command
      .add_option("--shaper", shaper,
                  "packet: run --link none in a separate network, too (otherwise it means "
                  "without a link, and --what-if rtt= needs one)")
      ->check(CLI::IsMember({"auto", "packet", "stream"}))
      ->group(kReplayGroup);
  command.add_option("--what-if", what_ifs, "Change the replay, such as 'type=script: defer'")
      ->allow_extra_args(false)
      ->type_name("'FILTER: ACTION'")
      ->group(kReplayGroup);
  for (const PassedOn& each : kPassedOn) {
    auto* const option =
        each.type == nullptr
            ? command.add_flag(each.flag, replay_switches[each.flag])
            : command.add_option(each.flag, replay_values[each.flag])->type_name(each.type);
    if (each.type != nullptr) option->allow_extra_args(false);
    option->group(kReplayGroup);
  }
  command.add_option("--replay-flag", replay_flags, "Pass this argument to replay")
      ->allow_extra_args(false)
      ->group(kReplayGroup);
}

std::filesystem::path LoadOptions::archive() const {
  if (live || arguments.empty()) return {};
  return record_to.empty() ? std::filesystem::path(arguments.front()) : record_to;
}

std::vector<std::string> LoadOptions::urls() const {
  bool const archive_first = !live && record_to.empty() && !arguments.empty();
  return {arguments.begin() + (archive_first ? 1 : 0), arguments.end()};
}

std::string LoadOptions::check_browsers() const {
  for (const std::string& browser : values_of(browsers, "chromium")) {
    if (auto wrong = check_browser(browser); !wrong.empty()) return wrong;
  }
  return {};
}

std::expected<std::vector<LoadCell>, std::string> LoadOptions::cells(
    const std::vector<std::string>& urls) const {
  std::vector<std::string> pages;
  for (const std::string& url : urls) add_once(url, pages);
  LoadSides const sides{.urls = std::move(pages),
                        .browsers = values_of(browsers, "chromium"),
                        .protocols = values_of(protocols, live ? "live" : "recorded"),
                        .links = values_of(links, "none"),
                        .caches = values_of(caches, "cold")};
  auto const unknown = stranger(sides.protocols, {"recorded", "h1", "h2", "h3", "h3-known"});
  if (!live && !unknown.empty()) {
    return std::unexpected("--protocol must be recorded, h1, h2, h3 or h3-known, not " + unknown);
  }
  if (auto const wrong = stranger(sides.caches, {"cold", "warm"}); !wrong.empty()) {
    return std::unexpected("--cache must be cold or warm, not " + wrong);
  }
  if (live && !what_ifs.empty()) return std::unexpected("--what-if needs an archive, not --live");
  if (live && (!protocols.empty() || !links.empty())) {
    return std::unexpected(
        "--protocol and --link cannot be used with --live. Use reprise shape to run any command "
        "behind a link");
  }
  for (const PassedOn& each : kPassedOn) {
    bool const is_given =
        each.type == nullptr ? replay_switches.at(each.flag) : !replay_values.at(each.flag).empty();
    if (live && is_given) {
      return std::unexpected(std::string(each.flag) + " needs an archive, not --live");
    }
  }
  if (live && (!shaper.empty() || !replay_flags.empty())) {
    return std::unexpected("--shaper and --replay-flag need an archive, not --live");
  }
  if (auto wrong = check_quiet(browsing.timeout_s, browsing.quiet_ms); !wrong.empty()) {
    return std::unexpected(std::move(wrong));
  }
  if (browsing.keep_open && !browsing.headed) {
    return std::unexpected("--keep-open needs --headed: nobody could close the browser");
  }
  if (auto const flag = misleading_flag(browsing.browser_flags); !live && !flag.empty()) {
    return std::unexpected(
        flag +
        " needs --live, not an archive: the browser reaches only the replay, and has a new "
        "profile. Or start it yourself: reprise replay ARCHIVE -- COMMAND");
  }
  for (const std::string& browser : sides.browsers) {
    if (is_firefox(browser) && !browsing.device.empty()) {
      return std::unexpected("--device is not available with Firefox");
    }
    if (is_firefox(browser) && browsing.cpu_throttle > 1) {
      return std::unexpected("--cpu-throttle is not available with Firefox");
    }
    if (is_firefox(browser) && !browsing.trace_folder.empty()) {
      return std::unexpected(
          "--trace is not available with Firefox; --har works with both browsers");
    }
  }
  return load_cells(sides);
}

std::optional<std::vector<std::string>> LoadOptions::replay_options() const {
  if (live) return std::nullopt;
  auto all = replay_flags;
  for (const PassedOn& each : kPassedOn) {
    if (std::ranges::find(kOfTheMachine, each.flag) != std::end(kOfTheMachine)) continue;
    if (each.type == nullptr) {
      if (replay_switches.at(each.flag)) all.emplace_back(each.flag);
      continue;
    }
    for (const std::string& value : replay_values.at(each.flag)) {
      all.push_back(std::string(each.flag) + "=" + value);
    }
  }
  std::ranges::sort(all);
  return all;
}

std::vector<std::string> LoadOptions::options_without_effect() const {
  auto const all = values_of(links, "none");
  if (shaper == "packet" || std::ranges::any_of(all, [](auto& link) { return link != "none"; })) {
    return {};
  }
  std::vector<std::string> given;
  for (const PassedOn& each : kPassedOn) {
    bool const has_value = each.type != nullptr && !replay_values.at(each.flag).empty();
    if (each.of_link && has_value) given.emplace_back(each.flag);
  }
  return given;
}

std::expected<void, std::string> LoadOptions::make_folders() const {
  for (const auto& folder : {browsing.screenshot_folder, browsing.trace_folder, har_folder}) {
    if (auto made = make_output_folder(folder); !made) return made;
  }
  return {};
}

WhatIfOptions LoadOptions::what_if() const {
  WhatIfOptions what_if{.texts = what_ifs, .ended = []() -> std::optional<int> {
                          if (!Interruption::was_asked()) return std::nullopt;
                          return Interruption::exit_code();
                        }};
  // replay checks what it is; this is what it will serve.
  for (const std::string& session : replay_values.at("--session")) {
    std::from_chars(session.data(), session.data() + session.size(), what_if.session);
  }
  // Of several the last one counts; --replay-flag can give one, too.
  const auto& think_times = replay_values.at("--think-time");
  auto const think = ThinkTime::parse(think_times.empty() ? "none" : think_times.back());
  what_if.has_think_times = !replay_flags.empty() || (think && think->has_any());
  if (replay_flags.empty()) what_if.protocols = values_of(protocols, "recorded");
  return what_if;
}

LoadSetup LoadOptions::setup(const WhatIfArchive& archive) const {
  LoadSetup setup{.archive = archive.path(),
                  .browsing_arguments = browsing.arguments(),
                  .stop = Interruption::was_asked};
  // One-time work of the replay is done before the page is requested.
  setup.replay_arguments.emplace_back("--warm");
  for (const PassedOn& each : kPassedOn) {
    auto& to = each.of_link ? setup.link_arguments : setup.replay_arguments;
    if (each.type == nullptr) {
      if (replay_switches.at(each.flag)) to.emplace_back(each.flag);
      continue;
    }
    for (const std::string& value : replay_values.at(each.flag)) {
      to.push_back(std::string(each.flag) + "=" + value);
    }
  }
  for (const std::string& condition : archive.condition_texts()) {
    setup.replay_arguments.push_back("--what-if=" + condition);
  }
  // What changes nothing with one of them changes something with another.
  bool const has_several = values_of(protocols, "recorded").size() > 1;
  if (has_several && !archive.condition_texts().empty()) {
    setup.replay_arguments.emplace_back("--idle-what-ifs");
  }
  if (!shaper.empty()) setup.link_arguments.push_back("--shaper=" + shaper);
  setup.packets = shaper == "packet";
  setup.favoured = !replay_switches.at("--no-realtime");
  setup.replay_arguments.insert(setup.replay_arguments.end(), replay_flags.begin(),
                                replay_flags.end());
  setup.time_limit = browsing.time_limit();
  return setup;
}

}  // namespace reprise
