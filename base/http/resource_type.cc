#include "base/http/resource_type.h"

#include <algorithm>
#include <iterator>

#include "base/http/media_type.h"

namespace reprise {
namespace {

struct NamedType {
  std::string_view name;
  ResourceType type;
};

constexpr NamedType kDestinations[] = {
    {"document", ResourceType::kDocument},
    {"iframe", ResourceType::kDocument},
    {"frame", ResourceType::kDocument},
    {"object", ResourceType::kDocument},
    {"embed", ResourceType::kDocument},
    {"style", ResourceType::kStylesheet},
    {"xslt", ResourceType::kStylesheet},
    {"script", ResourceType::kScript},
    {"worker", ResourceType::kScript},
    {"sharedworker", ResourceType::kScript},
    {"serviceworker", ResourceType::kScript},
    {"audioworklet", ResourceType::kScript},
    {"paintworklet", ResourceType::kScript},
    {"image", ResourceType::kImage},
    {"font", ResourceType::kFont},
    {"audio", ResourceType::kMedia},
    {"video", ResourceType::kMedia},
    {"track", ResourceType::kTextTrack},
    {"manifest", ResourceType::kManifest},
    {"empty", ResourceType::kFetch},
    {"websocket", ResourceType::kWebSocket},
};

/// By the names of kinds in media_type.h.
constexpr NamedType kKinds[] = {
    {"html", ResourceType::kDocument}, {"style", ResourceType::kStylesheet},
    {"script", ResourceType::kScript}, {"image", ResourceType::kImage},
    {"font", ResourceType::kFont},     {"media", ResourceType::kMedia},
    {"json", ResourceType::kFetch},
};

/// A service worker that fetches the request for a document keeps only its mode; pages cannot fetch
/// with that mode (w3c/ServiceWorker#1803).
bool navigates(HeaderList request_headers) {
  auto const mode = find_header(request_headers, "sec-fetch-mode").value_or("");
  return equals_ignoring_case(mode, "navigate");
}

}  // namespace

ResourceType resource_type(HeaderList request_headers, std::string_view response_type) {
  auto const destination = find_header(request_headers, "sec-fetch-dest").value_or("");
  auto const* const known =
      std::ranges::find_if(kDestinations, [destination](const NamedType& each) {
        return equals_ignoring_case(each.name, destination);
      });
  if (known != std::end(kDestinations)) {
    bool const is_fetch = known->type == ResourceType::kFetch;
    return is_fetch && navigates(request_headers) ? ResourceType::kDocument : known->type;
  }
  auto const* const kind = std::ranges::find_if(kKinds, [response_type](const NamedType& each) {
    return is_of_kind(response_type, each.name);
  });
  return kind == std::end(kKinds) ? ResourceType::kOther : kind->type;
}

std::string_view devtools_name(ResourceType type) {
  switch (type) {
    case ResourceType::kOther:
      return "Other";
    case ResourceType::kDocument:
      return "Document";
    case ResourceType::kStylesheet:
      return "Stylesheet";
    case ResourceType::kScript:
      return "Script";
    case ResourceType::kImage:
      return "Image";
    case ResourceType::kFont:
      return "Font";
    case ResourceType::kMedia:
      return "Media";
    case ResourceType::kTextTrack:
      return "TextTrack";
    case ResourceType::kManifest:
      return "Manifest";
    case ResourceType::kFetch:
      return "Fetch";
    case ResourceType::kWebSocket:
      return "WebSocket";
  }
  return "Other";
}

}  // namespace reprise
