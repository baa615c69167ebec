#pragma once

#include "tools/wpr/grammar.h"

namespace reprise::wpr {

/// Records into the archive of `line`, which is overwritten. A name that ends in .reprise gets our
/// format, any other a .wprgo: the recording is in ARCHIVE.reprise until it is whole, so that what
/// kills the recorder loses nothing; one that is left there is renamed. Returns the exit code.
int record_as_wpr(const CommandLine& line);

}  // namespace reprise::wpr
