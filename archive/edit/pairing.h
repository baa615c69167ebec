#pragma once

// Which exchange of one archive is that of another. Pure.

#include <cstdint>
#include <span>
#include <vector>

#include "archive/reader.h"
#include "base/result.h"

namespace reprise {

/// Pairs exchanges of equal key (match.h): the first of `a` with the first of `b`, the second with
/// the second, within each session; then, of those that are left, those whose targets differ only
/// in volatile values (archive/match/steady_request.h), in recorded order. Both archives must
/// outlive it. Uses four bytes of memory per exchange, and while it runs 28 per exchange that
/// is left. Not thread-safe.
class ExchangePairing {
 public:
  static constexpr std::uint32_t kNobody = UINT32_MAX;

  /// `across_sessions`: pairs exchanges of different sessions, too.
  ExchangePairing(const ArchiveReader& a, const ArchiveReader& b, bool across_sessions)
      : a_(a), b_(b), across_sessions_(across_sessions) {}

  /// Takes the ordinals of each archive in recorded order. Errors: corrupt.
  Result<void> run(std::span<const std::uint32_t> a_in_order,
                   std::span<const std::uint32_t> b_in_order);

  /// Of an ordinal in `a`: that in `b`, or kNobody.
  std::uint32_t partner_of(std::uint32_t ordinal_in_a) const { return partner_[ordinal_in_a]; }
  bool has_partner(std::uint32_t ordinal_in_b) const { return taken_[ordinal_in_b]; }

 private:
  using Ordinals = std::vector<std::uint32_t>;

  Result<void> pair_equal();
  Result<void> pair_volatile(const Ordinals& left_of_a, const Ordinals& left_of_b);
  /// Pairs exchanges of equal key, which have equal hashes. `steady`: without volatile values.
  Result<void> pair_run(const Ordinals& in_a, const Ordinals& in_b, bool steady);

  const ArchiveReader& a_;
  const ArchiveReader& b_;
  bool across_sessions_;
  Ordinals partner_;
  std::vector<bool> taken_;
};

}  // namespace reprise
