#pragma once

// Shared by `record` and `replay`: listeners, the command, and the end.

#include <boost/asio/io_context.hpp>
#include <boost/json/object.hpp>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "dns/plan.h"
#include "dns/responder.h"
#include "dns/server.h"
#include "pageload/browser/launch.h"
#include "proxy/admin.h"
#include "proxy/server.h"
#include "tools/link/linked_command.h"
#include "tools/link/streamed_link.h"
#include "tools/process/main_loop.h"
#include "tools/process/running_command.h"
#include "tools/serve/drop_in.h"
#include "tools/serve/listen_addresses.h"

namespace CLI {
class App;
}

namespace reprise {

/// How clients come to HTTP/3.
struct H3Serving {
  /// Host and port of the origins that browsers are led to over HTTP/3 from their first request on.
  H3Origins led;
  /// The hosts that offer it as they did in the recording, by Alt-Svc and by HTTPS records, as
  /// normal_host() writes them; browsers find it.
  std::set<std::string> offered;
  /// Where browsers look for it behind a link.
  std::set<std::uint16_t> udp_ports;
  /// Whether it is an error if QUIC cannot be served; otherwise a notice is printed and everything
  /// is served over TCP.
  bool required = true;

  /// Where it is served behind a link: 443 and udp_ports, at most kShellPortsMax / 2, without that
  /// of DNS, where the resolver is. Without a link it is served at the port of the HTTPS listener.
  std::vector<std::uint16_t> ports_behind_link() const;
};

/// The options of the command line that both subcommands take.
struct ServingOptions {
  ListenOptions addresses;
  LinkOptions link;
  std::string shaper = "auto";  ///< of the link: "auto", "packet", "stream"
  std::filesystem::path ready_file;
  std::string log_level = "warn";
  unsigned threads = 1;
  bool strict = false;  ///< a link that misses its settings ends the run (kExitGate)
  /// The command gets no variables by which clients find a CA.
  bool no_child_ca = false;
  // Not on our command line.
  DropIn drop_in;
  /// For the command, in REPRISE_SCRIPT, and for whoever reads the ready file; empty: none.
  std::string browser_script;
  /// Nothing: HTTP/3 is not served.
  std::optional<H3Serving> h3;

  void add_to(CLI::App& command);
};

/// The addresses that names resolve to.
struct Naming {
  /// Each host resolves to the stand-ins of its addresses. Nothing: all names resolve to this
  /// process, as in a recording.
  std::optional<std::vector<dns::RecordedHost>> hosts;
  bool single = false;                 ///< one stand-in for all
  bool any = false;                    ///< other names resolve, too
  bool chains = false;                 ///< the recorded CNAMEs and TTLs
  dns::OtherDelays other_delays = {};  ///< of names outside `hosts`
  /// Whether it is an error if no client can ask this process for names.
  bool needs_resolver = false;
  /// How much each origin address adds to the round trip behind a link, as recorded.
  std::map<net::ip::address, std::chrono::nanoseconds> round_trips;
  /// What what-ifs add to it.
  std::map<net::ip::address, std::chrono::nanoseconds> further_away;
  /// Whether it is an error if servers cannot be moved away.
  bool needs_packets = false;
};

/// How far away the stand-ins of `plan` are: of the origins that share one, the least recorded
/// round trip and the most that a what-if adds.
FarServers::Delays delays_of(const dns::Plan& plan, const Naming& naming);

/// A server with everything around it, from the first listener to the last line on stderr.
class Serving {
 public:
  /// `mode` is "record" or "replay". `command` is the command to run; can be empty.
  Serving(std::string mode, ServingOptions options, std::vector<std::string> command);
  ~Serving();

  /// Everything that must precede threads and locks: checks the addresses, opens the certificate
  /// authority, forks the child or makes its network, binds the listeners. Returns an exit code
  /// on an error, which has been printed.
  std::optional<int> prepare(const Naming& naming);

  /// Whether HTTP/3 is served; after prepare().
  bool serves_h3() const { return options_.h3.has_value(); }
  /// The addresses of the listeners; after prepare().
  const std::vector<tcp::endpoint>& bound() const { return server_->bound(); }
  /// The address of the resolver; after prepare(). nullopt without a resolver.
  std::optional<tcp::endpoint> names_at() const { return addresses_.dns.at; }
  /// The link's report. Nothing without a link. On the main thread, after prepare().
  std::optional<boost::json::object> link_report() const;
  /// The seed of the link's losses and jitter; after prepare(). Nothing without a link, or if its
  /// settings leave nothing to chance. Any thread.
  std::optional<std::uint64_t> link_seed() const;
  /// Handshakes ended by clients; after prepare(). Any thread.
  FailedHandshakes::Counts failed_handshakes() const {
    return server_->failed_handshakes().counts();
  }
  /// The stub, or null. On the main thread.
  const dns::Responder* responder() const { return responder_ ? &*responder_ : nullptr; }

  /// The names of the certificates that clients will probably be shown; after prepare(), before
  /// run().
  void expect_names(const std::vector<LeafNames>& names) { server_->expect_names(names); }
  /// Mints these certificates, behind all other work of the machine: on a thread that the caller
  /// has for it, and that ends before this object. Returns early if `stop` is requested.
  void mint_expected(const std::stop_token& stop);

  /// Serves, prints the addresses, runs the command; returns after all connections have ended, when
  /// the command has ended or, without one, after a signal or stop(). The exit code is that of
  /// stop() unless it was kExitDone, else the command's, else kExitDone. `progress` returns the
  /// text of the live line.
  int run(HandlerFactory& handler, const AdminActions& admin,
          const std::function<std::string()>& progress);

  /// Ends run() with this code; the command gets SIGTERM first, and is killed if it does not end
  /// within 5 s. Thread-safe.
  void stop(int exit_code);

 private:
  std::optional<int> open_authorities();
  std::optional<int> prepare_command();
  std::optional<int> check_link_options() const;
  std::optional<int> prepare_link();
  std::optional<int> prepare_packets(std::optional<ShellError>* refused);
  std::optional<int> prepare_stream(const std::string& instead_of);
  int finish_link(int exit_code);
  std::optional<int> make_plan(const Naming& naming);
  const char* why_no_h3() const;
  std::optional<int> check_h3();
  std::optional<int> move_servers_away(const Naming& naming);
  QuicCongestion congestion() const;
  H3Listener::Options h3_listener_options() const;
  boost::json::object transports_report() const;
  std::vector<Listen> wanted_listeners();
  std::optional<int> bind();
  dns::Zone zone(const Naming& naming) const;
  std::optional<int> bind_names(const Naming& naming);
  int cannot_listen(const ListenAddress& wanted, std::error_code error) const;
  std::optional<int> announce();
  std::vector<std::string> chromium_flags() const;
  boost::json::object firefox_preferences() const;
  boost::json::object ready_json() const;

  std::string mode_;
  ServingOptions options_;
  std::vector<std::string> command_;
  ListenAddresses addresses_;                      // once bound, the bound ones
  std::vector<CertificateAuthority> authorities_;  // the first whose keys a client takes
  std::filesystem::path all_roots_;                // for the command: the system's and ours
  std::unique_ptr<RunningCommand> child_;
  LinkedCommand* linked_ = nullptr;  // the same, if it is behind a link
  bool link_has_chance_ = false;     ///< losses, jitter, or drops that are drawn
  std::optional<boost::json::object> finished_link_;
  std::optional<dns::Plan> plan_;
  net::io_context context_{1};
  std::optional<dns::Responder> responder_;
  std::optional<dns::Server> names_;
  std::vector<ListenAddress*> open_addresses_;  // in the server's order
  std::unique_ptr<Server> server_;
  std::unique_ptr<StreamedLink> streamed_;  // in front of it
  std::unique_ptr<MainLoop> loop_;
};

}  // namespace reprise
