#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "proxy/replay/response/prepared_exchanges.h"
#include "proxy/replay/response/stitched_parts.h"

namespace reprise {

/// The files of which an archive holds parts, put together when the first client asks for one of
/// them otherwise than it was recorded. Thread-safe.
class StitchedFiles {
 public:
  /// That are held: what comes after them is not put together.
  static constexpr std::size_t kFilesMax = 1'024;

  /// `archive` and `exchanges` must outlive this. `cut_too`: what there is of a cut answer is a
  /// part, too. `on_damage` is told what turned out damaged while it was sent.
  StitchedFiles(const ArchiveReader& archive, PreparedExchanges& exchanges, bool cut_too,
                PreparedExchange::OnDamage on_damage)
      : archive_(archive),
        exchanges_(exchanges),
        cut_too_(cut_too),
        on_damage_(std::move(on_damage)) {}

  /// The file that exchange `ordinal` is a part of, valid as long as this. Null when it is no part,
  /// or too many others are held.
  const StitchedParts* of(std::uint32_t ordinal);

 private:
  struct Stitched {
    PreparedCache::Entry like;  // whose fields it has
    std::unique_ptr<const StitchedParts> parts;
  };

  const ArchiveReader& archive_;
  PreparedExchanges& exchanges_;
  bool const cut_too_;
  PreparedExchange::OnDamage const on_damage_;
  std::mutex mutex_;  // such requests are rare
  std::map<std::uint32_t, Stitched> files_;
};

}  // namespace reprise
