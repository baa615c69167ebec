#include "tools/serve/serving.h"

#include <signal.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cstdio>

#include "base/system/json_file.h"
#include "base/system/thread_priority.h"
#include "pageload/browser/launch.h"
#include "shaper/packet/network/topology.h"
#include "tools/commands.h"
#include "tools/process/child_command.h"
#include "tools/process/chromium_flags.h"
#include "tools/process/command_line.h"
#include "tools/process/descriptor_limit.h"
#include "tools/process/log_lines.h"
#include "tools/process/process_signals.h"
#include "tools/serve/command_environment.h"

namespace reprise {
namespace {

/// Behind a link all names of a recording lead to one address: SNI and Host name the origin. It is
/// in the range for benchmarks (RFC 2544), which is used only there.
auto const kFarAddress = net::ip::make_address_v4("198.19.0.1");
/// Linux limits an argument to 128 KiB, and the variable with all flags (lead_to_h3()).
constexpr std::size_t kRulesMax = 120'000;
/// The limit for running requests of a tool whose callers do not wait.
constexpr std::chrono::milliseconds kAtOnce{0};

/// Whether the listener accepts connections to stand-ins on loopback.
bool takes_stand_ins(const ListenAddress& address) {
  return address.at && (address.at->address() == net::ip::address_v4::loopback() ||
                        address.at->address() == net::ip::address_v4::any());
}

}  // namespace

void ServingOptions::add_to(CLI::App& command) {
  addresses.add_to(command);
  link.add_to(command);
  command
      .add_option(
          "--shaper", shaper,
          "packet: send the command's packets over the link; stream: model TCP, approximate; auto: "
          "packet if there is a command and the system permits it, else stream")
      ->check(CLI::IsMember({"auto", "packet", "stream"}))
      ->capture_default_str()
      ->group("Emulated network (`reprise profiles` lists links)");
  command.add_flag("--no-child-ca", no_child_ca,
                   "Do not make the command's programs trust the CA by environment variables");
  command.add_option("--ready-file", ready_file,
                     "Write the addresses here as JSON once all listeners accept");
  command
      .add_option("--log", log_level,
                  "Log at this level: trace, debug, info, warn, err or off [warn]")
      ->check(CLI::IsMember({"trace", "debug", "info", "warn", "err", "off"}));
}

Serving::Serving(std::string mode, ServingOptions options, std::vector<std::string> command)
    : mode_(std::move(mode)), options_(std::move(options)), command_(std::move(command)) {}

Serving::~Serving() = default;

std::optional<int> Serving::prepare(const Naming& naming) {
  log_to_stderr(options_.log_level);
  auto addresses = options_.addresses.parse(command_.empty() ? DefaultAddresses::kKnownPorts
                                                             : DefaultAddresses::kAnyPorts);
  if (!addresses) {
    std::fprintf(stderr, "reprise: %s\n", addresses.error().c_str());
    return kExitUsage;
  }
  addresses_ = std::move(*addresses);
  if (auto const wrong = check_link_options()) return wrong;
  if (!remove_stale_file(options_.ready_file, "--ready-file")) return kExitFailed;
  if (auto const wrong = open_authorities()) return wrong;
  if (auto const wrong = prepare_command()) return wrong;
  if (auto const wrong = check_h3()) return wrong;
  // Not before the fork: the command would inherit it.
  ::signal(SIGPIPE, SIG_IGN);
  raise_descriptor_limit();
  if (auto const wrong = make_plan(naming)) return wrong;
  if (auto const wrong = move_servers_away(naming)) return wrong;
  if (auto const wrong = bind()) return wrong;
  return bind_names(naming);
}

std::optional<int> Serving::open_authorities() {
  for (auto const& [certificate, key] : options_.drop_in.roots) {
    auto root = CertificateAuthority::open_files(certificate, key);
    if (!root) {
      std::fprintf(stderr, "reprise: the root in %s and %s cannot be used: %s\n",
                   certificate.c_str(), key.c_str(), root.error().message().c_str());
      return kExitFailed;
    }
    authorities_.push_back(std::move(*root));
  }
  if (!authorities_.empty()) return std::nullopt;
  auto const folder = CertificateAuthority::default_directory();
  auto authority = CertificateAuthority::open_or_create(folder);
  if (!authority) {
    std::fprintf(stderr, "reprise: the certificate authority in %s cannot be used: %s\n",
                 folder.c_str(), authority.error().message().c_str());
    return kExitFailed;
  }
  authorities_.push_back(std::move(*authority));
  return std::nullopt;
}

std::optional<int> Serving::prepare_command() {
  if (!options_.link.link.empty()) {
    if (auto const wrong = prepare_link()) return wrong;
  }
  if (!command_.empty() && !options_.no_child_ca) all_roots_ = write_all_roots(authorities_);
  if (child_ || command_.empty()) return std::nullopt;
  auto child = ChildCommand::prepare();
  if (!child) {
    std::fprintf(stderr, "reprise: cannot start a process: %s\n", child.error().message().c_str());
    return kExitFailed;
  }
  child_ = std::make_unique<ChildCommand>(std::move(*child));
  return std::nullopt;
}

/// Stand-ins are for clients that find a listener there; callers of a drop-in have none.
std::optional<int> Serving::make_plan(const Naming& naming) {
  bool const served = !options_.drop_in.in_front &&
                      (takes_stand_ins(addresses_.http) || takes_stand_ins(addresses_.https));
  if (!naming.hosts || (linked_ == nullptr && !served)) return std::nullopt;
  auto plan = dns::Plan::create(
      *naming.hosts,
      {.range = linked_ != nullptr ? dns::Plan::Range::kNamespace : dns::Plan::Range::kLoopback,
       .single = naming.single});
  if (!plan) {
    std::fprintf(stderr, "reprise: cannot assign stand-ins to the recorded addresses: %s\n",
                 plan.error().message().c_str());
    return kExitArchive;
  }
  plan_ = std::move(*plan);
  return std::nullopt;
}

std::vector<Listen> Serving::wanted_listeners() {
  std::vector<Listen> listeners;
  for (ListenAddress* const address :
       {&addresses_.http, &addresses_.https, &addresses_.proxy, &addresses_.admin}) {
    if (!address->at) continue;
    bool const transparent = address == &addresses_.http || address == &addresses_.https;
    listeners.push_back(
        {.flag = address->flag,
         .at = *address->at,
         .entry = address == &addresses_.proxy ? Entry::kProxy : Entry::kTransparent,
         .tls = address != &addresses_.admin,
         .whole_loopback = transparent && plan_ && address->at->address().is_loopback() &&
                           takes_stand_ins(*address),
         .h3 = options_.h3 && address == &addresses_.https,
         .h3_options = h3_listener_options(),
         .accepted_elsewhere = streamed_ && address != &addresses_.admin});
    open_addresses_.push_back(address);
  }
  // A command behind a link reaches us at every address and port.
  if (linked_ != nullptr) {
    for (Descriptor& socket : linked_->tcp_listeners()) {
      listeners.push_back({.flag = "--link", .descriptor = socket.release()});
    }
    for (Descriptor& socket : linked_->udp_sockets()) {
      listeners.push_back({.flag = "--link",
                           .descriptor = socket.release(),
                           .h3 = true,
                           .h3_options = h3_listener_options()});
    }
  }
  return listeners;
}

std::optional<int> Serving::bind() {
  auto server = Server::create(wanted_listeners(), authorities_, options_.threads);
  if (!server) {
    auto const& wrong = server.error();
    if (wrong.flag == "TLS") {
      std::fprintf(stderr, "reprise: TLS cannot be set up: %s\n", wrong.error.message().c_str());
      return kExitFailed;
    }
    return cannot_listen({.flag = wrong.flag, .at = wrong.at}, wrong.error);
  }
  server_ = std::move(*server);
  if (!options_.drop_in.remedy.empty()) {
    server_->failed_handshakes().set_remedy(options_.drop_in.remedy);
  }
  for (std::size_t i = 0; i < open_addresses_.size(); ++i) {
    open_addresses_[i]->at = server_->bound()[i];
  }
  return std::nullopt;
}

int Serving::cannot_listen(const ListenAddress& wanted, std::error_code error) const {
  if (options_.drop_in.say_cannot_listen) {
    options_.drop_in.say_cannot_listen(wanted, error);
    return kExitListen;
  }
  std::fprintf(
      stderr, "reprise: cannot listen on %s for %s: %s. Choose another address with %s ADDR:PORT\n",
      to_text(*wanted.at).c_str(), wanted.flag.c_str(), error.message().c_str(),
      wanted.flag.c_str());
  return kExitListen;
}

/// The zone of the stub.
dns::Zone Serving::zone(const Naming& naming) const {
  if (plan_) {
    auto planned =
        plan_->zone(naming.any, options_.h3 ? options_.h3->offered : std::set<std::string>());
    planned.other_delays = naming.other_delays;
    return planned;
  }
  if (linked_ != nullptr) return {.entries = {}, .catch_all = kFarAddress};
  auto const& main = addresses_.https.at ? addresses_.https : addresses_.http;
  if (!main.at) return {};
  auto const at = main.at->address();
  if (!at.is_unspecified()) return {.entries = {}, .catch_all = at};
  // Only this machine asks: others need a listener at one address (ListenOptions::parse()).
  if (at.is_v4()) return {.entries = {}, .catch_all = net::ip::address_v4::loopback()};
  return {.entries = {}, .catch_all = net::ip::address_v6::loopback()};
}

std::optional<int> Serving::bind_names(const Naming& naming) {
  if (linked_ == nullptr && !addresses_.dns.at) {
    if (!naming.needs_resolver) return std::nullopt;
    std::fprintf(
        stderr,
        "reprise: --dns-time and --what-if dns= need clients that look up names here. Add a "
        "link, --shaper packet, or --dns ADDRESS\n");
    return kExitUsage;
  }
  responder_.emplace(zone(naming), dns::Responder::Options{.chains = naming.chains});
  names_.emplace(context_, *responder_,
                 dns::Server::Options{.allow_remote = options_.addresses.allow_remote});
  if (addresses_.dns.at) {
    net::ip::udp::endpoint const at(addresses_.dns.at->address(), addresses_.dns.at->port());
    auto const bound =
        streamed_ ? streamed_->listen_for_names(at, *names_, context_) : names_->listen(at);
    if (!bound) return cannot_listen(addresses_.dns, bound.error());
    addresses_.dns.at = tcp::endpoint(bound->address(), bound->port());
  }
  if (linked_ == nullptr) return std::nullopt;
  for (Descriptor& socket : linked_->name_sockets()) {
    if (auto const served = names_->adopt(socket.release()); !served) {
      std::fprintf(stderr, "reprise: cannot answer DNS behind the link: %s\n",
                   served.error().message().c_str());
      return kExitFailed;
    }
  }
  return std::nullopt;
}

void Serving::mint_expected(const std::stop_token& stop) {
  give_way();
  server_->mint_expected(stop);
}

int Serving::run(HandlerFactory& handler, const AdminActions& admin,
                 const std::function<std::string()>& progress) {
  loop_ = std::make_unique<MainLoop>(context_);
  Admin admin_handler(admin);
  auto const& drop_in = options_.drop_in;
  auto const front = drop_in.in_front ? drop_in.in_front(handler, admin) : nullptr;
  HandlerFactory& first_handler = front ? *front : handler;
  std::vector<HandlerFactory*> factories;
  for (const ListenAddress* const address : open_addresses_) {
    factories.push_back(address == &addresses_.admin ? static_cast<HandlerFactory*>(&admin_handler)
                                                     : &first_handler);
  }
  factories.resize(server_->bound().size(), &first_handler);  // those behind the link
  // Whoever is not behind a link is not measured, and may be busy.
  bool const first = linked_ != nullptr && options_.link.priority() != WantedPriority::kOrdinary;
  server_->start(factories, first ? WantedPriority::kBest : WantedPriority::kOrdinary);

  auto const ended = announce();
  auto const exit_code = ended ? *ended : loop_->run(child_.get(), progress);
  loop_->end_on_second_signal();
  if (names_) names_->stop();
  if (streamed_) streamed_->close_listeners();
  server_->stop(drop_in.ends_at_once ? kAtOnce : Server::kEndingTime);
  return ended ? exit_code : finish_link(exit_code);
}

/// All listeners accept now: prints so, or starts the command. Returns an exit code if that fails,
/// or if the process has been asked to end.
std::optional<int> Serving::announce() {
  if (auto const number = waiting_signal()) return child_ ? 128 + *number : int{kExitDone};
  if (streamed_) {
    std::vector<std::size_t> listeners;
    for (std::size_t i = 0; i < open_addresses_.size(); ++i) {
      if (open_addresses_[i] != &addresses_.admin) listeners.push_back(i);
    }
    if (auto const wrong = streamed_->start(*server_, listeners); !wrong.empty()) {
      std::fprintf(stderr, "reprise: the link cannot be modelled: %s\n", wrong.c_str());
      return kExitFailed;
    }
  }
  if (!options_.ready_file.empty() &&
      !write_json_file(options_.ready_file, "--ready-file", ready_json())) {
    return kExitFailed;
  }
  if (options_.drop_in.say_listening) {
    options_.drop_in.say_listening(addresses_);
  } else if (!child_) {
    auto told = open_addresses_;
    if (addresses_.dns.at) told.push_back(&addresses_.dns);
    for (const ListenAddress* const address : told) {
      std::fprintf(stderr, "%s: %s on %s\n", mode_.c_str(), address->flag.c_str() + 2,
                   to_text(*address->at).c_str());
    }
  }
  if (!child_) return std::nullopt;
  auto const flags = chromium_flags();
  auto environment = addresses_environment(addresses_, authorities_.front(), flags);
  environment.push_back(kScriptVariable + ("=" + options_.browser_script));
  if (!all_roots_.empty()) {
    auto const trust = trust_environment(authorities_, all_roots_);
    environment.insert(environment.end(), trust.begin(), trust.end());
  }
  auto const wrong = child_->start(expand_chromium_flags(command_, flags), environment);
  if (wrong.empty()) return std::nullopt;
  std::fprintf(stderr, "reprise: cannot start %s: %s\n", command_.front().c_str(), wrong.c_str());
  return kExitFailed;
}

void Serving::stop(int exit_code) {
  loop_->stop(exit_code);
}

std::vector<std::string> Serving::chromium_flags() const {
  std::vector<std::string> flags;
  // In a network behind a link all names and addresses lead here.
  if (linked_ == nullptr) {
    std::string rules;
    if (plan_) {
      auto const& [http, https, proxy, dns, admin] = addresses_;
      auto const port = [](const ListenAddress& address, const ListenAddress& other) {
        return takes_stand_ins(address) ? address.at->port() : other.at->port();
      };
      // Hosts that were not recorded lead here, too, so that their misses are seen and explained.
      rules = plan_->chromium_rules({.http = port(http, https), .https = port(https, http)}, true);
      if (rules.size() > kRulesMax) {
        std::fprintf(stderr,
                     "reprise: too many hosts for Chromium's flags, so Chromium sees one address "
                     "for all. With the resolver of --dns each host has its own\n");
        rules.clear();
      }
    }
    flags = routing_flags(addresses_, rules);
  }
  keep_from_proxies(flags);
  std::string trusted;
  for (const CertificateAuthority& each : authorities_) {
    trusted += (trusted.empty() ? "" : ",") + each.spki_sha256_base64();
  }
  flags.push_back("--ignore-certificate-errors-spki-list=" + trusted);
  auto const quiet = quiet_flags();
  flags.insert(flags.end(), quiet.begin(), quiet.end());
  if (options_.h3 && !lead_to_h3(flags, options_.h3->led, options_.h3->offered)) {
    std::fprintf(stderr,
                 "reprise: too many hosts for Chromium's flags, so Chromium uses HTTP/3 with all "
                 "hosts from the first request on\n");
  }
  return flags;
}

boost::json::object Serving::ready_json() const {
  auto const text_of = [](const ListenAddress& address) -> boost::json::value {
    if (!address.at) return nullptr;
    return boost::json::string(to_text(*address.at));
  };
  return {{"mode", mode_},
          {"http", text_of(addresses_.http)},
          {"https", text_of(addresses_.https)},
          {"proxy", text_of(addresses_.proxy)},
          {"dns", text_of(addresses_.dns)},
          {"admin", text_of(addresses_.admin)},
          {"ca_file", authorities_.front().certificate_path().string()},
          {"ca_spki_sha256", authorities_.front().spki_sha256_base64()},
          {"chromium_flags", boost::json::value_from(chromium_flags())},
          {"firefox_prefs", firefox_preferences()},
          {"script", options_.browser_script.empty() ? boost::json::value()
                                                     : boost::json::value(options_.browser_script)},
          {"pid", ::getpid()}};
}

}  // namespace reprise
