#pragma once

// The steps before the first load, for `reprise load` and each side of `reprise gate`.

#include <expected>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "pageload/results/load_result.h"
#include "tools/commands.h"
#include "tools/load/load_options.h"

namespace reprise {

/// The requested pages; by default those with which the replayed session was started. Refuses those
/// that check_page_url() does: kExitUsage, or of a recording kExitArchive; and, to find recorded
/// ones, an archive without that session: kExitArchive.
std::expected<std::vector<std::string>, CommandRefusal> pages_to_load(
    const LoadOptions& options, const std::filesystem::path& archive);

/// A result without loads.
LoadResult empty_result(const LoadOptions& options, const std::filesystem::path& archive);

/// What `--what-if` changed, for a result.
std::vector<WhatIfMade> what_ifs_made(const std::vector<whatif::Effect>& effects);

/// `setup` for one run over `link`: think times that a what-if draws, and the packets that the link
/// loses, are the same in every measurement with the same seed. Each seed of a link is that of two
/// runs, so that what one seed is for A can be compared with what it is for B.
LoadSetup setup_of_run(LoadSetup setup, std::string_view link, std::uint64_t seed, std::size_t run);

}  // namespace reprise
