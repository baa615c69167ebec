#pragma once

// Which content codings a client takes (RFC 9110 section 12.5.3). Pure.

#include <span>

#include "base/coding/coding.h"
#include "base/http/headers.h"

namespace reprise {

/// Whether who sent `request` takes content in all of `codings`. Who sends no Accept-Encoding takes
/// any by the letter of the RFC; but servers code nothing for it, so that it counts as a no where
/// the `recorded` request had asked for codings.
bool takes_codings(HeaderList request, HeaderList recorded,
                   std::span<const coding::Coding> codings);

}  // namespace reprise
