#pragma once

// What a replay serves, before anything listens.

#include <cstdint>
#include <expected>
#include <memory>

#include "archive/reader.h"
#include "tools/replay/replay_command.h"
#include "tools/serve/what_if.h"

namespace reprise {

struct OpenedReplay {
  WhatIfArchive what_if;
  std::unique_ptr<ArchiveReader> archive;  ///< as the what-ifs change it, with the session
};

/// Opens the archive of the options; the file of an imported or changed copy is removed at once.
/// `think_seed`: of think times that are drawn. The error is an exit code, whose message was
/// printed.
std::expected<OpenedReplay, int> open_replay(const ReplayOptions& options,
                                             std::uint64_t think_seed);

}  // namespace reprise
