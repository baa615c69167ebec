#include "tools/archive/retime.h"

#include <algorithm>
#include <cstdio>

#include "archive/edit/retime.h"
#include "archive/replace.h"
#include "base/text/counted.h"
#include "tools/archive/open.h"
#include "tools/commands.h"

namespace reprise {
namespace {

struct Retimed {
  std::size_t matched = 0;
  std::uint64_t changed = 0;
  std::uint64_t timeless = 0;
};

Result<Retimed> write_retimed(const ArchiveReader& from, const Filter& filter,
                              const ThinkTimeChange& change, ArchiveWriter& to) {
  auto const selection = ExchangeSelection::make(
      from, [&filter](const Exchange& exchange, std::uint32_t, std::size_t number) {
        return filter.takes(exchange, number);
      });
  if (!selection) return fail(selection.error());
  RetimedCopy copy(from, *selection, change, to);
  if (auto const copied = copy.run(); !copied) return fail(copied.error());
  return Retimed{
      .matched = selection->count(), .changed = copy.changed(), .timeless = copy.timeless()};
}

Result<Retimed> retime_in_place(const std::filesystem::path& path, const Filter& filter,
                                const ThinkTimeChange& change) {
  auto replacement = Replacement::begin(path, ".editing");
  if (!replacement) return fail(replacement.error());
  auto const done = write_retimed(replacement->original(), filter, change, replacement->target());
  if (!done || done->changed == 0) return done;
  if (auto const moved = replacement->commit({}); !moved) return fail(moved.error());
  return done;
}

/// The error is an exit code.
std::expected<Retimed, int> retime_into(const RetimeArguments& arguments, const Filter& filter,
                                        const ThinkTimeChange& change) {
  auto const from = open_with_remarks(arguments.archive);
  if (!from) return std::unexpected(kExitArchive);
  auto to = NewArchive::make(arguments.output);
  if (!to) return std::unexpected(kExitArchive);
  auto const done = write_retimed(*from->reader, filter, change, to->writer());
  if (!done) {
    auto const is_source =
        done.error() == archive_errc::corrupt || from->reader->report().facts_ignored;
    return std::unexpected(say_unusable(is_source ? from->path : to->path(), done.error()));
  }
  if (done->changed == 0) return *done;  // an unfinished archive is removed
  if (auto const exit_code = to->finish(); exit_code != kExitDone) {
    return std::unexpected(exit_code);
  }
  return *done;
}

bool is_number(const std::string& text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

int retime(const RetimeArguments& arguments) {
  auto const change = ThinkTimeChange::parse(arguments.think_time);
  if (!change) {
    std::fprintf(stderr,
                 "reprise: --think-time must be a time or a change such as 30ms, +30ms, -30ms or "
                 "x1.5, at most one day\n");
    return kExitUsage;
  }
  auto const filter =
      parse_filter(is_number(arguments.which) ? "number=" + arguments.which : arguments.which);
  if (!filter) return kExitUsage;
  Retimed done;
  if (arguments.output.empty()) {
    if (!open_with_remarks(arguments.archive)) return kExitArchive;
    auto const retimed = retime_in_place(arguments.archive, *filter, *change);
    if (!retimed) return say_unusable(arguments.archive, retimed.error());
    done = *retimed;
  } else {
    auto const retimed = retime_into(arguments, *filter, *change);
    if (!retimed) return retimed.error();
    done = *retimed;
  }
  if (done.timeless > 0) {
    std::fprintf(stderr, "%s without times not changed\n",
                 counted(done.timeless, "exchange").c_str());
  }
  if (done.matched == 0) {
    std::fprintf(stderr, "reprise: no exchange of %s matches: nothing was written\n",
                 arguments.archive.c_str());
    return kExitFailed;
  }
  if (done.changed == 0) {
    std::fprintf(stderr, "reprise: no think time in %s changed: nothing was written\n",
                 arguments.archive.c_str());
    return kExitFailed;
  }
  std::fprintf(stderr,
               "edited %s: the think time of %s. `replay --think-time recorded` waits "
               "that long\n",
               (arguments.output.empty() ? arguments.archive : arguments.output).c_str(),
               counted(done.changed, "exchange").c_str());
  return kExitDone;
}

}  // namespace reprise
