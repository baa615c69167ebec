#pragma once

// Who a page belongs to. Pure; the text is untrusted.

#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace reprise {

/// A map from pages to owners: `reprise-owners/1` (docs/campaigns.md).
class Owners {
 public:
  static constexpr std::size_t kBytesMax = 16 << 20;
  /// The owner of pages that no pattern names.
  static constexpr std::string_view kNobody = "without-owner";

  /// Errors: a sentence.
  static std::expected<Owners, std::string> parse(std::string_view text);

  /// The first owner with a pattern ('*' matches anything) for the page's name or URL.
  const std::string& owner_of(std::string_view page, std::string_view url) const;
  /// Patterns that named none of the pages for which owner_of() was asked, as "OWNER: PATTERN".
  std::vector<std::string> unused() const;

 private:
  struct Rule {
    std::string owner, pattern;
    mutable bool used = false;
  };
  std::vector<Rule> rules_;
  std::string nobody_{kNobody};
};

}  // namespace reprise
