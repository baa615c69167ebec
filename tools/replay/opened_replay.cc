#include "tools/replay/opened_replay.h"

#include <cstdio>
#include <optional>
#include <string>
#include <utility>

#include "archive/match/match.h"
#include "tools/archive/errors.h"
#include "tools/archive/given_archive.h"
#include "tools/commands.h"
#include "tools/process/process_signals.h"

namespace reprise {
namespace {

/// The exit code of a command that a pending signal is to end; nothing without one.
std::optional<int> exit_code_of_waiting_signal() {
  auto const number = waiting_signal();
  return number ? std::optional(128 + *number) : std::nullopt;
}

}  // namespace

std::expected<OpenedReplay, int> open_replay(const ReplayOptions& options,
                                             std::uint64_t think_seed) {
  auto given = GivenArchive::take(options.archive);
  if (given && options.amend) given = GivenArchive::amended(*given, options.amend);
  if (!given) return std::unexpected(given.error());
  auto const think = ThinkTime::parse(options.think_time).value_or(ThinkTime());
  auto what_if = WhatIfArchive::make(given->path(), {.texts = options.what_ifs,
                                                     .session = options.session,
                                                     .seed = think_seed,
                                                     .has_think_times = think.has_any(),
                                                     .protocols = {options.protocol},
                                                     .may_be_idle = options.idle_what_ifs,
                                                     .ended = exit_code_of_waiting_signal});
  if (!what_if) {
    std::fprintf(stderr, "reprise: %s\n", what_if.error().text.c_str());
    return std::unexpected(what_if.error().exit_code);
  }
  auto archive = ArchiveReader::open(what_if->path(), {.populate = true});
  given->remove_copy();
  what_if->remove_copy();
  if (!archive) {
    std::fprintf(stderr, "reprise: %s\n",
                 archive_error_text(options.archive, archive.error()).c_str());
    return std::unexpected(int{kExitArchive});
  }
  for (const std::string& remark : (*archive)->report().remarks) {
    std::fprintf(stderr, "reprise: %s: %s\n", options.archive.c_str(), remark.c_str());
  }
  if (!has_session(**archive, options.session)) {
    std::fprintf(stderr, "reprise: %s\n",
                 no_session_text(options.archive, options.session).c_str());
    return std::unexpected(int{kExitArchive});
  }
  return OpenedReplay{.what_if = std::move(*what_if), .archive = std::move(*archive)};
}

}  // namespace reprise
