#pragma once

#include <functional>
#include <memory>

#include "proxy/connection.h"

namespace reprise::wpr {

/// What the paths do. Called on server threads; must be thread-safe.
struct MagicActions {
  std::function<void()> exit;
  std::function<void()> reset;  ///< sequences start again
  std::function<void()> clear;  ///< what was recorded so far is dropped
};

/// Answers the paths by which callers of Web Page Replay command it, under any host, scheme, method
/// and query, with an empty 200, and passes on all other requests to `inner`: those paths are
/// never recorded, matched or counted.
///
///     /web-page-replay-generate-200
///     /web-page-replay-command-exit
///     /web-page-replay-reset-replay-chronology
///     /web-page-replay-command-clear
class MagicPaths final : public HandlerFactory {
 public:
  /// `inner` must outlive this.
  MagicPaths(HandlerFactory& inner, MagicActions actions)
      : inner_(inner), actions_(std::move(actions)) {}
  std::unique_ptr<ConnectionHandler> open(const ConnectionInfo& connection) override;

 private:
  HandlerFactory& inner_;
  MagicActions actions_;
};

}  // namespace reprise::wpr
