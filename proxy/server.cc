#include "proxy/server.h"

#include <pthread.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <list>
#include <thread>

#include "proxy/listening_socket.h"
#include "proxy/tls/server_context.h"

namespace reprise {
namespace {

/// Below that of the link that may be before it.
constexpr int kPriorityLevel = 5;
constexpr std::chrono::seconds kSweepPeriod{1};
constexpr std::chrono::milliseconds kEndingSweepPeriod{100};
constexpr std::chrono::milliseconds kAcceptPause{100};  // after an error
/// One in this many of a thread's idle connections, at least one, is closed when descriptors run
/// out: a new connection needs several descriptors (towards an origin, for files).
constexpr std::size_t kClosedShare = 8;
constexpr std::size_t kClosedMax = 32;

bool ran_out(boost::system::error_code error) {
  namespace errc = boost::system::errc;
  return error == errc::too_many_files_open || error == errc::too_many_files_open_in_system ||
         error == errc::no_buffer_space || error == errc::not_enough_memory;
}

/// A root that others trust may be as short as RSA of 1024 bits.
KeyStrength strength_of(std::span<const CertificateAuthority> authorities) {
  constexpr int kUsualBits = 2048;
  bool const weak = std::ranges::any_of(authorities, [](const CertificateAuthority& each) {
    return each.is_rsa() && EVP_PKEY_get_bits(each.key()) < kUsualBits;
  });
  return weak ? KeyStrength::kWeak : KeyStrength::kUsual;
}

}  // namespace

class Server::Worker {
 public:
  /// `index` is its place among the workers of `server`.
  Worker(Server& server, std::size_t index, LeafMinters minters)
      : server_(server),
        index_(index),
        context_(1),
        sweeper_(context_),
        minters_(std::move(minters)) {}

  void add_listener(const ListeningSocket& bound, const Listen& listen) {
    listeners_.push_back({.number = listeners_.size(),
                          .acceptor = tcp::acceptor(context_, bound.at.protocol(), bound.socket),
                          .listen = listen,
                          .factory = nullptr});
  }
  /// Adds a listener whose connections come by take().
  void add_listener(const Listen& listen) {
    listeners_.push_back({.number = listeners_.size(),
                          .acceptor = tcp::acceptor(context_),
                          .listen = listen,
                          .factory = nullptr});
  }

  /// HTTP/3 of the listener that was added last, at the UDP port of `at`.
  Result<tcp::endpoint> bind_h3(const Listen& listen, const tcp::endpoint& at, bool shared) {
    auto bound =
        H3Listener::bind(h3_environment(), at, shared, listen.whole_loopback, listen.h3_options);
    return take_h3(std::move(bound));
  }
  Result<tcp::endpoint> adopt_h3(const Listen& listen) {
    return take_h3(
        H3Listener::adopt(h3_environment(), Descriptor(listen.descriptor), listen.h3_options));
  }
  /// Before run().
  LeafMinters& minters() { return minters_; }

  /// Undoes add_listener().
  void drop_listener() { listeners_.pop_back(); }

  void run(const std::vector<HandlerFactory*>& factories, WantedPriority priority) {
    for (auto& [listener, h3] : h3_) h3->start(*factories[listener]);
    auto factory = factories.begin();
    for (Listener& listener : listeners_) {
      listener.factory = *factory++;
      if (listener.listen.accepted_elsewhere || !listener.acceptor.is_open()) continue;
      net::co_spawn(context_, accept(listener), [](std::exception_ptr broken) {
        if (broken) std::rethrow_exception(broken);
      });
    }
    sweep();
    thread_ = std::thread([this, priority] {
      priority_ = ThreadPriority::take(priority, kPriorityLevel).value();
      if (priority_->got() == Priority::kRealtime) watch_priority();
      context_.run();
    });
  }

  /// A connection that was placed here. Any thread.
  void take(std::size_t listener, Descriptor socket, std::optional<AcceptedElsewhere> from) {
    auto serve = [this, listener, socket = std::move(socket), from = std::move(from)]() mutable {
      tcp::socket taken(context_);
      boost::system::error_code error;
      if (!stopping_) taken.assign(tcp::v4(), socket.get(), error);
      if (stopping_ || error) {
        server_.balance_->ended(index_);
        return;
      }
      socket.release();
      open(std::move(taken), listeners_[listener], std::move(from));
    };
    net::post(context_, std::move(serve));
  }

  /// Ends connections without running requests, the longest idle first.
  void close_idle() {
    net::post(context_, [this] {
      std::vector<std::pair<std::chrono::steady_clock::time_point, Connection*>> idle;
      for (Connection& open : connections_) {
        if (auto const since = open.idle_since()) idle.emplace_back(*since, &open);
      }
      if (idle.empty()) return;
      std::ranges::sort(idle);
      idle.resize(std::clamp<std::size_t>(idle.size() / kClosedShare, 1, kClosedMax));
      for (auto const& [since, connection] : idle) connection->end();
    });
  }

  void begin_stop(std::chrono::milliseconds limit) {
    net::post(context_, [this, limit] {
      if (std::exchange(stopping_, true)) return;
      ends_at_ = std::chrono::steady_clock::now() + limit;
      priority_timer_.cancel();
      for (Listener& listener : listeners_) listener.acceptor.close();
      for (Connection& open : connections_) open.end();
      for (auto& [listener, h3] : h3_) h3->begin_ending();
      sweep();
    });
  }
  void join() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  struct Listener {
    std::size_t number;  // the same on all threads
    tcp::acceptor acceptor;
    Listen listen;
    HandlerFactory* factory;
  };
  awaitable<void> accept(Listener& listener) {
    while (true) {
      auto [error, socket] = co_await listener.acceptor.async_accept(kTuple);
      if (stopping_ || error == net::error::operation_aborted) co_return;
      if (error) {
        // Out of descriptors, or the client has closed: continue with others.
        if (ran_out(error)) server_.make_room();
        spdlog::warn("accept on {}: {}", listener.listen.flag, error.message());
        net::steady_timer pause(context_, kAcceptPause);
        co_await pause.async_wait(kTuple);
        continue;
      }
      auto const place = server_.balance_->place(index_);
      if (place == index_) {
        open(std::move(socket), listener);
        continue;
      }
      Descriptor handed_over(socket.release());
      server_.workers_[place]->take(listener.number, std::move(handed_over), {});
    }
  }

  void open(tcp::socket socket, const Listener& listener,
            std::optional<AcceptedElsewhere> from = {}) {
    ConnectionEnvironment const environment{
        .factory = *listener.factory,
        .tls = listener.listen.tls ? server_.tls_.get() : nullptr,
        .minters = &minters_,
        .failed_handshakes = server_.failed_handshakes_,
        .told_no_proxy = &server_.told_no_proxy_};
    auto const id = server_.connection_ids_.fetch_add(1, std::memory_order_relaxed) + 1;
    auto const at = connections_.emplace(connections_.end(), std::move(socket), id,
                                         listener.listen.entry, environment, std::move(from));
    net::co_spawn(context_, at->run(), [this, at](std::exception_ptr broken) {
      connections_.erase(at);
      server_.balance_->ended(index_);
      end_if_empty();
      if (broken) std::rethrow_exception(broken);
    });
  }

  H3Listener::Environment h3_environment() {
    return {.context = context_,
            .minters = minters_,
            .failed_handshakes = server_.failed_handshakes_,
            .connection_ids = server_.connection_ids_};
  }

  Result<tcp::endpoint> take_h3(Result<std::unique_ptr<H3Listener>> made) {
    if (!made) return fail(made.error());
    (*made)->on_empty = [this] { end_if_empty(); };
    auto const at = (*made)->bound();
    h3_.emplace_back(listeners_.size() - 1, std::move(*made));
    return at;
  }

  /// Whether the server ends and nothing is left.
  bool end_if_empty() {
    bool const empty = connections_.empty() && std::ranges::all_of(h3_, [](auto const& each) {
                         return each.second->empty();
                       });
    if (!stopping_ || !empty) return false;
    sweeper_.cancel();
    for (auto& [listener, h3] : h3_) h3->stop();
    return true;
  }

  /// Closes connections past their deadline; one timer for all, so that a request costs none.
  void sweep() {
    if (end_if_empty()) return;
    sweeper_.expires_after(stopping_ ? kEndingSweepPeriod : kSweepPeriod);
    sweeper_.async_wait([this](boost::system::error_code error) {
      if (error) return;
      auto const now = std::chrono::steady_clock::now();
      for (Connection& open : connections_) {
        if (now > ends_at_ || open.is_overdue(now)) open.close();
      }
      for (auto& [listener, h3] : h3_) h3->sweep(now, now > ends_at_);
      sweep();
    });
  }

  /// A thread that serves all the time must not stop the machine.
  void watch_priority() {
    priority_timer_.expires_after(ThreadPriority::kWindow);
    priority_timer_.async_wait([this](boost::system::error_code error) {
      if (error || stopping_) return;
      priority_->watch(std::chrono::steady_clock::now().time_since_epoch());
      watch_priority();
    });
  }

  Server& server_;
  std::size_t index_;
  net::io_context context_;
  net::steady_timer sweeper_;
  net::steady_timer priority_timer_{context_};
  std::optional<ThreadPriority> priority_;
  LeafMinters minters_;
  std::deque<Listener> listeners_;  // they do not move
  std::list<Connection> connections_;
  std::vector<std::pair<std::size_t, std::unique_ptr<H3Listener>>> h3_;  // by listener
  bool stopping_ = false;
  std::chrono::steady_clock::time_point ends_at_ = std::chrono::steady_clock::time_point::max();
  std::thread thread_;
};

std::expected<std::unique_ptr<Server>, ListenError> Server::create(
    const std::vector<Listen>& listeners, std::span<const CertificateAuthority> authorities,
    unsigned threads) {
  std::unique_ptr<Server> server(new Server);
  auto tls = make_server_context(strength_of(authorities));
  if (!tls) return std::unexpected(ListenError{.flag = "TLS", .error = tls.error()});
  server->tls_ = std::move(*tls);
  auto const minters = LeafMinters::create(authorities);
  if (!minters) return std::unexpected(ListenError{.flag = "TLS", .error = minters.error()});
  server->balance_.emplace(threads);
  for (unsigned i = 0; i < threads; ++i) {
    server->workers_.push_back(std::make_unique<Worker>(*server, i, minters->twin()));
  }
  for (const Listen& listen : listeners) {
    auto const at = server->open(listen);
    if (!at) {
      return std::unexpected(
          ListenError{.flag = listen.flag, .at = listen.at, .error = at.error()});
    }
    server->bound_.push_back(*at);
  }
  return server;
}

/// Opens it on all threads. Returns the address.
Result<tcp::endpoint> Server::open(const Listen& listen) {
  elsewhere_.emplace_back();
  if (listen.h3 && listen.descriptor >= 0) {
    // One thread alone reads a socket that cannot be bound again: packets of a connection must
    // reach the thread that has it.
    for (auto& worker : workers_) worker->add_listener(listen);
    return workers_.front()->adopt_h3(listen);
  }
  if (!listen.h3) return open_streams(listen);
  // The system chooses TCP's port, and another program may have UDP's with that number.
  constexpr int kTries = 20;
  for (int tries = 0; tries < kTries; ++tries) {
    auto const at = open_streams(listen);
    if (!at) return at;
    auto const h3 = open_h3(listen, *at);
    if (h3) return at;
    if (listen.at.port() != 0 || h3.error() != std::errc::address_in_use) return h3;
    for (auto& worker : workers_) worker->drop_listener();
  }
  return fail(std::make_error_code(std::errc::address_in_use));
}

/// The TCP sockets.
Result<tcp::endpoint> Server::open_streams(const Listen& listen) {
  auto at = listen.at;
  for (auto& worker : workers_) {
    bool const sibling = &worker != &workers_.front();
    if (sibling && listen.accepted_elsewhere) {
      worker->add_listener(listen);
      continue;
    }
    auto const bound = listen.descriptor < 0 ? bind_and_listen(listen, at.port(), sibling)
                                             : adopt(listen.descriptor, sibling);
    if (!bound) return fail(bound.error());
    at = bound->at;
    if (listen.accepted_elsewhere) {
      elsewhere_.back() = Descriptor(bound->socket);
      worker->add_listener(listen);
    } else {
      worker->add_listener(*bound, listen);
    }
  }
  return at;
}

Result<tcp::endpoint> Server::open_h3(const Listen& listen, const tcp::endpoint& at) {
  for (auto& worker : workers_) {
    auto const bound = worker->bind_h3(listen, at, &worker != &workers_.front());
    if (!bound) return bound;
  }
  return at;
}

int Server::listening_socket(std::size_t listener) {
  return elsewhere_[listener].release();
}

void Server::take(std::size_t listener, int socket, AcceptedElsewhere from) {
  workers_[balance_->place(0)]->take(listener, Descriptor(socket), std::move(from));
}

void Server::make_room() {
  for (auto& worker : workers_) worker->close_idle();
}

void Server::expect_names(std::span<const LeafNames> names) {
  prepared_ = workers_.front()->minters().prepare(names);
  for (auto& worker : workers_) worker->minters().use(prepared_);
}

std::size_t Server::mint_expected(const std::stop_token& stop) {
  std::size_t minted = 0;
  for (auto const& each : prepared_) minted += each->mint(stop);
  return minted;
}

void Server::start(const std::vector<HandlerFactory*>& factories, WantedPriority priority) {
  for (auto& worker : workers_) worker->run(factories, priority);
}

Server::~Server() {
  stop();
}

void Server::stop(std::chrono::milliseconds limit) {
  for (auto& worker : workers_) worker->begin_stop(limit);
  for (auto& worker : workers_) worker->join();
}

}  // namespace reprise
