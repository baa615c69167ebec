#pragma once

// Finds a document's encoding, and the place for a script in it. Pure; not thread-safe.

#include "inject/html.h"
#include "inject/prologue.h"
#include "inject/xml.h"

namespace reprise::inject {

enum class Markup : std::uint8_t {
  kHtml,
  kXml,
  kScript,  ///< not markup: a worker's script
};

/// The limit of the search for a document's head; no more has to be held back.
inline constexpr std::size_t kSearchBytesMax = 64 * 1024;

/// Where to insert, and in which encoding.
struct Place {
  std::size_t offset_bytes = 0;
  TextForm form = TextForm::kAscii;
  bool roman = false;  ///< ISO-2022-JP with JIS X 0201 Roman selected: see in_form()
  /// The encoding to add to the response's Content-Type: the document declares it after this place,
  /// where a browser that reads 1,024 bytes would miss it. Otherwise empty.
  std::string charset_to_state;
  /// A worker's script begins with "use strict", which must be repeated before the inserted text.
  bool strict = false;
};

/// Examines a document that may still be arriving.
class Search {
 public:
  /// `charset`: the label in the Content-Type, or empty.
  Search(Markup markup, std::string_view charset);

  /// `so_far` is the document from its first byte: the bytes of earlier calls, or these and more.
  /// `ended`: no more will follow. True once the answer is known, at the latest after
  /// kSearchBytesMax or at the end.
  bool look(std::span<const std::byte> so_far, bool ended);

  /// For use after look() returned false because the encoding is unknown, when no more bytes may
  /// come for a while. True if a browser that does not wait for all bytes of the prescan (Chromium,
  /// tried) would start with the present ones; a later declaration is then left to the browser.
  bool hurry(std::span<const std::byte> so_far);

  /// After look() or hurry() returned true; nothing if there is no place: an empty document, an XML
  /// document that is neither XHTML nor SVG, a document in the encoding "replacement", or one that
  /// ends within its first comment or doctype, or has no head within kSearchBytesMax.
  const std::optional<Place>& place() const { return place_; }

  /// The work done, in characters and repetitions: a test limits it to a multiple of the bytes.
  std::uint64_t steps() const;

 private:
  bool scan(std::span<const std::byte> so_far, bool ended);
  void settle();
  bool find_encoding(std::span<const std::byte> so_far, bool ended);
  void start(TextForm form, std::size_t start_bytes);

  Markup markup_;
  std::optional<TextForm> form_;  // from the header
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

/// `ascii` in the document's encoding, for insertion at `place`.
std::string in_form(std::string_view ascii, const Place& place);

}  // namespace reprise::inject
