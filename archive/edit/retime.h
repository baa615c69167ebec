#pragma once

// Changes the think time of exchanges, for what-ifs. Pure except for the copy.

#include <cstdint>
#include <optional>
#include <string_view>

#include "archive/edit/select.h"
#include "archive/think_time.h"

namespace reprise {

/// A change of a think time.
struct ThinkTimeChange {
  enum class Kind : std::uint8_t { kSet, kAdd, kTakeOff, kMultiply };

  Kind kind = Kind::kSet;
  std::chrono::nanoseconds by{};  ///< or the new value
  double factor = 1;

  /// "30ms" sets it, "+30ms" adds, "-30ms" subtracts, "x1.5" multiplies; a plain number is
  /// milliseconds. Returns nothing for other texts.
  static std::optional<ThinkTimeChange> parse(std::string_view text);
  /// Applies the change. The result is never negative, at most kThinkTimeMax.
  std::chrono::nanoseconds of(std::chrono::nanoseconds think_time) const;
};

/// Gives the exchange another think time: its head, pieces and end move by the difference; interim
/// responses keep their times as long as they stay before the head. Events recorded after the
/// exchange do not move. Returns false and changes nothing if its times are unknown.
bool change_think_time(Exchange& exchange, std::optional<std::chrono::nanoseconds> round_trip,
                       const ThinkTimeChange& change);

/// Copies an archive with another think time for the exchanges of `selection`. Borrows everything.
class RetimedCopy final : public ArchiveCopy {
 public:
  RetimedCopy(const ArchiveReader& from, const ExchangeSelection& selection,
              const ThinkTimeChange& change, ArchiveWriter& to)
      : ArchiveCopy(from, to), round_trips_(from), selection_(selection), change_(change) {}

  std::uint64_t changed() const { return changed_; }
  /// Exchanges without times, which are not changed.
  std::uint64_t timeless() const { return timeless_; }

 protected:
  Result<void> carry(std::uint32_t ordinal, Exchange& exchange) override;

 private:
  RoundTrips round_trips_;
  const ExchangeSelection& selection_;
  ThinkTimeChange change_;
  std::uint64_t changed_ = 0;
  std::uint64_t timeless_ = 0;
};

}  // namespace reprise
