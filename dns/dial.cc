#include "dns/dial.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <memory>

#include "dns/await.h"
#include "dns/error.h"

namespace reprise::dns {
namespace {

namespace net = boost::asio;
using net::ip::address;
using net::ip::tcp;
using Clock = std::chrono::steady_clock;

std::vector<address> by_turns(const std::vector<address>& addresses) {
  std::vector<address> six;
  std::vector<address> four;
  for (const auto& each : addresses) (each.is_v6() ? six : four).push_back(each);
  std::vector<address> mixed;
  for (std::size_t i = 0; i < std::max(six.size(), four.size()); ++i) {
    if (i < six.size()) mixed.push_back(six[i]);
    if (i < four.size()) mixed.push_back(four[i]);
  }
  return mixed;
}

/// The attempts of one dial(). Shared with their handlers, which may run after its end.
struct Race {
  struct Runner {
    tcp::socket socket;
    DialAttempt attempt;
    bool running = true;
  };

  explicit Race(const net::any_io_executor& executor) : wake(executor) {}

  void give_up_running() {
    for (const auto& runner : runners) {
      if (!std::exchange(runner->running, false)) continue;
      runner->attempt.ended = Clock::now();
      runner->attempt.error = std::make_error_code(std::errc::operation_canceled);
      boost::system::error_code ignored;  // the socket is being dropped
      runner->socket.close(ignored);
    }
  }
  bool is_running() const {
    return std::ranges::any_of(runners, [](const auto& runner) { return runner->running; });
  }

  net::steady_timer wake;
  std::vector<std::shared_ptr<Runner>> runners;
  std::shared_ptr<Runner> winner;
};

void begin(const std::shared_ptr<Race>& race, const tcp::endpoint& at,
           const std::function<bool(const tcp::socket&)>& refuse) {
  auto const runner =
      std::make_shared<Race::Runner>(Race::Runner{.socket = tcp::socket(race->wake.get_executor()),
                                                  .attempt = {.at = at, .started = Clock::now()}});
  race->runners.push_back(runner);
  runner->socket.async_connect(at, [race, runner, refuse](boost::system::error_code error) {
    if (!std::exchange(runner->running, false)) return;
    runner->attempt.ended = Clock::now();
    runner->attempt.error = error;
    if (!error && refuse && refuse(runner->socket)) {
      runner->attempt.error = std::make_error_code(std::errc::too_many_symbolic_link_levels);
    }
    if (!runner->attempt.error) {
      if (race->winner == nullptr) {
        race->winner = runner;
      } else {
        runner->attempt.error = std::make_error_code(std::errc::operation_canceled);
      }
    }
    race->wake.cancel();
  });
}

}  // namespace

std::vector<address> dial_order(const std::vector<address>& addresses,
                                const std::function<bool(const address&)>& usable) {
  std::vector<address> first;
  std::vector<address> last;
  for (const auto& each : addresses) {
    auto const is_in = [&each](const auto& list) { return std::ranges::count(list, each) > 0; };
    if (!is_in(first) && !is_in(last)) (usable(each) ? first : last).push_back(each);
  }
  auto order = by_turns(first);
  auto const rest = by_turns(last);
  order.insert(order.end(), rest.begin(), rest.end());
  return order;
}

bool has_route(const address& address) {
  net::ip::udp::endpoint const at(address, 53);  // any port: nothing is sent
  int const socket = ::socket(at.protocol().family(), SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return false;
  bool const routed = ::connect(socket, at.data(), static_cast<socklen_t>(at.size())) == 0;
  ::close(socket);
  return routed;
}

net::awaitable<Dialled> dial(const std::vector<tcp::endpoint>& endpoints,
                             const DialOptions& options, Ticket& ticket) {
  auto const race = std::make_shared<Race>(co_await net::this_coro::executor);
  Ticket::Use const use(ticket, race->wake);
  auto const deadline = Clock::now() + options.timeout;
  auto next_start = Clock::now();
  std::size_t begun = 0;
  while (race->winner == nullptr && !ticket.cancelled() && Clock::now() < deadline) {
    bool const left = begun < endpoints.size();
    if (left && (Clock::now() >= next_start || !race->is_running())) {
      begin(race, endpoints[begun++], options.refuse);
      next_start = Clock::now() + options.stagger;
      continue;
    }
    if (!race->is_running()) break;
    race->wake.expires_at(left ? std::min(next_start, deadline) : deadline);
    co_await race->wake.async_wait(kTuple);
    auto const cancellation = co_await net::this_coro::cancellation_state;
    if (cancellation.cancelled() != net::cancellation_type::none) ticket.cancel();
  }
  bool const unfinished = race->is_running();
  race->give_up_running();
  Dialled result;
  for (const auto& runner : race->runners) result.attempts.push_back(runner->attempt);
  if (race->winner != nullptr && !ticket.cancelled()) {
    result.socket = std::move(race->winner->socket);
  } else if (ticket.cancelled()) {
    result.error = errc::stopped;
  } else if (unfinished) {
    result.error = std::make_error_code(std::errc::timed_out);
  } else {
    result.error = result.attempts.empty() ? std::make_error_code(std::errc::address_not_available)
                                           : result.attempts.back().error;
  }
  co_return result;
}

}  // namespace reprise::dns
