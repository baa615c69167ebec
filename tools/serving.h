#pragma once

// What `record` and `replay` have in common: where to listen, what to run meanwhile, when to end.

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "proxy/admin.h"
#include "proxy/server.h"
#include "tools/child_command.h"

namespace reprise {

/// The options of DESIGN's command line that both subcommands take.
struct ServingOptions {
  std::string http;  ///< ADDR:PORT or "off"; empty: the default
  std::string https;
  std::string proxy;
  std::string dns;
  std::string admin;
  bool allow_remote = false;
  std::filesystem::path ready_file;
  std::string log_level = "warn";
  unsigned threads = 1;

  void add_to(CLI::App& command);
};

/// A server with everything around it, from the first listener to the last line on stderr.
class Serving {
 public:
  /// `mode` is "record" or "replay". `command` is what runs beside it, may be empty.
  Serving(std::string mode, ServingOptions options, std::vector<std::string> command);
  ~Serving();

  /// All that must come before threads and locks: checks the addresses, opens the certificate
  /// authority, forks the child, binds the listeners. Returns an exit code when something is wrong,
  /// and has said it.
  std::optional<int> prepare();

  /// Where the listeners are; after prepare().
  const std::vector<tcp::endpoint>& bound() const { return server_->bound(); }

  /// Serves, tells the world, runs the command; returns when the command has ended or, without one,
  /// when a signal came or stop() was called, after all connections have ended. The exit code is
  /// what stop() was given unless that was kExitDone, else the command's, else kExitDone.
  /// `progress` gives the text of the live line.
  int run(HandlerFactory& handler, const AdminActions& admin,
          const std::function<std::string()>& progress);

  /// Ends run() with this code; the command is told first (SIGTERM), and killed when it does not
  /// end within 5 s. Thread-safe.
  void stop(int exit_code);

 private:
  class Loop;
  struct Place {
    std::string flag;
    std::optional<tcp::endpoint> at;
  };
  std::optional<int> parse_places();
  std::optional<int> bind();
  bool write_ready_file(const std::vector<std::string>& chromium_flags) const;
  bool remove_stale_ready_file() const;
  std::vector<std::string> routing_flags() const;
  std::vector<std::string> chromium_flags() const;

  std::string mode_;
  ServingOptions options_;
  std::vector<std::string> command_;
  Place http_, https_, proxy_, admin_;  // after the start: as bound
  std::optional<CertificateAuthority> authority_;
  std::optional<ChildCommand> child_;
  std::vector<Place*> open_places_;  // in the server's order
  std::unique_ptr<Server> server_;
  std::unique_ptr<Loop> loop_;
};

}  // namespace reprise
