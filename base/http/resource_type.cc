#include "base/http/resource_type.h"

#include <algorithm>
#include <iterator>

#include "base/http/media_type.h"
#include "base/text/ascii.h"

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

}  // namespace

bool is_of_passed_on_navigation(HeaderList request_headers) {
  auto const value = [request_headers](std::string_view name) {
    return find_header(request_headers, name).value_or("");
  };
  return equals_ignoring_case(value("sec-fetch-dest"), "empty") &&
         equals_ignoring_case(value("sec-fetch-mode"), "navigate") &&
         contains_ignoring_case(value("accept"), "text/html");
}

ResourceType resource_type(HeaderList request_headers, std::string_view response_type) {
  auto const destination = find_header(request_headers, "sec-fetch-dest").value_or("");
  auto const* const known =
      std::ranges::find_if(kDestinations, [destination](const NamedType& each) {
        return equals_ignoring_case(each.name, destination);
      });
  if (known != std::end(kDestinations)) {
    return is_of_passed_on_navigation(request_headers) ? ResourceType::kDocument : known->type;
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
