#include "base/http/resource_type.h"

#include <gtest/gtest.h>

#include <vector>

namespace reprise {
namespace {

std::string_view name_of(std::string_view destination, std::string_view response_type = {},
                         std::string_view mode = {}, std::string_view accept = "text/html,*/*") {
  std::vector<HeaderView> headers{{.name = "Sec-Fetch-Dest", .value = destination},
                                  {.name = "Accept", .value = accept}};
  if (!mode.empty()) headers.push_back({.name = "sec-fetch-mode", .value = mode});
  return devtools_name(resource_type(headers, response_type));
}

TEST(ResourceType, IsThatOfTheDestination) {
  struct Row {
    std::string_view destination, name;
  };
  for (auto const& [destination, name] : std::vector<Row>{
           {"document", "Document"},   {"iframe", "Document"},      {"frame", "Document"},
           {"object", "Document"},     {"embed", "Document"},       {"style", "Stylesheet"},
           {"xslt", "Stylesheet"},     {"script", "Script"},        {"worker", "Script"},
           {"sharedworker", "Script"}, {"serviceworker", "Script"}, {"audioworklet", "Script"},
           {"paintworklet", "Script"}, {"image", "Image"},          {"Image", "Image"},
           {"font", "Font"},           {"audio", "Media"},          {"video", "Media"},
           {"track", "TextTrack"},     {"manifest", "Manifest"},    {"empty", "Fetch"},
           {"websocket", "WebSocket"}}) {
    EXPECT_EQ(name_of(destination), name) << destination;
    EXPECT_EQ(name_of(destination, "text/css", "no-cors"), name) << destination;
  }
}

TEST(ResourceType, IsADocumentThatAServiceWorkerFetches) {
  EXPECT_EQ(name_of("empty", "text/html", "navigate"), "Document");
  EXPECT_EQ(name_of("empty", "text/html", "same-origin"), "Fetch");
  EXPECT_EQ(name_of("empty", "application/zip", "navigate", "*/*"), "Fetch") << "a download";
  EXPECT_EQ(name_of("iframe", "text/html", "navigate"), "Document");
}

TEST(ResourceType, IsThatOfTheResponseWithoutAKnownDestination) {
  struct Row {
    std::string_view response_type, name;
  };
  for (auto const& [response_type, name] : std::vector<Row>{{"text/html", "Document"},
                                                            {"text/css", "Stylesheet"},
                                                            {"text/javascript", "Script"},
                                                            {"image/svg+xml", "Image"},
                                                            {"font/woff2", "Font"},
                                                            {"audio/mpeg", "Media"},
                                                            {"application/json", "Fetch"},
                                                            {"text/plain", "Other"},
                                                            {"", "Other"}}) {
    EXPECT_EQ(devtools_name(resource_type({}, response_type)), name) << response_type;
    EXPECT_EQ(name_of("report", response_type), name) << response_type;
  }
}

}  // namespace
}  // namespace reprise
