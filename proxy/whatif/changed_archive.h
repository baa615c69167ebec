#pragma once

// A copy of one session of an archive in which responses are different. The recording stays as it
// is.

#include <cstdint>
#include <expected>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "archive/reader.h"
#include "proxy/whatif/effect.h"
#include "proxy/whatif/intervention.h"

namespace reprise::whatif {

/// Writes session `session` of `from` to the new file `to`, as changed by those of `interventions`
/// that are no conditions. Filters see the recording, whatever other interventions change. An order
/// has no effect, except that of two which set the same thing of a response the later one counts.
/// Damaged exchanges are skipped. Returns one effect for each intervention, in their
/// order; those of conditions are empty. Asks `stop`, if given, before each exchange. Errors: the
/// archive's and the file's; operation_canceled when `stop` returned true.
Result<std::vector<Effect>> write_changed_archive(const ArchiveReader& from, std::uint32_t session,
                                                  std::span<const Intervention> interventions,
                                                  const std::filesystem::path& to,
                                                  const std::function<bool()>& stop = {});

}  // namespace reprise::whatif
