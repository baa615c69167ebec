#pragma once

// The kind of a resource in the words of DevTools' protocol (Network.ResourceType). Pure.

#include <cstdint>
#include <string_view>

#include "base/http/headers.h"

namespace reprise {

enum class ResourceType : std::uint8_t {
  kOther,  ///< another kind, or unknown
  kDocument,
  kStylesheet,
  kScript,
  kImage,
  kFont,
  kMedia,
  kTextTrack,
  kManifest,
  kFetch,
  kWebSocket,
};

/// By Sec-Fetch-Dest, with a destination of the Fetch standard (section 2.2.5), and by
/// Sec-Fetch-Mode for documents that a service worker fetches. Browsers send these fields to https
/// and to localhost only: without a known destination, by `response_type`, a result of
/// media_type(), which can be empty.
ResourceType resource_type(HeaderList request_headers, std::string_view response_type);

/// "Stylesheet".
std::string_view devtools_name(ResourceType type);

}  // namespace reprise
