#pragma once

// The URL of a planned page, also of one that was never loaded.

#include <cstddef>
#include <string>

#include "analysis/campaign/plan.h"

namespace reprise {

/// The first URL that a load of this archive requests: that of the campaign's flags, or the start
/// URL that the archive has recorded. Empty if neither can be read, such as from a damaged archive.
/// `page` is an index into Plan::pages, which are archives.
std::string start_url_of(const Plan& plan, std::size_t page);

}  // namespace reprise
