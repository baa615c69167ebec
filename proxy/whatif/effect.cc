#include "proxy/whatif/effect.h"

#include <algorithm>
#include <utility>

#include "base/text/counted.h"

namespace reprise::whatif {

void Effect::add(std::string where, std::string what) {
  ++changed;
  if (places.size() < kPlacesKept) places.push_back({std::move(where), std::move(what)});
}

void Effect::remark(const std::string& why, std::string where) {
  auto const known = std::ranges::find(remarks, why, &Remark::why);
  if (known != remarks.end()) {
    ++known->count;
  } else if (remarks.size() < kRemarksKept) {
    remarks.push_back({.why = why, .where = std::move(where)});
  }
}

std::string Effect::Remark::text() const {
  auto text = why + ": " + where;
  if (count > 1) text += " and " + std::to_string(count - 1) + " more";
  return text;
}

std::string refusal(const Effect& effect) {
  if (effect.changed > 0) return {};
  auto const begin = "--what-if '" + effect.text + "' ";
  if (effect.selected == 0 && effect.remarks.empty()) {
    return begin + "selects no request of the recording";
  }
  auto text =
      begin +
      (effect.selected == 0 ? "" : "selects " + counted(effect.selected, "request") + ", but ") +
      "changes nothing";
  for (const Effect::Remark& remark : effect.remarks) text += "\n  " + remark.text();
  return text;
}

}  // namespace reprise::whatif
