#pragma once

// What a command line of another tool changes in serving; ours sets nothing of it.

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "proxy/admin.h"
#include "proxy/connection.h"
#include "tools/serve/listen_addresses.h"

namespace reprise {

/// PEM files of a certificate authority.
struct RootFiles {
  std::filesystem::path certificate;
  std::filesystem::path key;
};

struct DropIn {
  /// The authorities that sign instead of the user's own: for each client the first whose type of
  /// key it takes.
  std::vector<RootFiles> roots;
  /// What the log tells users whose client does not trust these roots.
  std::string remedy;
  /// Makes the handler that gets the requests of clients, and passes them on to `inner`. It must
  /// not outlive its arguments.
  std::function<std::unique_ptr<HandlerFactory>(HandlerFactory& inner, const AdminActions&)>
      in_front;
  /// Prints the addresses once all listeners accept, instead of our lines.
  std::function<void(const ListenAddresses& bound)> say_listening;
  /// Prints that a listener could not be opened; then the run ends.
  std::function<void(const ListenAddress& wanted, std::error_code)> say_cannot_listen;
  /// Ends running requests at once when the run ends.
  bool ends_at_once = false;
};

}  // namespace reprise
