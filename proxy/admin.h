#pragma once

#include <functional>
#include <string>

#include "proxy/connection.h"

namespace reprise {

/// The actions of the admin listener. Called on a server thread; must be thread-safe.
struct AdminActions {
  std::function<std::string()> status;  ///< JSON
  std::function<std::string()> misses;  ///< JSON
  std::function<void()> reset;          ///< empty: not offered
  std::function<void()> clear;          ///< drops what was recorded; not offered on the listener
  std::function<void()> stop;
};

/// GET /status, GET /misses, POST /reset if there is that action, POST /stop; all answers are JSON.
/// A request for anything else is answered with 404 and this list.
class Admin final : public HandlerFactory {
 public:
  explicit Admin(AdminActions actions) : actions_(std::move(actions)) {}
  std::unique_ptr<ConnectionHandler> open(const ConnectionInfo& connection) override;

 private:
  AdminActions actions_;
};

}  // namespace reprise
