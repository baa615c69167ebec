// Documents of any form, whole and in pieces: the same place is found, inside the document, in a
// bounded number of steps, and what stands before it is passed over in whole characters.

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "inject/search.h"

using namespace reprise::inject;

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

std::optional<Place> place_in(Markup markup, std::string_view charset,
                              std::span<const std::byte> document, std::size_t piece_bytes) {
  Search search(markup, charset);
  std::size_t known = 0;
  while (!search.look(document.first(known), known == document.size())) {
    check(known < document.size() && known < kSearchBytesMax);
    known = std::min(known + piece_bytes, document.size());
  }
  auto const looked_at = std::min(document.size(), kSearchBytesMax);
  if (piece_bytes >= document.size()) check(search.steps() <= 2 * looked_at + kPrescanBytes);
  return search.place();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static constexpr std::string_view kCharsets[] = {
      "", "utf-8", "gb18030", "utf-16", "utf-16be", "iso-2022-jp", "none", "hz-gb-2312"};
  if (size < 2) return 0;
  auto const charset = kCharsets[data[0] % std::size(kCharsets)];
  auto const markup = (data[0] & 0x80) == 0 ? Markup::kHtml : Markup::kXml;
  auto const document = std::as_bytes(std::span(data + 2, size - 2));
  auto const whole = place_in(markup, charset, document, document.size() + 1);
  auto const pieces = place_in(markup, charset, document, data[1] + 1U);
  Search hurried(markup, charset);
  if (!hurried.look(document, false) && hurried.hurry(document)) {
    check(hurried.place() && hurried.place()->offset_bytes <= document.size());
  }
  check(whole.has_value() == pieces.has_value());
  if (!whole) return 0;
  check(whole->offset_bytes == pieces->offset_bytes && whole->form == pieces->form);
  check(whole->charset_to_state == pieces->charset_to_state);
  check(whole->offset_bytes <= document.size());
  auto const inserted = in_form("<script></script>", *whole);
  bool const wide = whole->form == TextForm::kUtf16le || whole->form == TextForm::kUtf16be;
  check(!wide || inserted.size() == 34);

  // Where our script stands, the place of a second one is in front of it.
  std::vector<std::byte> after(document.begin(), document.end());
  auto const bytes = std::as_bytes(std::span(inserted));
  after.insert(after.begin() + static_cast<std::ptrdiff_t>(whole->offset_bytes), bytes.begin(),
               bytes.end());
  if (after.size() >= kSearchBytesMax || !whole->charset_to_state.empty()) return 0;
  auto const again = place_in(markup, charset, after, after.size() + 1);
  check(again.has_value() && again->offset_bytes <= whole->offset_bytes);
  check(charset.empty() || again->offset_bytes == whole->offset_bytes);
  return 0;
}
