#include "inject/document/foreign.h"

#include <algorithm>
#include <array>

namespace reprise::inject {
namespace {

// HTML elements whose start tags end foreign content, sorted.
constexpr auto kBreakout = std::to_array<std::string_view>(
    {"b",    "big",  "blockquote", "body",  "br",    "center", "code", "dd",     "div",
     "dl",   "dt",   "em",         "embed", "h1",    "h2",     "h3",   "h4",     "h5",
     "h6",   "head", "hr",         "i",     "img",   "li",     "menu", "meta",   "listing",
     "nobr", "ol",   "p",          "pre",   "ruby",  "s",      "span", "strike", "strong",
     "sub",  "sup",  "table",      "tt",    "small", "u",      "ul",   "var"});

constexpr auto kNames =
    std::to_array<std::string_view>({"", "svg", "math", "foreignobject", "desc", "title", "mi",
                                     "mo", "mn", "ms", "mtext", "annotation-xml"});

}  // namespace

OpenForeign::Name OpenForeign::name_of(std::string_view name) {
  auto const found = std::ranges::find(kNames, name);
  return found == kNames.end() ? Name::kOther : static_cast<Name>(found - kNames.begin());
}

void OpenForeign::leave_foreign() {
  while (is_foreign()) open_.pop_back();
}

bool OpenForeign::start(std::string_view name, const Details& details) {
  if (is_foreign() &&
      (std::ranges::find(kBreakout, name) != kBreakout.end() || details.html_font)) {
    leave_foreign();
  }
  auto const known = name_of(name);
  bool const foreign = is_foreign();
  if (!foreign) {
    bool const in_math = !open_.empty() && open_.back().kind == Kind::kHtml &&
                         open_.back().name >= Name::kMi && open_.back().name <= Name::kMtext;
    // Elements of MathML even where MathML holds text.
    if (in_math && (name == "mglyph" || name == "malignmark")) return true;
    if (name == "template") {
      open_.push_back({Kind::kTemplate, Name::kOther});
      ++templates_;
    }
    if (known != Name::kSvg && known != Name::kMath) return false;
    if (!details.self_closing) {
      open_.push_back({known == Name::kSvg ? Kind::kSvg : Kind::kMath, known});
    }
    return true;
  }
  if (details.self_closing) return true;
  auto const kind = open_.back().kind;
  // SVG begins inside <annotation-xml>, which is otherwise MathML.
  if (kind == Kind::kMath && known == Name::kSvg && open_.back().name == Name::kAnnotationXml) {
    open_.push_back({Kind::kSvg, known});
    return true;
  }
  bool const root = known == (kind == Kind::kSvg ? Name::kSvg : Name::kMath);
  bool const holds_html =
      kind == Kind::kSvg ? known >= Name::kForeignObject && known <= Name::kTitle
                         : (known >= Name::kMi && known <= Name::kMtext) || details.html_annotation;
  if (holds_html) {
    open_.push_back({Kind::kHtml, known});
  } else if (root || (kind == Kind::kMath && known == Name::kAnnotationXml)) {
    open_.push_back({kind, known});
  }
  return true;
}

void OpenForeign::end(std::string_view name) {
  if (open_.empty()) return;
  if (name == "template" && templates_ > 0) {
    while (open_.back().kind != Kind::kTemplate) open_.pop_back();
    open_.pop_back();
    --templates_;
    return;
  }
  if (is_foreign() && (name == "p" || name == "br")) return leave_foreign();
  auto const known = name_of(name);
  if (known == Name::kOther) return;
  // It ends what is open inside, HTML too: whether elements of HTML are open there is not kept.
  for (auto depth = open_.size(); depth > 0 && open_[depth - 1].kind != Kind::kTemplate; --depth) {
    if (open_[depth - 1].name == known) return open_.resize(depth - 1);
  }
}

}  // namespace reprise::inject
