#pragma once

// The whole question: which encoding has this document, and where in it does a script go?
// Pure; not thread-safe.

#include "inject/html.h"
#include "inject/prologue.h"
#include "inject/xml.h"

namespace reprise::inject {

enum class Markup : std::uint8_t {
  kHtml,
  kXml,
  kScript,  ///< none: a worker's script
};

/// How far into a document its head is looked for; no more need ever be held back.
inline constexpr std::size_t kSearchBytesMax = 64 * 1024;

/// Where to insert, and in which form.
struct Place {
  std::size_t offset_bytes = 0;
  TextForm form = TextForm::kAscii;
  bool roman = false;  ///< ISO-2022-JP with JIS X 0201 Roman in force: see in_form()
  /// The encoding that the response's Content-Type must name from now on: the document declares it
  /// behind this place, where a browser that looks at 1,024 bytes would miss it. Empty otherwise.
  std::string charset_to_state;
  /// A worker's script began with "use strict", which must be said again in front of what is
  /// inserted.
  bool strict = false;
};

/// Looks at a document that may still be coming.
class Search {
 public:
  /// `charset` is the label in the Content-Type, empty when there is none.
  Search(Markup markup, std::string_view charset);

  /// `so_far` is the document from its first byte: what earlier calls were given, or that and more.
  /// `ended`: nothing will follow. True when the answer is there, which it is at the latest when
  /// kSearchBytesMax are, or the end.
  bool look(std::span<const std::byte> so_far, bool ended);

  /// After look() was false for want of a word on the encoding: nothing more may come for a while.
  /// True when a browser that does not wait for the prescan's bytes either (Chromium, tried) would
  /// already act upon what is there; a declaration that comes later is then the browser's to find.
  bool hurry(std::span<const std::byte> so_far);

  /// After look() or hurry() was true; nothing when there is no place: an XML document that is
  /// neither XHTML nor SVG, a document in the encoding "replacement", one that ends within its
  /// first comment or doctype, or does not come to its head within kSearchBytesMax.
  const std::optional<Place>& place() const { return place_; }

  /// What was looked at, in characters and repetitions: a test holds it to a multiple of the bytes.
  std::uint64_t steps() const;

 private:
  bool scan(std::span<const std::byte> so_far, bool ended);
  void settle();
  bool find_encoding(std::span<const std::byte> so_far, bool ended);
  void start(TextForm form, std::size_t start_bytes);

  Markup markup_;
  std::optional<TextForm> form_;  // what the header says
  bool started_ = false;
  bool done_ = false;
  std::size_t prescanned_bytes_ = 0;
  std::uint64_t prescan_steps_ = 0;
  std::uint64_t hurry_steps_ = 0;
  std::optional<Declaration> declaration_;
  TextForm decided_ = TextForm::kAscii;
  HtmlScan html_;
  XmlScan xml_;
  PrologueScan prologue_;
  std::optional<Place> place_;
};

/// `ascii` in the form of the document, to be put at `place`.
std::string in_form(std::string_view ascii, const Place& place);

}  // namespace reprise::inject
