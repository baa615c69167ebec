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

/// What a request gets, and why. A value: the Chooser makes it, count() counts it, the Sender sends
/// it. It keeps alive what it needs of the archive's exchanges, and lives no longer than the
/// archive.
struct Answer {
  enum class Kind : std::uint8_t {
    kStored,       ///< all of `form.response`
    kHead,         ///< its head: HEAD of what was recorded as GET
    kSelected,     ///< `selected` of it: what a condition or a range makes of it
    kStitched,     ///< `selected` of `parts`: a file of which parts were recorded
    kBroken,       ///< cut or failed: `form.response` without an end, or nothing where it is null
    kBrokenHead,   ///< the head of what was cut or failed: to HEAD, that is all
    kWebSocket,    ///< the recorded conversation, opened by `form.response`
    kMadeUp,       ///< 200, 204 or 404: `made_up`, which nobody recorded
    kMisdirected,  ///< 421: to be asked for on another connection than that to `connection_host`
    kDamaged,      ///< 404: recorded, but the archive is damaged there, as `miss` says
    kMiss,         ///< 404: nothing recorded answers, as `miss` says
  };

  Kind kind = Kind::kMiss;
  /// Which exchange was chosen, and why; a miss where none was.
  Decision decision;
  /// That exchange, by whose schedule() the answer goes out. Null where none was chosen: what no
  /// exchange answers is sent at once.
  PreparedCache::Entry exchange;
  ServedForm form;
  Selected selected;
  const StitchedParts* parts = nullptr;
  MadeUp made_up;
  std::string connection_host;
  Miss miss;

  /// What `selected` and the schedule's steps are of: with kStitched the file, else
  /// `form.response`. Borrows from this.
  WholeResponse whole() const;
};

}  // namespace reprise
