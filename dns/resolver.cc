#include "dns/resolver.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <fstream>
#include <iterator>
#include <map>
#include <random>

#include "dns/answer_cache.h"
#include "dns/await.h"
#include "dns/cares_channel.h"
#include "dns/error.h"
#include "dns/host.h"
#include "dns/hosts_file.h"
#include "dns/wire.h"

namespace reprise::dns {
namespace {

namespace net = boost::asio;
using net::awaitable;
using Clock = Resolver::Clock;

constexpr std::uintmax_t kHostsBytesMax = 16 << 20;

/// The system's hosts file, read again after changes.
class SystemHosts {
 public:
  explicit SystemHosts(std::filesystem::path path) : path_(std::move(path)) {}

  const ZoneEntry* find(const std::string& host) {
    refresh();
    auto const at = by_host_.find(host);
    return at == by_host_.end() ? nullptr : &at->second;
  }

 private:
  void refresh() {
    std::error_code error;
    auto const written = std::filesystem::last_write_time(path_, error);
    if (error) return by_host_.clear();
    if (written == written_) return;
    written_ = written;
    by_host_.clear();
    auto const size = std::filesystem::file_size(path_, error);
    if (error || size > kHostsBytesMax) return;
    std::ifstream file(path_, std::ios::binary);
    std::string const text{std::istreambuf_iterator<char>(file), {}};
    for (auto& entry : parse_hosts(text).zone.entries) {
      auto const host = entry.host;
      by_host_.emplace(host, std::move(entry));
    }
  }

  std::filesystem::path path_;
  std::filesystem::file_time_type written_ = std::filesystem::file_time_type::min();
  std::map<std::string, ZoneEntry> by_host_;
};

std::error_code error_of(int status) {
  switch (status) {
    case ARES_ETIMEOUT:
      return errc::timed_out;
    case ARES_ECONNREFUSED:
      return errc::unreachable;
    case ARES_ECANCELLED:
    case ARES_EDESTRUCTION:
      return errc::stopped;
    case ARES_ENOMEM:
      return std::make_error_code(std::errc::not_enough_memory);
    default:
      return errc::refused;
  }
}

/// What c-ares 1.18 reports as the first, later versions report as one of the others.
bool have_all_servers_failed(int status) {
  return status == ARES_ECONNREFUSED || status == ARES_ESERVFAIL || status == ARES_ENOTIMP ||
         status == ARES_EREFUSED;
}

bool is_localhost_name(const std::string& host) {
  return host == "localhost" || host.ends_with(".localhost");
}

/// The reason for having no address, from the two queries.
std::error_code worst_of(const LookUpAnswer* a, const LookUpAnswer* aaaa) {
  for (const auto* const answer : {a, aaaa}) {
    if (answer != nullptr && answer->error == errc::no_such_name) return answer->error;
  }
  for (const auto* const answer : {a, aaaa}) {
    if (answer == nullptr) return errc::timed_out;
    if (answer->error != errc::no_address) return answer->error;
  }
  return errc::no_address;
}

}  // namespace

struct Resolver::State : std::enable_shared_from_this<State> {
  /// One query, pending or just answered. Everyone who waits for it holds it.
  struct Flight {
    LookUpAnswer working;
    bool edns = true;
    bool failed = false;                         // at all servers: reporting_channel asks how
    std::shared_ptr<const LookUpAnswer> answer;  // set at its end
    std::vector<std::weak_ptr<net::steady_timer>> waiting;
  };
  using FlightPtr = std::shared_ptr<Flight>;

  State(net::io_context& given_context, Options given_options)
      : context(given_context),
        options(std::move(given_options)),
        hosts(options.hosts_file),
        unwaited(given_context) {}

  FlightPtr ask(const std::string& host, Type type);
  void send(const FlightPtr& flight);
  void on_response(const FlightPtr& flight, int status, std::span<const std::uint8_t> bytes);
  void settle(const FlightPtr& flight);
  void look_up_is_over();
  std::optional<LookUp> without_asking(const std::string& host);
  static awaitable<Result<LookUp>> look_up(std::shared_ptr<State> state, std::string host,
                                           Ticket& ticket);

  net::io_context& context;
  Options options;
  SystemHosts hosts;
  AnswerCache cache{kCacheMax};
  std::map<std::pair<std::string, Type>, FlightPtr> flights;
  std::shared_ptr<CaresChannel> channel;
  std::shared_ptr<CaresChannel> reporting_channel;
  std::size_t look_ups = 0;    // running
  net::steady_timer unwaited;  // runs while there are flights but no look-ups
  std::random_device dice;
};

Resolver::State::FlightPtr Resolver::State::ask(const std::string& host, Type type) {
  auto const under_way = flights.find({host, type});
  if (under_way != flights.end()) return under_way->second;
  auto const now = options.now();
  auto flight = std::make_shared<Flight>();
  flight->answer = cache.find(host, type, now);
  if (flight->answer != nullptr) return flight;
  flight->working = {.host = host, .type = type, .asked = now};
  if (flights.size() >= kFlightsMax) {
    flight->working.error = std::make_error_code(std::errc::resource_unavailable_try_again);
    flight->answer = std::make_shared<LookUpAnswer>(flight->working);
    return flight;
  }
  flights.emplace(std::pair(host, type), flight);
  send(flight);
  return flight;
}

void Resolver::State::send(const FlightPtr& flight) {
  Message query;
  query.id = static_cast<std::uint16_t>(dice());
  query.recursion_desired = true;
  // The host was written by normal_host().
  query.questions = {
      {.name = Name::parse(flight->working.host).value_or(Name()), .type = flight->working.type}};
  if (flight->edns) query.edns = Edns{.udp_size_bytes = CaresChannel::kUdpBytesMax};
  std::array<std::uint8_t, 512> bytes;
  auto const size = encode(query, bytes).value_or(0);
  // The other one would cut a field off the query that this one does not have.
  auto const& by = flight->failed || !flight->edns ? reporting_channel : channel;
  by->send(std::span(bytes).first(size),
           [weak = weak_from_this(), flight](int status, std::span<const std::uint8_t> reply) {
             auto const self = weak.lock();
             if (self != nullptr) self->on_response(flight, status, reply);
           });
}

void Resolver::State::on_response(const FlightPtr& flight, int status,
                                  std::span<const std::uint8_t> bytes) {
  auto& answer = flight->working;
  if (have_all_servers_failed(status) && !flight->failed) {
    flight->failed = true;
    return send(flight);
  }
  if (status != ARES_SUCCESS) {
    answer.error = error_of(status);
    return settle(flight);
  }
  auto const response = decode(bytes);
  if (response && response->rcode == Rcode::kFormErr && flight->edns) {
    flight->edns = false;  // an old server: RFC 6891 section 6.2.2
    return send(flight);
  }
  if (response) {
    read_response(*response, answer);
  } else {
    answer.error = response.error();
  }
  settle(flight);
}

void Resolver::State::settle(const FlightPtr& flight) {
  flight->working.answered = options.now();
  flight->answer = std::make_shared<LookUpAnswer>(std::move(flight->working));
  auto const& answer = *flight->answer;
  flights.erase({answer.host, answer.type});
  if (flights.empty()) unwaited.cancel();
  if (answer.rcode && answer.ttl_s > 0) {
    cache.put(flight->answer, answer.answered + std::chrono::seconds(answer.ttl_s));
  }
  for (const auto& waiting : flight->waiting) {
    if (auto const timer = waiting.lock()) timer->cancel();
  }
  if (options.on_answer && answer.error != errc::stopped) options.on_answer(answer);
}

void Resolver::State::look_up_is_over() {
  if (--look_ups > 0 || flights.empty()) return;
  unwaited.expires_after(options.unwaited);
  unwaited.async_wait([weak = weak_from_this()](boost::system::error_code error) {
    auto const self = weak.lock();
    if (error || self == nullptr || self->look_ups > 0) return;
    self->channel->cancel();
    self->reporting_channel->cancel();
  });
}

std::optional<LookUp> Resolver::State::without_asking(const std::string& host) {
  if (auto const literal = parse_address(host)) return LookUp{.addresses = {*literal}};
  if (const auto* const entry = hosts.find(host)) {
    LookUp result;
    result.addresses.assign(entry->v6.begin(), entry->v6.end());
    result.addresses.insert(result.addresses.end(), entry->v4.begin(), entry->v4.end());
    return result;
  }
  if (is_localhost_name(host)) {
    return LookUp{.addresses = {net::ip::address_v6::loopback(), net::ip::address_v4::loopback()}};
  }
  return std::nullopt;
}

awaitable<Result<LookUp>> Resolver::State::look_up(std::shared_ptr<State> state, std::string host,
                                                   Ticket& ticket) {
  auto const& options = state->options;
  ++state->look_ups;
  auto const aaaa = state->ask(host, Type::kAaaa);
  auto const a = state->ask(host, Type::kA);
  auto const https = state->ask(host, Type::kHttps);
  // Shared with the flights, which may end when nobody waits any longer.
  auto const wake = std::make_shared<net::steady_timer>(state->context);
  Ticket::Use const use(ticket, *wake);
  auto const has_addresses = [](const State::FlightPtr& flight) {
    return flight->answer != nullptr && !flight->answer->addresses.empty();
  };
  auto until = Clock::now() + options.deadline;
  bool one_is_there = false;
  for (const auto& flight : {a, aaaa}) flight->waiting.push_back(wake);
  while (!ticket.cancelled() && (a->answer == nullptr || aaaa->answer == nullptr)) {
    if (!one_is_there && (has_addresses(a) || has_addresses(aaaa))) {
      one_is_there = true;
      until = std::min(until, Clock::now() + options.other_family);
    }
    if (Clock::now() >= until) break;
    wake->expires_at(until);
    co_await wake->async_wait(kTuple);
    auto const cancellation = co_await net::this_coro::cancellation_state;
    if (cancellation.cancelled() != net::cancellation_type::none) ticket.cancel();
  }
  state->look_up_is_over();
  if (ticket.cancelled()) co_return fail(errc::stopped);
  LookUp result{.a = a->answer, .aaaa = aaaa->answer, .https = https->answer};
  for (const auto& flight : {aaaa, a}) {
    if (!has_addresses(flight)) continue;
    auto const& found = flight->answer->addresses;
    result.addresses.insert(result.addresses.end(), found.begin(), found.end());
  }
  if (result.addresses.empty()) co_return fail(worst_of(a->answer.get(), aaaa->answer.get()));
  co_return result;
}

Result<std::unique_ptr<Resolver>> Resolver::create(net::io_context& context, Options options) {
  auto const open = [&](CaresChannel::Failures failures) {
    return CaresChannel::create(context, options.servers, options.own, options.try_timeout,
                                failures);
  };
  auto channel = open(CaresChannel::Failures::kAskNext);
  if (!channel) return fail(channel.error());
  auto reporting_channel = open(CaresChannel::Failures::kReport);
  if (!reporting_channel) return fail(reporting_channel.error());
  auto state = std::make_shared<State>(context, std::move(options));
  state->channel = std::move(*channel);
  state->reporting_channel = std::move(*reporting_channel);
  return std::unique_ptr<Resolver>(new Resolver(std::move(state)));
}

Resolver::Resolver(std::shared_ptr<State> state) : state_(std::move(state)) {}

Resolver::~Resolver() {
  state_->channel->stop();
  state_->reporting_channel->stop();
}

awaitable<Result<LookUp>> Resolver::look_up(std::string_view host, Ticket& ticket) {
  // Not a coroutine of this object: after its destruction pending work must not use it.
  auto const state = state_;
  auto const name = normal_host(host);
  if (!name) co_return fail(errc::bad_name);
  if (ticket.cancelled()) co_return fail(errc::stopped);
  if (auto known = state->without_asking(*name)) co_return std::move(*known);
  co_return co_await State::look_up(state, *name, ticket);
}

}  // namespace reprise::dns
