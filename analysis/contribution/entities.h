#pragma once

// Who a host belongs to, and what for: the data of third-party-web
// (https://github.com/patrickhulce/third-party-web), "entities-nostats.json". Pure.

#include <expected>
#include <map>
#include <string>
#include <string_view>

namespace reprise {

struct Entity {
  std::string name;      ///< "Google Analytics"
  std::string category;  ///< "ad", "analytics", "cdn", "social", "video", ...
};

/// Immutable once read. Thread-safe.
class Entities {
 public:
  static constexpr std::size_t kBytesMax = 64 << 20;

  /// The data that this program was built with; without any if there was none.
  static const Entities& built_in();
  /// Reads an untrusted array of {name, category, domains}. Errors: a sentence.
  static std::expected<Entities, std::string> parse(std::string_view text);

  /// Of a host in lower case, without port; null if it is not known. A domain of the data is that
  /// host alone, "*.example.org" also its subdomains; the longest match counts.
  const Entity* find(std::string_view host) const;
  bool empty() const { return by_host_.empty() && by_suffix_.empty(); }

 private:
  std::map<std::string, Entity, std::less<>> by_host_;
  std::map<std::string, Entity, std::less<>> by_suffix_;  ///< "example.org" for "*.example.org"
};

/// third-party-web's data as it came, or empty; written by the build.
extern const std::string_view kEntitiesText;

}  // namespace reprise
