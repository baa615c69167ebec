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

/// The modelled link (--shaper stream) in front of a server's listeners. What is wrong is said on
/// stderr where it is found; the errors are exit codes.
class StreamedLink {
 public:
  /// Measures the link unless the options say otherwise, so it needs socket(2) and connect(2), and
  /// leaves no threads behind. `instead_of` is why it is not packets; empty when the user wants it
  /// so. With `strict` a machine that does not keep up is an error (kExitGate).
  static std::expected<std::unique_ptr<StreamedLink>, int> prepare(const LinkOptions& options,
                                                                   const std::string& instead_of,
                                                                   bool strict);

  /// Binds the sockets of a stub, as dns::bind_sockets() does. From start() on the questions of
  /// UDP and the connections of TCP that come to them cross the link, and `names` answers on the
  /// thread that runs `context`. Both outlive this.
  Result<boost::asio::ip::udp::endpoint> listen_for_names(const boost::asio::ip::udp::endpoint& at,
                                                          dns::Server& names,
                                                          boost::asio::io_context& context);

  /// The link begins to carry: to `server`, which has started, for those of its listeners (by their
  /// places) that are accepted elsewhere. Returns what went wrong, empty for nothing.
  std::string start(Server& server, std::span<const std::size_t> listeners);

  /// Nobody is accepted any more.
  void close_listeners();
  /// Lets what the server has sent arrive, and says on stderr what is doubtful about the run. Once,
  /// after the server has stopped.
  StreamRun finish();
  /// The same as it is up to now.
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
