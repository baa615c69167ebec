#pragma once

// Images of another size in bytes.

#include <cstdint>
#include <span>
#include <vector>

#include "proxy/whatif/reply_changes.h"

namespace reprise::whatif {

/// Encodes the image again, in the same format and dimensions, at the highest quality that needs at
/// most `factor` of its bytes, and fills it up to that many, as far as fill_image() can: up to 12
/// bytes can be missing. JPEG, PNG, WebP and AVIF, by the program vips in a process of its
/// own, so that a hostile image cannot harm this one. Errors: another type, no vips, an image that
/// it cannot read, one that cannot be as small.
Change resize_image(Reply& reply, double factor);

/// Makes an image larger by `by` bytes that decoders skip: a comment (JPEG, ISO 10918-1 section
/// B.2.4.5), an ancillary chunk (PNG section 5.4), a chunk (WebP container) or a free box (AVIF,
/// ISO 14496-12). False if that is not possible: they have a smallest size, and `image` must be
/// well-formed at its start and end. `media_type` in lower case.
bool fill_image(coding::Buffer& image, std::string_view media_type, std::size_t by);

}  // namespace reprise::whatif
