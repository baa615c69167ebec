#include "archive/import/har_text.h"

#include <utility>

#include "archive/import/collect/field_list.h"

namespace reprise::importing {

std::string read_har_text(JsonReader& json, ImportReport& report) {
  bool is_cut = false;
  auto text = json.text_up_to(kHarTextBytesMax, is_cut);
  if (!is_cut) return text;
  report.remark(std::string(kLongTextRemark));
  return {};
}

Fields read_har_fields(JsonReader& json, ImportReport& report) {
  FieldList fields(report);
  std::string name;
  if (!json.enter_array()) return {};
  while (json.next_element()) {
    Field field;
    bool is_cut = false;
    if (!json.enter_object()) continue;
    while (json.next_member(name)) {
      if (name == "name") {
        field.name = json.text_up_to(kHarTextBytesMax, is_cut);
      } else if (name == "value") {
        field.value = json.text_up_to(kHarTextBytesMax, is_cut);
      } else {
        json.skip();
      }
    }
    fields.add(std::move(field), is_cut);
  }
  return fields.take();
}

std::string read_har_tool(JsonReader& json) {
  constexpr std::size_t kBytesMax = 100;
  std::string tool;
  std::string version;
  std::string name;
  bool is_cut = false;
  if (!json.enter_object()) return {};
  while (json.next_member(name)) {
    if (name == "name") {
      tool = json.text_up_to(kBytesMax, is_cut);
    } else if (name == "version") {
      version = json.text_up_to(kBytesMax, is_cut);
    } else {
      json.skip();
    }
  }
  return tool + (version.empty() ? "" : " " + version);
}

}  // namespace reprise::importing
