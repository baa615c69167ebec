#pragma once

#include "tools/browser/chromium.h"
#include "tools/browser/devtools.h"
#include "tools/browser/page_recorder.h"

namespace reprise {

/// A body larger than this is not read back from the browser: a byte of it may take six in the
/// message that carries it, and messages are bounded.
inline constexpr std::int64_t kReadBackBytesMax = 40 << 20;

/// Asks the browser for every body that `recorder` knows of and puts the digests into `load`, which
/// came from that recorder. What the browser no longer has is counted in a remark.
/// Errors: those of DevtoolsConnection but timed_out, which is a remark too.
Result<void> read_bodies(DevtoolsConnection& connection, const PageRecorder& recorder,
                         DevtoolsConnection::TimePoint deadline, PageLoad& load);

}  // namespace reprise
