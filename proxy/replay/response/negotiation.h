#pragma once

// Which content codings a client accepts (RFC 9110 section 12.5.3). Pure.

#include <span>

#include "base/coding/coding.h"
#include "base/http/headers.h"

namespace reprise {

/// Whether the sender of `request` accepts content in all of `codings`. By the RFC, a client
/// without Accept-Encoding accepts any; but servers do not encode for it, so it counts as a no if
/// the `recorded` request accepted codings.
bool takes_codings(HeaderList request, HeaderList recorded,
                   std::span<const coding::Coding> codings);

}  // namespace reprise
