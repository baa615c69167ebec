#include "tools/wpr/wpr_serving.h"

#include <netdb.h>

#include <array>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>

#include "base/text/printable.h"
#include "tools/wpr/input/ignored_param.h"
#include "tools/wpr/input/script_text.h"
#include "tools/wpr/magic_paths.h"
#include "tools/wpr/wpr_roots.h"

namespace reprise::wpr {
namespace {

constexpr const char* kDeterministicScript = "deterministic.js";

/// The first address of `host`, an IPv4 one if there is any, as Go's listeners choose.
std::expected<net::ip::address, std::string> address_of(const std::string& host) {
  if (host.empty()) return net::ip::address_v4::any();
  boost::system::error_code error;
  if (auto const literal = net::ip::make_address(host, error); !error) return literal;
  addrinfo const hints{.ai_socktype = SOCK_STREAM};
  addrinfo* list = nullptr;
  if (int const wrong = ::getaddrinfo(host.c_str(), nullptr, &hints, &list); wrong != 0) {
    return std::unexpected("--host " + host + ": " + ::gai_strerror(wrong));
  }
  std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> const owned(list, ::freeaddrinfo);
  net::ip::address found;
  for (auto const* each = list; each != nullptr; each = each->ai_next) {
    tcp::endpoint at;
    if (each->ai_addrlen > at.capacity()) continue;
    std::copy_n(reinterpret_cast<const char*>(each->ai_addr), each->ai_addrlen,
                reinterpret_cast<char*>(at.data()));
    if (each->ai_family == AF_INET) return at.address();
    if (found.is_unspecified() && each->ai_family == AF_INET6) found = at.address();
  }
  if (found.is_unspecified()) return std::unexpected("--host " + host + " has no address");
  return found;
}

std::string listener(const net::ip::address& address, int port) {
  if (port < 0) return "off";
  return to_text(tcp::endpoint(address, static_cast<std::uint16_t>(port)));
}

/// The date before a line of Go's log package.
std::string log_date() {
  std::time_t const now = std::time(nullptr);
  std::tm parts{};
  ::localtime_r(&now, &parts);
  std::array<char, 32> text;
  std::strftime(text.data(), text.size(), "%Y/%m/%d %H:%M:%S ", &parts);
  return text.data();
}

/// Callers poll the file: each line must be there at once.
void say_line(const std::string& line, bool old) {
  auto* const to = old ? stderr : stdout;
  std::fputs(((old ? log_date() : "") + line + "\n").c_str(), to);
  std::fflush(to);
}

/// "http://127.0.0.1:8080". Callers look for a host without colons.
std::string url_of(const ListenAddress& address) {
  auto const scheme = address.flag.substr(2);
  auto const host = address.at->address().is_v6() ? "localhost" : address.at->address().to_string();
  return scheme + "://" + host + ":" + std::to_string(address.at->port());
}

/// The handlers before the server's own.
class Front final : public HandlerFactory {
 public:
  Front(HandlerFactory& inner, const AdminActions& admin, const std::optional<IgnoredParam>& param)
      : magic_(param ? without_.emplace(inner, *param) : inner, actions_of(admin)) {}
  std::unique_ptr<ConnectionHandler> open(const ConnectionInfo& connection) override {
    return magic_.open(connection);
  }

 private:
  static MagicActions actions_of(const AdminActions& admin) {
    auto const nothing = [] {};
    return {.exit = admin.stop,
            .reset = admin.reset ? admin.reset : nothing,
            .clear = admin.clear ? admin.clear : nothing};
  }

  std::optional<WithoutParam> without_;
  MagicPaths magic_;
};

DropIn drop_in(bool old_lines, std::optional<IgnoredParam> param) {
  DropIn drop_in;
  drop_in.in_front = [param = std::move(param)](HandlerFactory& inner, const AdminActions& admin) {
    return std::make_unique<Front>(inner, admin, param);
  };
  drop_in.say_listening = [old_lines](const ListenAddresses& bound) {
    for (const ListenAddress* const each : {&bound.http, &bound.https}) {
      if (each->at) say_line("Starting server on " + url_of(*each), old_lines);
    }
  };
  drop_in.say_cannot_listen = [old_lines](const ListenAddress& wanted, std::error_code error) {
    say_line("Failed to start server on " + url_of(wanted) + ": " + error.message(), old_lines);
  };
  drop_in.ends_at_once = true;
  return drop_in;
}

/// The name of a level in the old and the new tool.
std::expected<std::string, std::string> log_level_of(const Flags& flags) {
  if (flags.quiet || flags.log_level.empty()) return flags.quiet ? "err" : "warn";
  for (auto const& [theirs, ours] : {std::pair{"DEBUG", "debug"},
                                     {"INFO", "info"},
                                     {"WARN", "warn"},
                                     {"WARNING", "warn"},
                                     {"ERROR", "err"}}) {
    if (equals_ignoring_case(flags.log_level, theirs)) return ours;
  }
  return std::unexpected("--log_level must be DEBUG, INFO, WARN or ERROR, not '" + flags.log_level +
                         "'");
}

}  // namespace

std::expected<ServingOptions, std::string> serving_options(const Flags& flags) {
  auto const address = address_of(flags.host);
  if (!address) return std::unexpected(address.error());
  std::optional<IgnoredParam> param;
  if (!flags.ignored_param.empty()) {
    auto parsed = IgnoredParam::parse(flags.ignored_param);
    if (!parsed) return std::unexpected(parsed.error());
    param = std::move(*parsed);
  }
  auto level = log_level_of(flags);
  if (!level) return std::unexpected(level.error());
  if (!address->is_loopback()) {
    std::fprintf(stderr, "reprise: other machines can reach the listeners (--host %s)\n",
                 printable(flags.host).c_str());
  }
  ServingOptions options;
  options.addresses = {.http = listener(*address, flags.http_port),
                       .https = listener(*address, flags.https_port),
                       .proxy = "off",
                       .dns = "off",
                       .admin = "off",
                       .allow_remote = true};
  options.log_level = std::move(*level);
  options.drop_in = drop_in(flags.old_lines, std::move(param));
  options.drop_in.roots = roots_of(flags);
  if (!options.drop_in.roots.empty()) {
    options.drop_in.remedy =
        "Run `wpr installroot` with the same --https_cert_file and --https_key_file, give other "
        "clients that certificate (curl --cacert), or start Chromium with the hash of its key in "
        "--ignore-certificate-errors-spki-list";
  }
  if (options.drop_in.roots.empty() && flags.https_port >= 0) {
    std::fprintf(stderr,
                 "reprise: no --https_cert_file: the authority of reprise signs (`reprise ca "
                 "path`)\n");
  }
  return options;
}

InjectionOptions injection_options(const Flags& flags) {
  InjectionOptions options;
  options.inject = {"none"};
  options.option = "--inject_scripts";
  options.adapt = [random = flags.constant_random](std::string script,
                                                   const inject::PageSettings& settings) {
    return fit_for_documents(fill_in(std::move(script), settings.time, random));
  };
  if (!flags.html_injection) return options;
  auto const own = [&] {
    options.inject.front() = "default";
    if (!flags.constant_random.empty()) {
      std::fprintf(stderr,
                   "reprise: --constant_math_random_result changes nothing with the script of "
                   "reprise\n");
    }
  };
  if (!flags.inject_scripts) {
    std::error_code ignored;
    if (!flags.own_clock && std::filesystem::exists(kDeterministicScript, ignored)) {
      options.inject.emplace_back(kDeterministicScript);
      return options;
    }
    if (!flags.own_clock) {
      std::fprintf(stderr,
                   "reprise: there is no deterministic.js in this folder: the script of reprise is "
                   "injected (--inject_scripts= for none)\n");
    }
    own();
    return options;
  }
  for (const std::string& file : *flags.inject_scripts) {
    if (flags.own_clock && std::filesystem::path(file).filename() == kDeterministicScript) {
      own();
    } else {
      // Each script is put at the start of the head, before those put there earlier.
      options.inject.insert(options.inject.begin() + 1, file);
    }
  }
  return options;
}

void say_error(const std::string& text) {
  std::fprintf(stderr, "reprise: %s\n", printable(text).c_str());
}

}  // namespace reprise::wpr
