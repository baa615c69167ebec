#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dns/look_up.h"
#include "dns/ticket.h"

namespace reprise::dns {

/// What looking up a host came to.
struct LookUp {
  /// As answered, IPv6 first; dial_order() puts them in order. Never empty.
  std::vector<boost::asio::ip::address> addresses;
  /// What the servers said; nothing where they were not asked (literals, hosts file, localhost),
  /// and for HTTPS, which nobody waits for, when it had not come yet.
  std::shared_ptr<const LookUpAnswer> a;
  std::shared_ptr<const LookUpAnswer> aaaa;
  std::shared_ptr<const LookUpAnswer> https;
};

/// Looks hosts up for recording: A, AAAA and HTTPS at the same time, from the servers that are
/// named or the system's, never from our own stub. Runs on the thread of its context alone.
///
/// As getaddrinfo(3) would with Debian's "files dns": literals are themselves, then the hosts file
/// counts, read again when it has changed, then localhost is the loopback (RFC 6761), then DNS.
/// Unlike it no search list is applied, and a name is asked as it is. Answers are kept for their
/// TTL, failures too where the server says for how long.
///
/// Servers are asked in their order, each again once, over TCP where the answer is cut; one that
/// does not know EDNS is asked without. Responses are taken only from who was asked, for the id
/// and the question that were sent.
class Resolver {
 public:
  static constexpr std::size_t kCacheMax = 2000;    ///< answers kept
  static constexpr std::size_t kFlightsMax = 3000;  ///< questions under way

  using Clock = std::chrono::steady_clock;
  struct Options {
    std::vector<boost::asio::ip::udp::endpoint> servers;  ///< empty: those of resolv.conf(5)
    std::vector<boost::asio::ip::udp::endpoint> own;  ///< our stub's: left out, whoever names it
    std::filesystem::path hosts_file = "/etc/hosts";
    std::chrono::milliseconds try_timeout{2000};  ///< for the first try; the second has twice that
    std::chrono::milliseconds deadline{10'000};   ///< for a look-up, whatever the servers do
    /// Once IPv4 addresses are there, how long IPv6 is waited for and the other way round
    /// (RFC 8305 section 3).
    std::chrono::milliseconds other_family{50};
    /// How long a question stays open when no look-up is under way any more: a context that runs
    /// until nothing is left to do ends by then.
    std::chrono::milliseconds unwaited{1000};
    std::function<Clock::time_point()> now = [] { return Clock::now(); };
    /// Called once for every question that servers were asked, when it is over, unless it was given
    /// up because nobody waited for it; HTTPS may be over after the look-up is.
    std::function<void(const LookUpAnswer&)> on_answer;
  };

  /// Errors: no_servers when none is left without our own; not_enough_memory.
  static Result<std::unique_ptr<Resolver>> create(boost::asio::io_context& context,
                                                  Options options);
  /// Look-ups under way fail with errc::stopped when the context runs next.
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  /// Errors: bad_name; those of LookUpAnswer; stopped after ticket.cancel() or a cancellation of
  /// Asio's. The arguments live until it returns; the resolver need not, once this has begun.
  boost::asio::awaitable<Result<LookUp>> look_up(std::string_view host, Ticket& ticket);

 private:
  struct State;
  explicit Resolver(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace reprise::dns
