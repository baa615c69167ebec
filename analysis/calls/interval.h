#pragma once

#include <cstdint>

#include "analysis/calls/call.h"

namespace reprise {

/// A part of a view: its calls between two times, cut to them, since `from_us`. Of the processor
/// time of a task that is cut, the same part is left. Calls that are outside are dropped.
/// 0 <= from_us < to_us; a later end of the window is kept. Pure.
CallTree within(const CallTree& tree, std::int64_t from_us, std::int64_t to_us);

}  // namespace reprise
