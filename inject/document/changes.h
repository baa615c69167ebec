#pragma once

// Changes of a document as data, and the document with them. Start here. Pure; thread-safe.

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inject/document/elements.h"

namespace reprise::inject {

enum class ChangeKind : std::uint8_t {
  kPreload,
  kPreconnect,
  kPriorityHigh,
  kPriorityLow,
  kAsync,
  kDefer,
  kLazy,
  kInline,
};

/// One change of a document. README.md says what each kind does.
struct DocumentChange {
  ChangeKind kind = ChangeKind::kPreload;
  std::string url;  ///< absolute, http or https; for kPreconnect of the origin
  std::string as;   ///< for kPreload: script, style, image, font or fetch
  /// For kPreload and kPreconnect. A preload of a font is always at least kAnonymous; one of a
  /// script, style or image has the mode of the first element that fetches it, if there is one.
  CrossOrigin cross_origin = CrossOrigin::kNone;
  /// For kPreload: the link's nonce if no element of the document fetches the resource.
  std::string nonce;
  /// For kInline: the Content-Type and the decoded bytes of the resource, which are borrowed.
  std::string media_type;
  std::span<const std::byte> body;
};

/// An element that a change is about.
struct ChangedPlace {
  enum class Effect : std::uint8_t {
    kChanged,
    kAlready,  ///< it was as the change asks
    kRefused,
  };

  std::size_t offset_bytes = 0;  ///< of its start tag in the document as it was
  std::string tag;               ///< "link" for what is inserted
  Effect effect = Effect::kChanged;
  std::string note;  ///< why it is refused, or what limits the effect; else empty
};

struct ChangeOutcome {
  /// In document order. Empty: the document has no such element, which the caller reports as an
  /// error.
  std::vector<ChangedPlace> places;
  /// For kPreload and kPreconnect: the mode of the link.
  CrossOrigin cross_origin = CrossOrigin::kNone;
  /// For kPreload of a script or style: what the first element that fetches it demands (W3C
  /// Subresource Integrity), and its nonce. Both can be empty.
  std::string integrity;
  std::string nonce;

  std::size_t changed() const;
};

struct ChangedDocument {
  std::vector<std::byte> bytes;
  std::vector<ChangeOutcome> outcomes;  ///< one per change, in their order
  /// The encoding to add to the Content-Type, as for an injected script (see Place): what is
  /// inserted stands before the document's own declaration. Otherwise empty.
  std::string charset_to_state;
  /// What a Content-Security-Policy must permit: "'sha256-...'" of each script that is now inline.
  std::vector<std::string> script_hash_sources;
};

/// The limit of the places of all changes together.
inline constexpr std::size_t kPlacesMax = 100'000;

/// Makes all `changes` in one document: its decoded bytes, the `charset` of its Content-Type (can
/// be empty) and its absolute URL. All other bytes, and the encoding, stay. Errors: a sentence that
/// says why the document cannot be edited (its encoding, its size, more than kPlacesMax places, no
/// place for a <link>), or which
/// change is invalid or contradicts another.
std::expected<ChangedDocument, std::string> change_document(
    std::span<const std::byte> document, std::string_view charset, std::string_view document_url,
    std::span<const DocumentChange> changes);

}  // namespace reprise::inject
