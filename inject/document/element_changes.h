#pragma once

// What each kind of change does to an element of the document. Pure; not thread-safe.

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "inject/document/changes.h"
#include "inject/document/edits.h"
#include "inject/document/inline.h"

namespace reprise::inject {

/// A change whose URL is in the form that URLs of elements have.
struct WantedChange {
  DocumentChange change;
  std::string url;  ///< absolute, or the origin
};

/// Makes changes in one document, element by element, in order. Preloads and preconnects only find
/// what is already there.
class ElementChanger {
 public:
  /// Borrows everything; `result` has an outcome for each change.
  ElementChanger(std::string_view document, const TextEncoding& encoding,
                 std::span<const WantedChange> changes, ChangedDocument& result, Edits& edits);

  /// `base`: the document's base URL at this element.
  void look_at(const StartTag& tag, std::string_view base);
  /// After the last tag.
  void finish();

  /// The number of places of all changes so far.
  std::size_t places() const { return places_; }

 private:
  void apply(const Element& element, bool by_set);
  void set_priority(const Element& element, std::string_view priority, bool by_set);
  void set_loading(const Element& element, bool is_async);
  void set_lazy(const Element& element, bool by_set);
  void find_preconnect(const Element& element);
  void find_preload(const Element& element, bool by_set);
  bool is_preload_for(CrossOrigin mode) const;
  void put_inline(const Element& element, bool by_set);
  std::optional<InlineText> inline_text(const Element& element);
  void put_script_inline(const Element& element);
  void put_style_inline(const Element& element);
  void put_image_inline(const Element& element, bool by_set);
  bool fits(const Element& element);

  void add_place(const Element& element, ChangedPlace::Effect effect, std::string note = {});
  void refuse(const Element& element, std::string note) {
    add_place(element, ChangedPlace::Effect::kRefused, std::move(note));
  }

  std::string_view document_;
  const TextEncoding& encoding_;
  std::span<const WantedChange> changes_;
  std::unordered_multimap<std::string_view, std::size_t> by_url_;  // the places in changes_
  ChangedDocument& result_;
  Edits& edits_;
  std::size_t places_ = 0;
  /// Why a change's resource cannot be inline, by the name and the charset of the
  /// element. Kept, because to find it out takes long.
  std::map<std::pair<std::size_t, std::string>, std::string> unfit_;
  /// A preload of the document that may be the one a change asks for: its mode and integrity are
  /// compared with those of the first element that fetches the resource, which can come later.
  struct FoundPreload {
    std::size_t index = 0;  // of the change
    CrossOrigin cross_origin = CrossOrigin::kNone;
    std::string integrity;
    ChangedPlace place;
  };
  std::vector<FoundPreload> preloads_;
  /// The URLs of the sources of a <picture>: its image can be each of them.
  std::vector<std::string> sources_;
  std::set<std::size_t> fetched_;  // the preloads with such an element
  std::size_t index_ = 0;          // of the change that is being made
  AttributeEdits attributes_;      // of the element
  bool has_priority_ = false;      // a change has decided it
  bool has_policy_ = false;        // a <meta> so far has set one
};

}  // namespace reprise::inject
