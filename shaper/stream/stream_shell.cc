#include "shaper/stream/stream_shell.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

#include <algorithm>

#include "shaper/packet/link_clock.h"

namespace reprise {
namespace {

using boost::asio::ip::tcp;

/// The source of an event: the id of a connection, or the index of a listener or of a DNS socket,
/// with the kind in the lowest bits.
enum Source : std::uint64_t { kClient, kProxy, kListener, kQuestions, kClock };
constexpr int kKindBits = 3;
constexpr std::uint64_t kKindMask = (1 << kKindBits) - 1;

constexpr std::uint32_t kEdges = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
constexpr int kEventsMax = 64;
constexpr int kAcceptsMax = 64;                         // per turn
constexpr int kRoundsMax = 64;                          // per turn
constexpr std::chrono::milliseconds kAcceptPause{100};  // after running out of descriptors
/// How much the proxy may write ahead of the model, as counted by the kernel (twice this).
constexpr int kProxyBufferBytes = 32 << 10;
/// How much a client may send ahead of the model, besides its own system's buffers.
constexpr int kClientBufferBytes = 32 << 10;

tcp::endpoint endpoint_of(int socket, decltype(::getpeername)& name) {
  tcp::endpoint at;
  auto length = static_cast<socklen_t>(at.capacity());
  if (name(socket, at.data(), &length) != 0) return {};
  at.resize(length);
  return at;
}

}  // namespace

StreamShell::StreamShell(StreamShellOptions options, Time start)
    : options_(std::move(options)), network_(options_.profile, options_.seed, start) {}

ShellResult<std::unique_ptr<StreamShell>> StreamShell::start(StreamShellOptions options) {
  std::unique_ptr<StreamShell> shell(new StreamShell(std::move(options), link_now()));
  if (auto const opened = shell->open_events(); !opened) return std::unexpected(opened.error());
  shell->thread_ = std::thread([&shell = *shell] { shell.run(); });
  return shell;
}

StreamShell::~StreamShell() {
  stop();
}

bool StreamShell::watch(int fd, std::uint64_t what, std::uint32_t how) {
  epoll_event event{.events = how, .data = {.u64 = what}};
  return ::epoll_ctl(events_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

ShellResult<void> StreamShell::open_events() {
  events_ = Descriptor(::epoll_create1(EPOLL_CLOEXEC));
  timer_ = Descriptor(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  wake_ = Descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  // Of these two only the edge counts, so they are never read.
  bool watched = watch(timer_.get(), kClock, EPOLLIN | EPOLLET) &&
                 watch(wake_.get(), kClock, EPOLLIN | EPOLLET);
  for (const Descriptor& listener : options_.listeners) {
    ::setsockopt(listener.get(), SOL_SOCKET, SO_RCVBUF, &kClientBufferBytes,
                 sizeof kClientBufferBytes);
  }
  watched = watched && watch_listeners();
  for (std::size_t i = 0; i < options_.question_sockets.size(); ++i) {
    watched =
        watched && watch(options_.question_sockets[i].get(), i << kKindBits | kQuestions, EPOLLIN);
  }
  if (!watched) return shell_failure("cannot watch the link's events");
  return {};
}

bool StreamShell::watch_listeners() {
  for (std::size_t i = 0; i < options_.listeners.size(); ++i) {
    if (!watch(options_.listeners[i].get(), i << kKindBits | kListener, EPOLLIN)) return false;
  }
  return true;
}

void StreamShell::close_listeners() {
  closing_ = true;
  wake();
}

void StreamShell::stop() {
  if (!thread_.joinable()) return;
  closing_ = true;
  stopping_ = true;
  wake();
  thread_.join();
}

void StreamShell::wake() {
  std::uint64_t const one = 1;
  static_cast<void>(::write(wake_.get(), &one, sizeof one));
}

void StreamShell::run() {
  ::prctl(PR_SET_TIMERSLACK, 1UL);
  std::array<epoll_event, kEventsMax> ready;
  while (true) {
    int const count = ::epoll_wait(events_.get(), ready.data(), kEventsMax, -1);
    std::lock_guard const lock(mutex_);
    if (closing_) let_clients_go();
    static_cast<void>(step());
    for (int i = 0; i < count; ++i) on_ready(ready[static_cast<std::size_t>(i)]);
    for (int round = 0; round < kRoundsMax; ++round) {
      pump_touched();
      if (!step()) break;
    }
    if (stopping_ && has_ended(link_now())) break;
    set_timer();
  }
  std::lock_guard const lock(mutex_);
  clients_.clear();
}

void StreamShell::let_clients_go() {
  options_.listeners.clear();
  questions_.forget();
  options_.question_sockets.clear();
}

void StreamShell::answer(std::uint64_t question, std::vector<std::byte> bytes) {
  {
    std::lock_guard const lock(mutex_);
    questions_.answer(question, std::move(bytes), link_now());
  }
  wake();
}

void StreamShell::on_ready(const epoll_event& event) {
  auto const id = event.data.u64 >> kKindBits;
  switch (event.data.u64 & kKindMask) {
    case kListener:
      // It may have been closed within this turn.
      if (id < options_.listeners.size()) accept(id);
      return;
    case kQuestions:
      if (id >= options_.question_sockets.size()) return;
      questions_.take_in(options_.question_sockets[id].get(), link_now());
      return;
    case kClient:
    case kProxy: {
      auto const found = clients_.find(id);
      if (found == clients_.end()) return;
      bool const proxy = (event.data.u64 & kKindMask) == kProxy;
      found->second.relay->on_ready(proxy ? StreamRelay::End::proxy : StreamRelay::End::client,
                                    event.events);
      touched_.push_back(id);
      return;
    }
    default:
      return;  // the clock only wakes
  }
}

void StreamShell::accept(std::size_t listener) {
  for (int i = 0; i < kAcceptsMax; ++i) {
    Descriptor socket(::accept4(options_.listeners[listener].get(), nullptr, nullptr,
                                SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket.is_open()) {
      bool const exhausted =
          errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
      if (exhausted) pause_accepting();
      return;
    }
    int const on = 1;
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    auto relay =
        std::make_unique<StreamRelay>(network_, std::move(socket), options_.profile, link_now());
    auto const id = relay->id();
    if (!watch(relay->client(), id << kKindBits | kClient, kEdges)) return;
    clients_.emplace(id, Client{.relay = std::move(relay), .listener = listener});
    ++connections_;
  }
}

/// Meanwhile clients wait in the backlog.
void StreamShell::pause_accepting() {
  for (const Descriptor& listener : options_.listeners) {
    ::epoll_ctl(events_.get(), EPOLL_CTL_DEL, listener.get(), nullptr);
  }
  accept_again_ = link_now() + kAcceptPause;
}

void StreamShell::connect_proxy(std::uint64_t id, const Client& client) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) {
    clients_.erase(id);  // resets the client
    return;
  }
  Descriptor ours(ends[0]);
  StreamArrival arrival{.listener = client.listener,
                        .socket = Descriptor(ends[1]),
                        .client = endpoint_of(client.relay->client(), ::getpeername),
                        .destination = endpoint_of(client.relay->client(), ::getsockname),
                        .aborted = std::make_shared<std::atomic<bool>>(false)};
  ::setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &kProxyBufferBytes, sizeof kProxyBufferBytes);
  watch(ends[0], id << kKindBits | kProxy, kEdges);
  client.relay->attach_proxy(std::move(ours), arrival.aborted);
  options_.hand_over(std::move(arrival));
}

/// Runs the model's due events, and what else is due. Returns whether connections may move on.
bool StreamShell::step() {
  bool any = false;
  for (auto next = network_.next_event(); next; next = network_.next_event()) {
    auto const now = link_now();
    if (*next > now) break;
    told_.clear();
    network_.advance(*next, told_);
    if (!told_.empty()) lateness_.add(now - *next, told_.size());
    for (const StreamEvent& event : told_) tell(event);
    any = true;
  }
  if (look_again_ && *look_again_ <= link_now()) {
    look_again_.reset();
    touched_.insert(touched_.end(), waiting_.begin(), waiting_.end());
    waiting_.clear();
    any = true;
  }
  if (accept_again_ && *accept_again_ <= link_now()) {
    accept_again_.reset();
    static_cast<void>(watch_listeners());
  }
  return any;
}

void StreamShell::tell(const StreamEvent& event) {
  if (event.kind == StreamEvent::Kind::datagram ||
      event.kind == StreamEvent::Kind::datagram_dropped) {
    if (auto question = questions_.on_event(event)) options_.ask(std::move(*question));
    return;
  }
  auto const found = clients_.find(event.id);
  if (found == clients_.end()) return;
  broken_ += event.kind == StreamEvent::Kind::failed ? 1 : 0;
  touched_.push_back(event.id);
  found->second.relay->on_event(event);
  if (event.kind == StreamEvent::Kind::accepted) connect_proxy(event.id, found->second);
}

void StreamShell::pump_touched() {
  std::ranges::sort(touched_);
  auto const again = std::ranges::unique(touched_);
  touched_.erase(again.begin(), again.end());
  for (auto const id : touched_) {
    auto const found = clients_.find(id);
    if (found == clients_.end()) continue;
    StreamRelay& relay = *found->second.relay;
    relay.pump(link_now());
    if (relay.done()) {
      clients_.erase(found);
    } else if (relay.waits_for_client()) {
      waiting_.push_back(id);
      if (!look_again_) look_again_ = link_now() + DeliveryWait::kPause;
    }
  }
  touched_.clear();
}

bool StreamShell::has_ended(Time now) {
  if (!ends_at_) ends_at_ = now + kEndingTime;
  std::erase_if(clients_, [](const auto& each) { return each.second.relay->idle_without_proxy(); });
  return clients_.empty() || now >= *ends_at_;
}

void StreamShell::set_timer() {
  auto next = network_.next_event();
  for (auto const& other : {look_again_, accept_again_, ends_at_}) {
    if (other) next = std::min(next.value_or(*other), *other);
  }
  itimerspec when{};
  if (next) {
    auto const seconds = std::chrono::floor<std::chrono::seconds>(*next);
    when.it_value = {.tv_sec = seconds.count(), .tv_nsec = (*next - seconds).count()};
  }
  ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr);
}

StreamReport StreamShell::report() const {
  std::lock_guard const lock(mutex_);
  return {.down = network_.link(Direction::down).counters(),
          .up = network_.link(Direction::up).counters(),
          .lateness = lateness_.summary(),
          .connections = connections_,
          .broken = broken_,
          .questions = questions_.count()};
}

}  // namespace reprise
