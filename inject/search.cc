#include "inject/search.h"

#include <algorithm>

namespace reprise::inject {
namespace {

/// Fewer bytes can be the start of a byte order mark, or of an XML declaration in UTF-16.
constexpr std::size_t kHurriedBytesMin = 6;

}  // namespace

Search::Search(Markup markup, std::string_view charset)
    : markup_(markup), form_(form_of_label(charset)) {}

bool Search::look(std::span<const std::byte> so_far, bool ended) {
  if (done_) return true;
  bool const full = so_far.size() >= kSearchBytesMax;
  so_far = so_far.first(std::min(so_far.size(), kSearchBytesMax));
  // No code runs in an empty document; a page that enters it brings the script (frames.js).
  if (so_far.empty() && ended) return done_ = true;
  if (!started_ && !find_encoding(so_far, ended)) return false;
  if (decided_ == TextForm::kReplacement) return done_ = true;
  done_ = scan(so_far, ended && !full);
  if (!done_ && full && markup_ == Markup::kHtml) html_.give_up();
  if (!done_ && !full && !ended) return false;
  settle();
  return true;
}

bool Search::hurry(std::span<const std::byte> so_far) {
  if (done_ || started_ || markup_ != Markup::kHtml) return done_;
  if (so_far.size() < kHurriedBytesMin) return false;
  HtmlScan early(Characters(TextForm::kAscii, 0), 0);
  bool const found = early.scan(so_far.first(std::min(so_far.size(), kPrescanBytes)), false);
  hurry_steps_ += early.steps();
  if (!found) return false;
  started_ = true;
  html_ = early;
  settle();
  return true;
}

void Search::settle() {
  done_ = true;
  std::optional<std::size_t> const point = markup_ == Markup::kHtml  ? html_.point()
                                           : markup_ == Markup::kXml ? xml_.point()
                                                                     : prologue_.point();
  if (!point) return;
  place_ = Place{.offset_bytes = *point,
                 .form = decided_,
                 .roman = html_.roman(),
                 .charset_to_state = {},
                 .strict = prologue_.strict()};
  bool const declared = markup_ == Markup::kHtml && declaration_;
  if (declared && declaration_->end_bytes > *point) {
    place_->charset_to_state = declaration_->label;
  }
}

bool Search::scan(std::span<const std::byte> so_far, bool ended) {
  if (markup_ == Markup::kHtml) return html_.scan(so_far, ended);
  return markup_ == Markup::kXml ? xml_.scan(so_far) : prologue_.scan(so_far, ended);
}

// A byte order mark, else the header, else the document's declaration (WHATWG HTML section
// 13.2.3.2).
bool Search::find_encoding(std::span<const std::byte> so_far, bool ended) {
  if (markup_ == Markup::kScript) {
    start(TextForm::kAscii, 0);
    return true;
  }
  bool const enough = so_far.size() >= kPrescanBytes || ended;
  if (so_far.size() < 3 && !ended) return false;
  if (auto const mark = byte_order_mark(so_far)) {
    start(mark->form, mark->size_bytes);
    return true;
  }
  if (form_) {
    start(*form_, 0);
    return true;
  }
  auto const head = so_far.first(std::min(so_far.size(), kPrescanBytes));
  auto const fresh = head.subspan(std::min(prescanned_bytes_, head.size()));
  // Other bytes complete no declaration; UTF-16 has zeros.
  bool const declares = std::ranges::any_of(
      fresh, [](std::byte each) { return each == std::byte('>') || each == std::byte(0); });
  if (!enough && !declares) return false;
  prescanned_bytes_ = head.size();
  if (markup_ == Markup::kHtml) {
    declaration_ = prescan(head, prescan_steps_);
  } else if (head.size() >= 2 && (head[0] == std::byte(0)) != (head[1] == std::byte(0))) {
    bool const big = head[0] == std::byte(0);
    declaration_ = Declaration{.label = {}, .form = big ? TextForm::kUtf16be : TextForm::kUtf16le};
  } else {
    declaration_ = xml_declaration(head);
  }
  if (!declaration_ && !enough && markup_ == Markup::kHtml) return false;
  start(declaration_ ? declaration_->form : TextForm::kAscii, 0);
  return true;
}

void Search::start(TextForm form, std::size_t start_bytes) {
  started_ = true;
  decided_ = form;
  Characters const characters(form, start_bytes);
  html_ = HtmlScan(characters, declaration_ ? declaration_->end_bytes : 0);
  xml_ = XmlScan(characters);
}

std::uint64_t Search::steps() const {
  return prescan_steps_ + hurry_steps_ + html_.steps() + xml_.steps() + prologue_.steps();
}

std::string in_form(std::string_view ascii, const Place& place) {
  switch (place.form) {
    case TextForm::kUtf16le:
    case TextForm::kUtf16be: {
      std::string wide(ascii.size() * 2, '\0');
      std::size_t at = place.form == TextForm::kUtf16le ? 0 : 1;
      for (char const c : ascii) {
        wide[at] = c;
        at += 2;
      }
      return wide;
    }
    default:
      if (!place.roman) return std::string(ascii);
      return "\x1B(B" + std::string(ascii) + "\x1B(J";
  }
}

}  // namespace reprise::inject
