#include "tools/serving.h"

#include <fcntl.h>
#include <signal.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/json.hpp>
#include <charconv>
#include <cstdio>
#include <fstream>

#include "tools/browser/launch.h"
#include "tools/commands.h"
#include "tools/signal_events.h"

namespace reprise {
namespace {

constexpr std::chrono::milliseconds kLivePeriod{250};
constexpr std::chrono::seconds kPlainPeriod{5};
/// How long a command that was told to end may take before it is killed.
constexpr std::chrono::seconds kPatience{5};

/// Parses "ADDR:PORT", "[ADDR]:PORT" or "off" (no endpoint); an error text otherwise.
std::expected<std::optional<tcp::endpoint>, std::string> parse_place(const std::string& text) {
  if (text == "off") return std::nullopt;
  auto const colon = text.rfind(':');
  auto address_text = text.substr(0, colon == std::string::npos ? text.size() : colon);
  if (address_text.starts_with('[') && address_text.ends_with(']')) {
    address_text = address_text.substr(1, address_text.size() - 2);
  }
  boost::system::error_code error;
  auto const address = net::ip::make_address(address_text, error);
  std::uint16_t port = 0;
  auto const digits = colon == std::string::npos ? "" : text.substr(colon + 1);
  auto const [end, bad] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error || bad != std::errc() || end != digits.data() + digits.size() || digits.empty()) {
    return std::unexpected("'" + text + "' is neither ADDR:PORT (127.0.0.1:8080) nor off");
  }
  return tcp::endpoint(address, port);
}

/// Connections cost descriptors, and a browser opens hundreds.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

void ServingOptions::add_to(CLI::App& command) {
  auto const group = "Listeners (ADDR:PORT, port 0 for any, or off)";
  command.add_option("--http", http, "Transparent HTTP (default 127.0.0.1:8080)")->group(group);
  command.add_option("--https", https, "Transparent HTTPS (default 127.0.0.1:8443)")->group(group);
  command.add_option("--proxy", proxy, "Explicit HTTP proxy (default 127.0.0.1:8081)")
      ->group(group);
  command.add_option("--dns", dns, "Stub resolver; only 'off' until it is built")->group(group);
  command.add_option("--admin", admin, "Status and control as JSON (default off)")->group(group);
  command.add_flag("--allow-remote", allow_remote, "Allow listeners that others can reach")
      ->group(group);
  command.add_option("--ready-file", ready_file, "Write JSON here once all listeners accept");
  command.add_option("--log", log_level, "trace, debug, info, warn, err or off")
      ->check(CLI::IsMember({"trace", "debug", "info", "warn", "err", "off"}));
}

/// The main thread while the server runs: signals, the child, progress.
class Serving::Loop {
 public:
  Loop() : context_(1), signals_(context_), ticker_(context_), patience_(context_) {}

  int run(ChildCommand* child, const std::function<std::string()>& progress) {
    child_ = child;
    progress_ = &progress;
    live_ = ::isatty(STDERR_FILENO) != 0;
    signals_.listen([this](const signalfd_siginfo& signal) { on_signal(signal); });
    tick();
    context_.run();
    if (live_ && !last_line_.empty()) std::fputs("\r\033[K", stderr);
    return exit_code_;
  }

  /// From here on a signal ends the process at once.
  void let_signals_end() { signals_.let_go(); }

  void stop(int exit_code) {
    net::post(context_, [this, exit_code] {
      if (exit_code_ == kExitDone) exit_code_ = exit_code;
      if (child_ == nullptr) return context_.stop();
      if (std::exchange(stopping_, true)) return;
      child_->signal(SIGTERM);
      patience_.expires_after(kPatience);
      patience_.async_wait([this](boost::system::error_code error) {
        if (!error) child_->signal(SIGKILL);
      });
    });
  }

 private:
  void on_signal(const signalfd_siginfo& signal) {
    auto const number = static_cast<int>(signal.ssi_signo);
    if (number == SIGCHLD) {
      int exit_code = 0;
      if (child_ == nullptr || !child_->poll(exit_code)) return;
      if (exit_code_ == kExitDone) exit_code_ = exit_code;
      return context_.stop();
    }
    if (std::exchange(signalled_, true)) {
      // A second one ends now: what the archive holds is whole at any time.
      if (child_ != nullptr) child_->signal(SIGKILL);
      ::_exit(128 + number);
    }
    if (child_ == nullptr) return context_.stop();
    // Ctrl-C: the terminal told the command, too, and many take a second SIGINT for "now".
    bool const typed = number == SIGINT && signal.ssi_code == SI_KERNEL;
    if (!typed || !child_->is_in_our_group()) child_->signal(number);
  }

  void tick() {
    ticker_.expires_after(live_ ? std::chrono::milliseconds(kLivePeriod)
                                : std::chrono::milliseconds(kPlainPeriod));
    ticker_.async_wait([this](boost::system::error_code error) {
      if (error) return;
      if (auto line = (*progress_)(); line != last_line_) {
        if (live_) {
          std::fprintf(stderr, "\r\033[K%s", line.c_str());
        } else {
          std::fprintf(stderr, "%s\n", line.c_str());
        }
        last_line_ = std::move(line);
      }
      tick();
    });
  }

  net::io_context context_;
  SignalEvents signals_;
  net::steady_timer ticker_;
  net::steady_timer patience_;
  ChildCommand* child_ = nullptr;
  const std::function<std::string()>* progress_ = nullptr;
  bool live_ = false;
  bool signalled_ = false;
  bool stopping_ = false;
  std::string last_line_;
  int exit_code_ = kExitDone;
};

Serving::Serving(std::string mode, ServingOptions options, std::vector<std::string> command)
    : mode_(std::move(mode)), options_(std::move(options)), command_(std::move(command)) {}

Serving::~Serving() = default;

std::optional<int> Serving::prepare() {
  auto const log = spdlog::stderr_color_mt("reprise");
  log->set_pattern("reprise: %v");
  log->set_level(spdlog::level::from_str(options_.log_level));
  spdlog::set_default_logger(log);
  if (auto const wrong = parse_places()) return wrong;
  if (!remove_stale_ready_file()) return kExitFailed;
  auto authority = CertificateAuthority::open_or_create(CertificateAuthority::default_directory());
  if (!authority) {
    std::fprintf(stderr, "reprise: the certificate authority in %s cannot be used: %s\n",
                 CertificateAuthority::default_directory().c_str(),
                 authority.error().message().c_str());
    return kExitFailed;
  }
  authority_ = std::move(*authority);
  if (!command_.empty()) {
    auto child = ChildCommand::prepare();
    if (!child) {
      std::fprintf(stderr, "reprise: cannot start a process: %s\n",
                   child.error().message().c_str());
      return kExitFailed;
    }
    child_.emplace(std::move(*child));
  }
  // Not before the fork: they would be the command's, too.
  ::signal(SIGPIPE, SIG_IGN);
  raise_descriptor_limit();
  return bind();
}

std::optional<int> Serving::bind() {
  std::vector<Listen> listeners;
  for (Place* const place : {&http_, &https_, &proxy_, &admin_}) {
    if (!place->at) continue;
    listeners.push_back({.flag = place->flag,
                         .at = *place->at,
                         .entry = place == &proxy_ ? Entry::kProxy : Entry::kTransparent,
                         .tls = place != &admin_});
    open_places_.push_back(place);
  }
  auto server = Server::create(listeners, *authority_, options_.threads);
  if (!server) {
    auto const& wrong = server.error();
    if (wrong.flag == "TLS") {
      std::fprintf(stderr, "reprise: TLS cannot be set up: %s\n", wrong.error.message().c_str());
      return kExitFailed;
    }
    std::fprintf(stderr,
                 "reprise: cannot listen on %s for %s: %s; choose another with %s ADDR:PORT\n",
                 to_text(wrong.at).c_str(), wrong.flag.c_str(), wrong.error.message().c_str(),
                 wrong.flag.c_str());
    return kExitListen;
  }
  server_ = std::move(*server);
  for (std::size_t i = 0; i < open_places_.size(); ++i) {
    open_places_[i]->at = server_->bound()[i];
  }
  return std::nullopt;
}

std::optional<int> Serving::parse_places() {
  // Beside a command nobody types the ports, and several runs must not collide.
  auto const port = [this](const char* number) {
    return std::string("127.0.0.1:") + (command_.empty() ? number : "0");
  };
  struct Wanted {
    Place* place;
    const char* flag;
    const std::string& given;
    std::string otherwise;
  };
  for (const auto& wanted : {Wanted{&http_, "--http", options_.http, port("8080")},
                             Wanted{&https_, "--https", options_.https, port("8443")},
                             Wanted{&proxy_, "--proxy", options_.proxy, port("8081")},
                             Wanted{&admin_, "--admin", options_.admin, "off"}}) {
    auto const at = parse_place(wanted.given.empty() ? wanted.otherwise : wanted.given);
    if (!at) {
      std::fprintf(stderr, "reprise: %s: %s\n", wanted.flag, at.error().c_str());
      return kExitUsage;
    }
    if (*at && !(*at)->address().is_loopback() && !options_.allow_remote) {
      std::fprintf(stderr,
                   "reprise: %s %s can be reached from other machines: say --allow-remote if that "
                   "is meant\n",
                   wanted.flag, to_text(**at).c_str());
      return kExitUsage;
    }
    *wanted.place = {.flag = wanted.flag, .at = *at};
  }
  if (!options_.dns.empty() && options_.dns != "off") {
    std::fprintf(stderr, "reprise: --dns: the stub resolver is not built yet: say off\n");
    return kExitUsage;
  }
  return std::nullopt;
}

int Serving::run(HandlerFactory& handler, const AdminActions& admin,
                 const std::function<std::string()>& progress) {
  loop_ = std::make_unique<Loop>();
  Admin admin_handler(admin);
  std::vector<HandlerFactory*> factories;
  for (const Place* const place : open_places_) {
    factories.push_back(place == &admin_ ? static_cast<HandlerFactory*>(&admin_handler) : &handler);
  }
  server_->start(factories);

  auto const flags = chromium_flags();
  if (!write_ready_file(flags)) {
    server_->stop();
    return kExitFailed;
  }
  if (child_) {
    auto const started = child_->start(expand_chromium_flags(command_, flags));
    if (!started) {
      std::fprintf(stderr, "reprise: cannot start %s: %s\n", command_.front().c_str(),
                   started.error().message().c_str());
      server_->stop();
      return kExitFailed;
    }
  } else {
    for (const Place* const place : open_places_) {
      std::fprintf(stderr, "%s: %s on %s\n", mode_.c_str(), place->flag.c_str() + 2,
                   to_text(*place->at).c_str());
    }
  }
  auto const exit_code = loop_->run(child_ ? &*child_ : nullptr, progress);
  loop_->let_signals_end();
  server_->stop();
  return exit_code;
}

void Serving::stop(int exit_code) {
  loop_->stop(exit_code);
}

/// What leads Chromium here, and nowhere else whatever listeners there are.
std::vector<std::string> Serving::routing_flags() const {
  if (!http_.at && !https_.at) {
    if (!proxy_.at) return {"--host-resolver-rules=MAP * ~NOTFOUND"};
    // Without the first rule it would look names up by itself, without the last not find the proxy;
    // loopback hosts go past a proxy by default.
    return {"--proxy-server=http://" + to_text(*proxy_.at), "--proxy-bypass-list=<-loopback>",
            "--host-resolver-rules=MAP * ~NOTFOUND,EXCLUDE " + proxy_.at->address().to_string()};
  }
  std::string rules;
  auto const map = [&rules](const char* pattern, const Place& place) {
    if (!place.at) return;
    rules += (rules.empty() ? "MAP " : ",MAP ") + std::string(pattern) + " " + to_text(*place.at);
  };
  map("*:80", http_);
  map("*:443", https_);
  // Both listeners tell TLS from clear text by the first byte, so either takes any other port.
  map("*", https_.at ? https_ : http_);
  return {"--host-resolver-rules=" + rules};
}

std::vector<std::string> Serving::chromium_flags() const {
  auto flags = routing_flags();
  flags.push_back("--ignore-certificate-errors-spki-list=" + authority_->spki_sha256_base64());
  auto const quiet = quiet_flags();
  flags.insert(flags.end(), quiet.begin(), quiet.end());
  return flags;
}

/// Who waits for this run's file must not read that of an earlier one.
bool Serving::remove_stale_ready_file() const {
  std::error_code error;
  if (options_.ready_file.empty()) return true;
  std::filesystem::remove(options_.ready_file, error);
  if (!error) return true;
  std::fprintf(stderr, "reprise: --ready-file %s is in the way and cannot be removed: %s\n",
               options_.ready_file.c_str(), error.message().c_str());
  return false;
}

bool Serving::write_ready_file(const std::vector<std::string>& chromium_flags) const {
  if (options_.ready_file.empty()) return true;
  auto const address = [](const Place& place) -> boost::json::value {
    if (!place.at) return nullptr;
    return boost::json::string(to_text(*place.at));
  };
  boost::json::object ready;
  ready["mode"] = mode_;
  ready["http"] = address(http_);
  ready["https"] = address(https_);
  ready["proxy"] = address(proxy_);
  ready["dns"] = nullptr;
  ready["admin"] = address(admin_);
  ready["ca_file"] = authority_->certificate_path().string();
  ready["ca_spki_sha256"] = authority_->spki_sha256_base64();
  ready["chromium_flags"] = boost::json::value_from(chromium_flags);
  ready["pid"] = ::getpid();

  auto const half_written = options_.ready_file.string() + ".part";
  std::error_code error;
  {
    std::ofstream file(half_written, std::ios::trunc);
    file << boost::json::serialize(ready) << "\n";
    if (!file.flush()) error = {errno, std::system_category()};
  }
  if (!error) std::filesystem::rename(half_written, options_.ready_file, error);
  if (!error) return true;
  std::fprintf(stderr, "reprise: --ready-file %s cannot be written: %s\n",
               options_.ready_file.c_str(), error.message().c_str());
  std::filesystem::remove(half_written, error);
  return false;
}

}  // namespace reprise
