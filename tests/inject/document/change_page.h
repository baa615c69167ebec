#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "inject/document/changes.h"

namespace reprise::inject {

inline constexpr std::string_view kPage = "https://a.test/d/page?q";

inline DocumentChange change_of(ChangeKind kind, std::string url) {
  return {.kind = kind, .url = std::move(url)};
}

inline DocumentChange preload_of(std::string url, std::string as,
                                 CrossOrigin cross_origin = CrossOrigin::kNone) {
  return {.kind = ChangeKind::kPreload,
          .url = std::move(url),
          .as = std::move(as),
          .cross_origin = cross_origin};
}

/// Borrows `body`.
inline DocumentChange inline_of(std::string url, std::string type, std::string_view body) {
  return {.kind = ChangeKind::kInline,
          .url = std::move(url),
          .media_type = std::move(type),
          .body = bytes_of(body)};
}

/// A changed document as text.
struct ChangedPage {
  std::string text;
  ChangedDocument document;

  std::size_t changed(std::size_t index = 0) const { return document.outcomes[index].changed(); }
  /// The effect and note of each place: "changed", "already" or "refused: why".
  std::vector<std::string> places(std::size_t index = 0) const {
    static constexpr const char* kEffects[] = {"changed", "already", "refused"};
    std::vector<std::string> result;
    for (const ChangedPlace& place : document.outcomes[index].places) {
      result.emplace_back(kEffects[static_cast<int>(place.effect)]);
      if (!place.note.empty()) result.back() += ": " + place.note;
    }
    return result;
  }
};

/// The error is the text if there is one; then no outcome has a place.
inline ChangedPage changed_page(std::string_view document,
                                const std::vector<DocumentChange>& changes,
                                std::string_view charset = "utf-8", std::string_view url = kPage) {
  auto changed = change_document(bytes_of(document), charset, url, changes);
  if (!changed) {
    ADD_FAILURE() << changed.error();
    return {.text = changed.error(), .document = {.outcomes = {changes.size(), ChangeOutcome()}}};
  }
  return {.text = std::string(text_of(changed->bytes)), .document = std::move(*changed)};
}

inline std::string error_of(std::string_view document, const std::vector<DocumentChange>& changes,
                            std::string_view charset = "utf-8", std::string_view url = kPage) {
  auto const changed = change_document(bytes_of(document), charset, url, changes);
  return changed ? "" : changed.error();
}

}  // namespace reprise::inject
