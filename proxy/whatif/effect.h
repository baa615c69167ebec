#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace reprise::whatif {

/// What one intervention came to, for people and reports.
struct Effect {
  static constexpr std::size_t kPlacesKept = 100;
  static constexpr std::size_t kRemarksKept = 10;

  /// A response, host or address that is different.
  struct Place {
    std::string where;  ///< a URL or a host
    std::string what;   ///< "body: 12,000 instead of 34,000 bytes"
  };

  std::string text;          ///< of the intervention
  std::size_t selected = 0;  ///< requests of the session
  std::size_t changed = 0;
  std::vector<Place> places;  ///< the first kPlacesKept
  /// The URLs of the resources that a document mentions otherwise.
  std::set<std::string> mentioned;
  /// The sequence numbers of exchanges whose body it helped to change.
  std::set<std::uint64_t> changed_bodies;

  /// Why something was not changed.
  struct Remark {
    std::string why;
    std::string where;  ///< the first one
    std::size_t count = 1;
    /// "it is so already: https://a.test/ and 5 more"
    std::string text() const;
  };
  std::vector<Remark> remarks;  ///< one for each reason, the first kRemarksKept

  void add(std::string where, std::string what);
  void remark(const std::string& why, std::string where);
};

/// Why an intervention must be refused: it selects nothing, or what it selects stays as it was.
/// Empty: it changes something.
std::string refusal(const Effect& effect);

}  // namespace reprise::whatif
