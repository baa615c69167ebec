#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "dns/server.h"
#include "proxy/server.h"
#include "shaper/stream/stream_run.h"
#include "tools/link/linked_command.h"

namespace reprise {

/// The modelled link (--shaper stream) in front of a server's listeners. Errors are printed on
/// stderr where they occur, and returned as exit codes.
class StreamedLink {
 public:
  /// Measures the link unless the options say otherwise, so it needs socket(2) and connect(2), and
  /// leaves no threads behind. `instead_of`: why packets are not possible; empty if the user chose
  /// streams. With `strict` a machine that is too slow is an error (kExitGate).
  static std::expected<std::unique_ptr<StreamedLink>, int> prepare(const LinkOptions& options,
                                                                   const std::string& instead_of,
                                                                   bool strict);

  /// The seed of the link's random choices.
  std::uint64_t seed() const { return run_.seed; }

  /// Binds the sockets of a stub, as dns::bind_sockets() does. From start() on the questions of
  /// UDP and the connections of TCP that come to them cross the link, and `names` answers on the
  /// thread that runs `context`. Both outlive this.
  Result<boost::asio::ip::udp::endpoint> listen_for_names(const boost::asio::ip::udp::endpoint& at,
                                                          dns::Server& names,
                                                          boost::asio::io_context& context);

  /// Starts the link to `server`, which is running, for its `listeners` (by index) whose
  /// connections are accepted elsewhere. Returns an error as a sentence; empty on success.
  std::string start(Server& server, std::span<const std::size_t> listeners);

  /// Accepts no more connections.
  void close_listeners();
  /// Delivers the rest of the server's data, and prints warnings about the run on stderr. Call it
  /// once, after the server has stopped.
  StreamRun finish();
  /// The report so far.
  StreamRun report() const;

 private:
  /// A stub, and the sockets at which it is asked until start() moves them.
  struct Names {
    dns::Server& server;
    boost::asio::io_context& context;
    Descriptor datagrams;
    Descriptor listener;
  };

  explicit StreamedLink(StreamRun run) : run_(std::move(run)) {}
  void answer(const StreamQuestion& question);

  StreamRun run_;
  std::optional<Names> names_;
  std::unique_ptr<StreamShell> shell_;
};

}  // namespace reprise
