#include "tools/load/load_start.h"

#include <algorithm>
#include <random>
#include <utility>

#include "archive/match/match.h"
#include "archive/reader.h"
#include "base/http/digest.h"
#include "shaper/profile.h"
#include "tools/archive/errors.h"
#include "tools/load/browsing_options.h"

namespace reprise {
namespace {

/// What is wrong with the first invalid one; empty if all are valid.
std::string wrong_page(const std::vector<std::string>& urls) {
  for (const std::string& url : urls) {
    if (auto wrong = check_page_url(url); !wrong.empty()) return wrong;
  }
  return {};
}

}  // namespace

std::expected<std::vector<std::string>, CommandRefusal> pages_to_load(
    const LoadOptions& options, const std::filesystem::path& archive) {
  auto urls = options.urls();
  if (auto wrong = wrong_page(urls); !wrong.empty()) {
    return std::unexpected(CommandRefusal{kExitUsage, std::move(wrong)});
  }
  if (!urls.empty() || options.live) return urls;
  auto const reader = ArchiveReader::open(archive, {});
  if (!reader) {
    return std::unexpected(
        CommandRefusal{kExitArchive, archive_error_text(archive, reader.error())});
  }
  auto const asked = options.what_if().session;
  if (!has_session(**reader, asked)) {
    return std::unexpected(CommandRefusal{kExitArchive, no_session_text(archive, asked)});
  }
  auto const number = asked != 0 ? asked : session_to_replay(**reader);
  for (const SessionInfo& session : (*reader)->sessions()) {
    if (session.number != number || session.pages.empty()) continue;
    auto const wrong = wrong_page(session.pages);
    if (wrong.empty()) return session.pages;
    return std::unexpected(
        CommandRefusal{kExitArchive, archive.string() + ": the recorded start URL " + wrong +
                                         ". Give the pages: reprise load ARCHIVE URL..."});
  }
  return std::unexpected(CommandRefusal{
      kExitUsage,
      archive.string() + " has no recorded start URLs. Give them: reprise load ARCHIVE URL..."});
}

LoadResult empty_result(const LoadOptions& options, const std::filesystem::path& archive) {
  auto const browser = options.browsing.browser();
  auto const page = options.browsing.page();
  LoadResult result{.archive = archive,
                    .machine = this_machine(),
                    .seed = options.seed.value_or(std::random_device()()),
                    .settings = {.timeout = page.timeout,
                                 .quiet = page.quiet,
                                 .settle = page.settle,
                                 .width = browser.width,
                                 .height = browser.height,
                                 .cpu_throttle = page.cpu_throttle,
                                 .device = options.browsing.device,
                                 .replay_options = options.replay_options()}};
  for (const Step& step : page.steps) result.settings.steps.push_back(to_string(step));
  if (!archive.empty()) result.archive_sha256 = sha256_hex_of_file(archive).value_or("");
  return result;
}

std::vector<WhatIfMade> what_ifs_made(const std::vector<whatif::Effect>& effects) {
  std::vector<WhatIfMade> all;
  for (const whatif::Effect& effect : effects) {
    auto& made = all.emplace_back(WhatIfMade{.text = effect.text,
                                             .selected = effect.selected,
                                             .changed = effect.changed,
                                             .places = {},
                                             .remarks = {}});
    for (auto const& [where, what] : effect.places) made.places.push_back({where, what});
    for (auto const& remark : effect.remarks) made.remarks.push_back(remark.text());
  }
  return all;
}

LoadSetup setup_of_run(LoadSetup setup, std::string_view link, std::uint64_t seed,
                       std::size_t run) {
  if (setup.archive.empty()) return setup;
  setup.replay_arguments.push_back("--think-seed=" + std::to_string(seed + run));
  bool const is_given = std::ranges::any_of(setup.link_arguments, [](const std::string& each) {
    return each.starts_with("--link-seed");
  });
  auto const profile = parse_link(link);
  if (!is_given && profile && (profile->down.has_chance() || profile->up.has_chance())) {
    setup.link_arguments.push_back("--link-seed=" + std::to_string(seed + (run + 1) / 2));
  }
  return setup;
}

}  // namespace reprise
