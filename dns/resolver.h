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

#include "base/lookup_times.h"
#include "base/result.h"
#include "dns/look_up.h"
#include "dns/ticket.h"

namespace reprise::dns {

/// The result of looking up a host.
struct LookUp {
  /// As answered, IPv6 first; dial_order() sorts them. Never empty.
  std::vector<boost::asio::ip::address> addresses;
  /// The servers' answers; null if they were not asked (literals, hosts file, localhost), or, for
  /// HTTPS, which is not waited for, if the answer had not arrived.
  std::shared_ptr<const LookUpAnswer> a;
  std::shared_ptr<const LookUpAnswer> aaaa;
  std::shared_ptr<const LookUpAnswer> https;
};

/// Looks up hosts for recording: A, AAAA and HTTPS in parallel, from the given servers or the
/// system's, never from our own stub. Runs only on the thread of its context.
///
/// Order as in getaddrinfo(3) with Debian's "files dns": literals; the hosts file, read again after
/// changes; localhost, which is the loopback (RFC 6761); DNS. Unlike there, no search list applies.
/// Answers are kept for their TTL, and failures if the server gives a time for them.
///
/// Servers are asked in order, each with one retry, over TCP if the answer is truncated, and
/// without EDNS if the server does not know it. A server that answers SERVFAIL, NOTIMP or REFUSED
/// is skipped; if all servers fail, one more query gets the code that the answer keeps. A response
/// counts only if it comes from the server asked and has the id and the question that were sent.
class Resolver {
 public:
  static constexpr std::size_t kCacheMax = 2000;    ///< answers kept
  static constexpr std::size_t kFlightsMax = 3000;  ///< pending queries

  using Clock = std::chrono::steady_clock;
  struct Options {
    std::vector<boost::asio::ip::udp::endpoint> servers;  ///< empty: those of resolv.conf(5)
    std::vector<boost::asio::ip::udp::endpoint>
        own;  ///< our stub's: never asked, even if configured
    std::filesystem::path hosts_file = "/etc/hosts";
    std::chrono::milliseconds try_timeout{2000};  ///< for the first try; twice that for the second
    std::chrono::milliseconds deadline{10'000};   ///< for a look-up, in total
    /// How long to wait for IPv6 after IPv4 addresses have arrived, and the reverse (RFC 8305
    /// section 3).
    std::chrono::milliseconds other_family = kOtherFamilyWait;
    /// How long a query stays open after the last look-up has ended. It limits how long a context
    /// keeps running that runs until no work is left.
    std::chrono::milliseconds unwaited{1000};
    std::function<Clock::time_point()> now = [] { return Clock::now(); };
    /// Called once for each finished query to servers, unless it was cancelled because nobody
    /// waited for it; HTTPS can finish after the look-up.
    std::function<void(const LookUpAnswer&)> on_answer;
  };

  /// Errors: no_servers if only our own are left; not_enough_memory.
  static Result<std::unique_ptr<Resolver>> create(boost::asio::io_context& context,
                                                  Options options);
  /// Running look-ups fail with errc::stopped when the context runs next.
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  /// Errors: bad_name; those of LookUpAnswer; stopped after ticket.cancel() or cancellation by
  /// Asio. The arguments must live until it returns; the resolver only until it has started.
  boost::asio::awaitable<Result<LookUp>> look_up(std::string_view host, Ticket& ticket);

 private:
  struct State;
  explicit Resolver(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace reprise::dns
