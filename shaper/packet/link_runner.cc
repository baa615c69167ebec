#include "shaper/packet/link_runner.h"

#include <pthread.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <future>

namespace reprise {
namespace {

constexpr std::uint64_t kDownStream = 0;
constexpr std::uint64_t kUpStream = 1;
constexpr std::chrono::nanoseconds kPublishPeriod = std::chrono::milliseconds(2);
constexpr int kPriority = 10;
/// What comes meanwhile waits in a ring, which has room for less than 500 frames.
constexpr std::chrono::nanoseconds kNapMax = std::chrono::milliseconds(1);
/// How late packets may be, beside a hundredth of the delay, to save processor time at high rates.
constexpr std::chrono::nanoseconds kRestMax = std::chrono::microseconds(200);

bool watch(const Descriptor& events, int fd, std::uint32_t how) {
  epoll_event event{};
  event.events = how;
  event.data.fd = fd;
  return ::epoll_ctl(events.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

std::chrono::nanoseconds shortest_delay(const LinkProfile& profile) {
  return std::min(profile.down.delay, profile.up.delay);
}

unsigned usable_processors() {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  return ::sched_getaffinity(0, sizeof usable, &usable) == 0
             ? static_cast<unsigned>(CPU_COUNT(&usable))
             : 1;
}

timespec to_timespec(std::chrono::nanoseconds time) {
  auto const seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  return {.tv_sec = seconds.count(), .tv_nsec = (time - seconds).count()};
}

}  // namespace

LinkDevices::LinkDevices(PacketRing client, PacketRing server, BuiltNetwork& network)
    : client_(std::move(client)),
      server_(std::move(server)),
      link_netlink_(std::move(network.link_netlink)),
      client_netlink_(std::move(network.client_netlink)),
      server_netlink_(std::move(network.server_netlink)),
      indices_{network.client_index, network.server_index, network.client_near_index,
               network.server_near_index} {
  drops_before_ = count_drops();
}

ShellResult<LinkDevices> LinkDevices::open(BuiltNetwork& network) {
  auto client = PacketRing::open(std::move(network.client_packets), network.client_index);
  if (!client) return std::unexpected(client.error());
  auto server = PacketRing::open(std::move(network.server_packets), network.server_index);
  if (!server) return std::unexpected(server.error());
  return LinkDevices(std::move(*client), std::move(*server), network);
}

void LinkDevices::flush() {
  for (PacketRing* const ring : {&client_, &server_}) {
    while (ring->front()) ring->pop();
    static_cast<void>(ring->take_drops());
  }
}

std::uint64_t LinkDevices::count_drops() {
  std::uint64_t total = 0;
  NetlinkSocket* const sockets[] = {&link_netlink_, &link_netlink_, &client_netlink_,
                                    &server_netlink_};
  for (std::size_t i = 0; i < std::size(sockets); ++i) {
    // The client's device is gone once the command's network is; so are its counters.
    if (auto const drops = sockets[i]->drops_of(indices_[i])) {
      total += drops->received + drops->transmitted;
    }
  }
  return total;
}

std::uint64_t LinkDevices::drops() {
  return count_drops() - drops_before_;
}

LinkRunner::LinkRunner(LinkDevices& devices, const LinkProfile& profile,
                       const LinkRunnerOptions& options, std::chrono::nanoseconds start)
    : devices_(devices),
      options_(options),
      down_(LinkSide::down, Link(profile.down, options.seed, kDownStream, start), devices.server(),
            devices.client(), FarServers(options.far_servers), lateness_, chain_, options.log,
            options.series),
      up_(LinkSide::up, Link(profile.up, options.seed, kUpStream, start), devices.client(),
          devices.server(), FarServers({}), lateness_, chain_, options.log, options.series),
      wake_plan_(usable_processors(), std::min(kRestMax, shortest_delay(profile) / 100)),
      nap_max_(std::min(kNapMax, shortest_delay(profile))) {
  if (options.log != nullptr) options.log->set_start(start);
  if (options.series != nullptr) options.series->set_start(start);
}

ShellResult<void> LinkRunner::open_events() {
  events_ = Descriptor(::epoll_create1(EPOLL_CLOEXEC));
  timer_ = Descriptor(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  wake_ = Descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  // Of the timer only the edge counts, so it is never read.
  if (!watch(events_, devices_.client().fd(), EPOLLIN) ||
      !watch(events_, devices_.server().fd(), EPOLLIN) || !watch(events_, wake_.get(), EPOLLIN) ||
      !watch(events_, timer_.get(), EPOLLIN | EPOLLET)) {
    return shell_failure("cannot watch the link's events");
  }
  return {};
}

ShellResult<std::unique_ptr<LinkRunner>> LinkRunner::start(LinkDevices& devices,
                                                           const LinkProfile& profile,
                                                           const LinkRunnerOptions& options) {
  devices.flush();
  std::unique_ptr<LinkRunner> runner(new LinkRunner(devices, profile, options, link_now()));
  if (auto const opened = runner->open_events(); !opened) return std::unexpected(opened.error());
  std::promise<std::error_code> started;
  runner->thread_ = std::thread([&runner = *runner, &started, wanted = options.priority] {
    auto priority = ThreadPriority::take(wanted, kPriority);
    started.set_value(priority ? std::error_code() : priority.error());
    if (priority) runner.run(*priority);
  });
  if (auto const error = started.get_future().get()) {
    return shell_failure("the link's thread cannot get real-time priority",
                         "run `ulimit -r 10` (see limits.conf), run as root, or omit --realtime",
                         error.value());
  }
  return runner;
}

LinkRunner::~LinkRunner() {
  stop();
}

void LinkRunner::stop() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  std::uint64_t const one = 1;
  static_cast<void>(::write(wake_.get(), &one, sizeof one));
  thread_.join();
}

void LinkRunner::run(ThreadPriority& priority) {
  priority_ = &priority;
  ::prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);  // in ns
  while (!stopping_.load(std::memory_order_relaxed)) {
    if (!pass()) wait(link_now());
  }
  publish(link_now());
}

void LinkRunner::wait(std::chrono::nanoseconds now) {
  if (watching_since_) wake_plan_.watched(*watching_since_, now);
  watching_since_.reset();
  auto const next = next_event();
  auto const wake_at = next ? wake_plan_.wake_at(now, *next) : std::nullopt;
  if (next && !wake_at) {
    watching_since_ = now;
    return;
  }
  // A short sleep ends before anybody misses it.
  if (!wake_at || *wake_at > publish_at_) publish(now);
  bool const came = wake_at && *wake_at - now <= nap_max_ ? nap(*wake_at) : sleep_until(wake_at);
  if (came && wake_at) wake_plan_.slept(*wake_at, link_now());
}

/// Whether anything moved.
bool LinkRunner::pass() {
  bool moved = up_.take_in(stamps_);
  moved = down_.take_in(stamps_) || moved;
  auto const now = link_now();
  moved = up_.give_out(now) || moved;
  moved = down_.give_out(now) || moved;
  if (now >= publish_at_) publish(now);
  return moved;
}

std::optional<std::chrono::nanoseconds> LinkRunner::next_event() const {
  auto const down = down_.next_event();
  auto const up = up_.next_event();
  return down && up ? std::min(*down, *up) : down ? down : up;
}

bool LinkRunner::nap(std::chrono::nanoseconds time) {
  auto const until = to_timespec(time);
  return ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == 0;
}

bool LinkRunner::sleep_until(std::optional<std::chrono::nanoseconds> time) {
  itimerspec when{};
  if (time) when.it_value = to_timespec(*time);
  ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr);
  epoll_event event{};
  return ::epoll_wait(events_.get(), &event, 1, -1) == 1 && event.data.fd == timer_.get();
}

void LinkRunner::publish(std::chrono::nanoseconds now) {
  publish_at_ = now + kPublishPeriod;
  priority_->watch(now);
  std::lock_guard const lock(mutex_);
  published_.priority = priority_->got();
  published_.times_lowered = priority_->times_lowered();
  published_.processor_time = read_clock(CLOCK_THREAD_CPUTIME_ID);
  if (chain_.cost() > published_.lateness_cost) published_.lateness_curve = chain_.curve();
  published_.lateness_cost = chain_.cost();
  published_.span = chain_.span();
  published_.down = down_.counters();
  published_.up = up_.counters();
  auto const& in = up_.drops();
  published_.outside = down_.drops();
  published_.outside.send += in.send;
  published_.outside.memory += in.memory;
  published_.outside.malformed += in.malformed;
}

LinkReport LinkRunner::report() {
  std::lock_guard const counting(report_mutex_);
  ring_drops_ += devices_.client().take_drops() + devices_.server().take_drops();
  LinkReport report;  // with room for the curve, so that nothing is allocated under the lock
  {
    std::lock_guard const lock(mutex_);
    report = published_;
  }
  report.lateness = lateness_.summary();
  report.outside.ring = ring_drops_;
  report.outside.devices = devices_.drops();
  return report;
}

}  // namespace reprise
