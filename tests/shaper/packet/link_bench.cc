// Measures the packet link from both of its ends, and prints one JSON object. This process serves
// behind the link; it runs itself as the command before it.
//
//   link_bench LINK [--realtime | --no-realtime] [--keep-awake] WHAT
//
//   ping COUNT INTERVAL_US     ICMP echo: the kernel answers
//   pong COUNT                 one byte back and forth over TCP
//   down|up|both SECONDS [N]   N TCP flows each way (1), after a warm-up

#include <arpa/inet.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <optional>
#include <span>
#include <thread>

#include "shaper/packet/awake_processors.h"
#include "shaper/packet/link_runner.h"
#include "shaper/packet/network/topology.h"
#include "shaper/packet/packet_shell.h"

namespace reprise {
namespace {

namespace json = boost::json;

constexpr std::uint16_t kEchoPort = 7;
constexpr std::uint16_t kSinkPort = 9;
constexpr std::uint16_t kSourcePort = 19;
constexpr std::size_t kChunkBytes = std::size_t{256} << 10;
constexpr double kWarmUpSeconds = 3;
constexpr double kWindDownSeconds = 1;  ///< shorter than the warm-up
constexpr std::chrono::seconds kLastAnswer{5};

[[noreturn]] void die(const char* what) {
  std::perror(what);
  std::exit(1);
}

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  auto const of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

sockaddr_in server(std::uint16_t port) {
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(port);
  name.sin_addr.s_addr = htonl(kServerAddress);
  return name;
}

// ---- behind the link

void serve(Descriptor connection, std::uint16_t port) {
  int const on = 1;
  ::setsockopt(connection.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  std::vector<char> chunk(port == kEchoPort ? 1 : kChunkBytes);
  while (true) {
    auto size = static_cast<ssize_t>(chunk.size());
    if (port != kSourcePort) size = ::recv(connection.get(), chunk.data(), chunk.size(), 0);
    if (size <= 0) return;
    if (port == kSinkPort) continue;
    if (::send(connection.get(), chunk.data(), static_cast<std::size_t>(size), MSG_NOSIGNAL) < 0) {
      return;
    }
  }
}

void accept_all(const Descriptor& listener, std::uint16_t port) {
  while (true) {
    pollfd waited{.fd = listener.get(), .events = POLLIN, .revents = 0};
    ::poll(&waited, 1, -1);
    Descriptor connection(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!connection.is_open()) continue;
    std::thread(serve, std::move(connection), port).detach();
  }
}

// ---- before the link

Descriptor connect_to(std::uint16_t port) {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  auto const name = server(port);
  int const on = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0) {
    die("connect");
  }
  return socket;
}

json::object summary(std::vector<double> times_ms) {
  if (times_ms.empty()) return {};
  std::ranges::sort(times_ms);
  double sum = 0;
  for (double const time : times_ms) sum += time;
  auto const at = [&](double share) {
    return times_ms[static_cast<std::size_t>(share * static_cast<double>(times_ms.size() - 1))];
  };
  return {{"count", times_ms.size()},   {"mean_ms", sum / static_cast<double>(times_ms.size())},
          {"min_ms", times_ms.front()}, {"p50_ms", at(0.5)},
          {"p99_ms", at(0.99)},         {"max_ms", times_ms.back()}};
}

/// The time stamp that the kernel gave a packet, by CLOCK_REALTIME.
std::chrono::nanoseconds stamp_of(msghdr& message) {
  for (cmsghdr* one = CMSG_FIRSTHDR(&message); one != nullptr; one = CMSG_NXTHDR(&message, one)) {
    if (one->cmsg_level != SOL_SOCKET || one->cmsg_type != SO_TIMESTAMPNS) continue;
    timespec time{};
    std::memcpy(&time, CMSG_DATA(one), sizeof time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  }
  die("stamp");
}

class Pinger {
 public:
  Pinger() : socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_ICMP)) {
    auto const name = server(0);
    int const on = 1;
    if (!socket_.is_open() ||
        ::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0) {
      die("ping");
    }
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
  }

  json::object run(std::size_t count, std::chrono::microseconds interval) {
    std::chrono::nanoseconds next = link_now();
    std::chrono::nanoseconds const until = next + interval * count + kLastAnswer;
    while (times_ms_.size() < count && link_now() < until) {
      if (sent_ < count && link_now() >= next) {
        send();
        next += interval;
        continue;
      }
      std::chrono::nanoseconds const wait = (sent_ < count ? next : until) - link_now();
      auto const span = std::max(wait, std::chrono::nanoseconds(0));
      timespec const patience{.tv_sec = span / std::chrono::seconds(1),
                              .tv_nsec = (span % std::chrono::seconds(1)).count()};
      pollfd waited{.fd = socket_.get(), .events = POLLIN, .revents = 0};
      if (::ppoll(&waited, 1, &patience, nullptr) > 0) receive();
    }
    return summary(times_ms_);
  }

 private:
  struct Echo {
    icmphdr header;
    std::int64_t sent;
    char filling[40];
  };

  void send() {
    Echo echo{};
    echo.header.type = ICMP_ECHO;
    echo.header.un.echo.sequence = htons(static_cast<std::uint16_t>(sent_++));
    echo.sent = read_clock(CLOCK_REALTIME).count();
    if (::send(socket_.get(), &echo, sizeof echo, 0) < 0) die("send");
  }

  void receive() {
    Echo echo{};
    iovec part{.iov_base = &echo, .iov_len = sizeof echo};
    alignas(cmsghdr) char control[64];
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    if (::recvmsg(socket_.get(), &message, 0) < 0) die("recvmsg");
    auto const took = stamp_of(message) - std::chrono::nanoseconds(echo.sent);
    times_ms_.push_back(seconds(took) * 1e3);
  }

  Descriptor socket_;
  std::size_t sent_ = 0;
  std::vector<double> times_ms_;
};

json::object pong(std::size_t count) {
  auto const socket = connect_to(kEchoPort);
  std::vector<double> times_ms;
  char byte = 0;
  for (std::size_t i = 0; i < count; ++i) {
    auto const start = link_now();
    if (::send(socket.get(), &byte, 1, 0) != 1 || ::recv(socket.get(), &byte, 1, 0) != 1) {
      die("pong");
    }
    times_ms.push_back(seconds(link_now() - start) * 1e3);
  }
  return summary(times_ms);
}

/// Bits a second of one flow, once it has run for kWarmUpSeconds.
double receive_rate(const Descriptor& socket, double for_seconds) {
  std::vector<char> chunk(kChunkBytes);
  auto const start = link_now();
  std::chrono::nanoseconds from{0};
  double bytes = 0;
  while (true) {
    auto const size = ::recv(socket.get(), chunk.data(), chunk.size(), 0);
    if (size <= 0) die("recv");
    auto const now = link_now();
    if (from.count() > 0) bytes += static_cast<double>(size);
    if (from.count() > 0 && seconds(now - from) >= for_seconds) {
      return bytes * 8 / seconds(now - from);
    }
    if (from.count() == 0 && seconds(now - start) >= kWarmUpSeconds) from = now;
  }
}

/// The same for what has been acknowledged.
double send_rate(const Descriptor& socket, double for_seconds) {
  std::vector<char> chunk(kChunkBytes);
  std::jthread const sender([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      if (::send(socket.get(), chunk.data(), chunk.size(), MSG_NOSIGNAL) < 0) return;
    }
  });
  auto const acked = [&] {
    tcp_info info{};
    socklen_t size = sizeof info;
    ::getsockopt(socket.get(), IPPROTO_TCP, TCP_INFO, &info, &size);
    return static_cast<double>(info.tcpi_bytes_acked);
  };
  auto const pass = [](double time) {
    std::this_thread::sleep_for(std::chrono::duration<double>(time));
  };
  pass(kWarmUpSeconds);
  auto const from = link_now();
  auto const before = acked();
  pass(for_seconds);
  auto const rate = (acked() - before) * 8 / seconds(link_now() - from);
  ::shutdown(socket.get(), SHUT_RDWR);
  return rate;
}

/// Bits a second of `count` flows in each direction that `which` names.
json::object flows(const std::string& which, double for_seconds, std::size_t count) {
  std::vector<double> down(which == "up" ? 0 : count);
  std::vector<double> up(which == "down" ? 0 : count);
  {
    std::vector<std::jthread> running;
    for (double& rate : down) {
      running.emplace_back([&] { rate = receive_rate(connect_to(kSourcePort), for_seconds); });
    }
    for (double& rate : up) {
      running.emplace_back([&] { rate = send_rate(connect_to(kSinkPort), for_seconds); });
    }
  }
  json::object result;
  auto const sum = [](const std::vector<double>& rates) {
    return std::accumulate(rates.begin(), rates.end(), 0.0);
  };
  if (!down.empty()) result["down_bps"] = sum(down);
  if (!up.empty()) result["up_bps"] = sum(up);
  return result;
}

int run_client(const std::vector<std::string>& arguments) {
  auto const& what = arguments[0];
  json::object result;
  if (what == "ping") {
    result = Pinger().run(std::stoul(arguments.at(1)),
                          std::chrono::microseconds(std::stol(arguments.at(2))));
  } else if (what == "pong") {
    result = pong(std::stoul(arguments.at(1)));
  } else {
    result = flows(what, std::stod(arguments.at(1)),
                   arguments.size() > 2 ? std::stoul(arguments[2]) : 1);
  }
  result["client_cpu_s"] = cpu_seconds();
  std::printf("%s\n", json::serialize(result).c_str());
  std::fflush(stdout);
  ::_exit(0);
}

template <class T>
T need(std::expected<T, ShellError> result) {
  if (result) return std::move(*result);
  std::fprintf(stderr, "link_bench: %s; %s\n", result.error().what.c_str(),
               result.error().fix.c_str());
  std::exit(1);
}

/// What the wire carried in `for_seconds` of the run, data and acknowledgements, up to
/// kWindDownSeconds before its end.
double wire_rate(const LinkTimeline& line, double for_seconds) {
  auto const spans_of = [&](double time) {
    return static_cast<std::size_t>(time / seconds(line.width));
  };
  auto const skipped = std::min(line.spans.size(), spans_of(kWindDownSeconds));
  auto const until = std::span(line.spans).first(line.spans.size() - skipped);
  auto const count = std::min(until.size(), spans_of(for_seconds));
  double sum = 0;
  for (auto const& span : until.last(count)) sum += span.rate_bps;
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

struct Ways {
  WantedPriority priority = WantedPriority::kBest;
  bool keep_awake = false;
};

int run_server(const LinkProfile& profile, Ways ways, std::vector<std::string> arguments) {
  const std::vector<std::uint16_t> ports{kEchoPort, kSinkPort, kSourcePort};
  bool const is_flow = arguments[0] != "ping" && arguments[0] != "pong";
  auto shell = need(PacketShell::start({.tcp_ports = ports}));
  auto devices = need(LinkDevices::open(shell.network()));
  std::optional<AwakeProcessors> awake;
  if (ways.keep_awake) awake.emplace();
  LinkSeries series(profile);
  auto link = need(LinkRunner::start(
      devices, profile,
      {.seed = 1, .priority = ways.priority, .series = is_flow ? &series : nullptr}));
  for (std::size_t i = 0; i < ports.size(); ++i) {
    auto& listener = shell.network().listeners[i];

    std::thread([&listener, port = ports[i]] { accept_all(listener, port); }).detach();
  }
  double const for_seconds = is_flow ? std::stod(arguments.at(1)) : 0;
  arguments.insert(arguments.begin(), {"/proc/self/exe", "--client"});
  if (!shell.run(arguments)) return 1;
  int exit_code = 1;
  pollfd waited{.fd = shell.event_fd(), .events = POLLIN, .revents = 0};
  while (!shell.poll(exit_code)) ::poll(&waited, 1, -1);
  link->stop();
  auto const report = link->report();
  json::object const result{
      {"server_cpu_s", cpu_seconds()},
      {"link_cpu_s", seconds(report.processor_time)},
      {"lateness_cost_ms", seconds(report.lateness_cost) * 1e3},
      {"down_wire_bps", wire_rate(series.timeline(LinkSide::down), for_seconds)},
      {"up_wire_bps", wire_rate(series.timeline(LinkSide::up), for_seconds)},
      {"lateness_p50_us", seconds(report.lateness.p50) * 1e6},
      {"lateness_p99_us", seconds(report.lateness.p99) * 1e6},
      {"lateness_max_us", seconds(report.lateness.max) * 1e6},
      {"packets", report.down.packets_in + report.up.packets_in},
      {"bytes", report.down.bytes_out + report.up.bytes_out},
      {"queue_drops", report.down.queue_drops + report.up.queue_drops},
      {"outside_drops",
       {{"ring", report.outside.ring},
        {"send", report.outside.send},
        {"memory", report.outside.memory},
        {"malformed", report.outside.malformed},
        {"devices", report.outside.devices}}}};
  std::printf("%s\n", json::serialize(result).c_str());
  std::fflush(stdout);
  ::_exit(exit_code);
}

}  // namespace
}  // namespace reprise

int main(int argc, char** argv) {
  using namespace reprise;
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() > 2 && arguments[0] == "--client") {
    return run_client({arguments.begin() + 1, arguments.end()});
  }
  Ways ways{.keep_awake = std::erase(arguments, "--keep-awake") > 0};
  if (std::erase(arguments, "--realtime") > 0) ways.priority = WantedPriority::kRealtime;
  if (std::erase(arguments, "--no-realtime") > 0) ways.priority = WantedPriority::kOrdinary;
  auto const profile = arguments.size() > 2
                           ? parse_link(arguments[0])
                           : std::unexpected(std::string("usage: link_bench LINK WHAT NUMBER"));
  if (!profile) {
    std::fprintf(stderr, "link_bench: %s\n", profile.error().c_str());
    return 2;
  }
  return run_server(*profile, ways, {arguments.begin() + 1, arguments.end()});
}
