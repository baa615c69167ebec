#include "base/http/media_type.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/text/glob.h"
#include "base/text/white_space.h"

namespace reprise {
namespace {

struct Kind {
  std::string_view name;
  std::vector<std::string_view> types;
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {"html", {"text/html", "application/xhtml+xml"}},
      {"script", {"*/javascript", "*/x-javascript", "*/ecmascript", "*/x-ecmascript"}},
      {"style", {"text/css"}},
      {"image", {"image/*"}},
      {"font",
       {"font/*", "application/font-*", "application/x-font-*", "application/vnd.ms-fontobject"}},
      {"json", {"application/json", "text/json", "*+json"}},
      {"xml", {"application/xml", "text/xml", "*+xml"}},
      {"media",
       {"video/*", "audio/*", "application/vnd.apple.mpegurl", "application/x-mpegurl",
        "application/dash+xml"}}};
  return all;
}

const Kind* kind_called(std::string_view name) {
  auto const found = std::ranges::find(kinds(), name, &Kind::name);
  return found == kinds().end() ? nullptr : &*found;
}

}  // namespace

std::string_view media_type_of(std::string_view content_type) {
  return trim_blanks(content_type.substr(0, content_type.find(';')));
}

std::string media_type(HeaderList headers) {
  return lower_case(media_type_of(find_header(headers, "content-type").value_or("")));
}

bool is_kind_name(std::string_view name) {
  return kind_called(name) != nullptr;
}

bool is_of_kind(std::string_view type, std::string_view name) {
  const Kind* const kind = kind_called(name);
  return kind != nullptr && std::ranges::any_of(kind->types, [type](std::string_view pattern) {
           return fits_glob(pattern, type);
         });
}

bool is_javascript(std::string_view type) {
  static constexpr std::string_view kTypes[] = {"text/javascript",
                                                "application/javascript",
                                                "application/ecmascript",
                                                "application/x-ecmascript",
                                                "application/x-javascript",
                                                "text/ecmascript",
                                                "text/javascript1.0",
                                                "text/javascript1.1",
                                                "text/javascript1.2",
                                                "text/javascript1.3",
                                                "text/javascript1.4",
                                                "text/javascript1.5",
                                                "text/jscript",
                                                "text/livescript",
                                                "text/x-ecmascript",
                                                "text/x-javascript"};
  return std::ranges::any_of(
      kTypes, [type](std::string_view each) { return equals_ignoring_case(type, each); });
}

}  // namespace reprise
