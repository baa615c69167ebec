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

/// Whether a service worker fetches the request for a document. That loses the destination and
/// keeps the mode, with which pages cannot fetch (w3c/ServiceWorker#1803), and what a navigation
/// accepts: Chromium's downloads have the same mode, but accept anything.
bool is_of_passed_on_navigation(HeaderList request_headers);

/// By Sec-Fetch-Dest, with a destination of the Fetch standard (section 2.2.5); a document also by
/// is_of_passed_on_navigation(). Browsers send these fields to https
/// and to localhost only: without a known destination, by `response_type`, a result of
/// media_type(), which can be empty.
ResourceType resource_type(HeaderList request_headers, std::string_view response_type);

/// "Stylesheet".
std::string_view devtools_name(ResourceType type);

}  // namespace reprise
