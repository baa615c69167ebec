#pragma once

#include <cstdint>
#include <string>

#include "archive/match/match.h"
#include "proxy/replay/ledger.h"
#include "proxy/replay/made_up.h"
#include "proxy/replay/response/prepared_exchanges.h"
#include "proxy/replay/response/selected_response.h"

namespace reprise {

class StitchedParts;

/// The answer to a request, and why. A value: the Chooser makes it, count() counts it, the Sender
/// sends it. It keeps the exchanges of the archive that it needs alive, and must not outlive the
/// archive.
struct Answer {
  enum class Kind : std::uint8_t {
    kStored,       ///< the whole `form.response`
    kHead,         ///< its head: for HEAD, if it was recorded as GET
    kSelected,     ///< `selected` of it, by a condition or a range
    kStitched,     ///< `selected` of `parts`: a file recorded in parts
    kBroken,       ///< cut or failed: `form.response` without an end, or nothing if it is null
    kBrokenHead,   ///< the head of a cut or failed exchange, which is all that HEAD needs
    kWebSocket,    ///< the recorded conversation, opened by `form.response`
    kMadeUp,       ///< 200, 204 or 404: `made_up`, not recorded
    kMisdirected,  ///< 421: must be requested on another connection than that to `connection_host`
    kDamaged,      ///< 404: recorded, but damaged in the archive, see `miss`
    kMiss,         ///< 404: no recorded exchange answers, see `miss`
  };

  Kind kind = Kind::kMiss;
  /// The chosen exchange, and why, or a miss.
  Decision decision;
  /// That exchange, whose schedule() determines the times. Null if none was chosen: an answer
  /// without an exchange is sent at once.
  PreparedCache::Entry exchange;
  ServedForm form;
  Selected selected;
  const StitchedParts* parts = nullptr;
  MadeUp made_up;
  std::string connection_host;
  Miss miss;

  /// The response that `selected` and the schedule's steps refer to: with kStitched the file,
  /// otherwise `form.response`. Borrows from this.
  WholeResponse whole() const;
};

}  // namespace reprise
