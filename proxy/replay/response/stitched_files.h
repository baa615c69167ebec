#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "proxy/replay/response/prepared_exchanges.h"
#include "proxy/replay/response/stitched_parts.h"

namespace reprise {

/// The files that an archive has in parts, put together when a client first requests one in another
/// form than recorded. Thread-safe.
class StitchedFiles {
 public:
  /// Limit of held files: further ones are not put together.
  static constexpr std::size_t kFilesMax = 1'024;

  /// `archive` and `exchanges` must outlive this. `cut_too`: the bytes of a cut answer are a part,
  /// too. `on_damage` is called for damage found while sending.
  StitchedFiles(const ArchiveReader& archive, PreparedExchanges& exchanges, bool cut_too,
                PreparedExchange::OnDamage on_damage)
      : archive_(archive),
        exchanges_(exchanges),
        cut_too_(cut_too),
        on_damage_(std::move(on_damage)) {}

  /// The file that exchange `ordinal` is a part of, or if it is not a part, that of the first one
  /// with its key. Valid as long as this. Null if no exchange is a part, or too many others are
  /// held.
  const StitchedParts* of(std::uint32_t ordinal);

 private:
  struct Stitched {
    PreparedCache::Entry like;  // the file has its fields
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
