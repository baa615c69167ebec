// Compares the stream model with a real TCP through the packet shell: the same profile, transfers
// of four sizes, cold (from connect(2) to the last byte) and warm (a second one on the connection).
// Prints a table with medians, and says which are further apart than 10 %.
//
//   stream_against_packet [--runs N] [LINK...]

#include <arpa/inet.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "shaper/packet/link_runner.h"
#include "shaper/packet/packet_shell.h"
#include "shaper/packet/topology.h"
#include "tests/shaper/stream/model_transfers.h"

namespace reprise {
namespace {

constexpr std::uint16_t kPort = 80;
constexpr std::uint64_t kSizes[] = {14'000, 50'000, 200'000, 1'000'000};
constexpr double kTolerance = 0.10;

struct Times {
  double connect_ms = 0;
  double cold_ms = 0;  ///< of the request
  double warm_ms = 0;
};

[[noreturn]] void die(const char* what) {
  std::perror(what);
  std::_Exit(1);
}

double ms(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

// ---- behind the link: answers kRequestBytes with as many bytes as the first eight say

void serve(Descriptor connection) {
  int const on = 1;
  ::setsockopt(connection.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  std::vector<char> answer(kSizes[3]);
  std::vector<char> request(kRequestBytes);
  while (::recv(connection.get(), request.data(), request.size(), MSG_WAITALL) ==
         static_cast<ssize_t>(request.size())) {
    std::uint64_t left = 0;
    std::memcpy(&left, request.data(), sizeof left);
    left = std::min<std::uint64_t>(left, answer.size());
    while (left > 0) {
      auto const sent = ::send(connection.get(), answer.data(), left, MSG_NOSIGNAL);
      if (sent <= 0) return;
      left -= static_cast<std::uint64_t>(sent);
    }
  }
}

void accept_all(const Descriptor& listener) {
  while (true) {
    pollfd waited{.fd = listener.get(), .events = POLLIN, .revents = 0};
    ::poll(&waited, 1, -1);
    Descriptor connection(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (connection.is_open()) std::thread(serve, std::move(connection)).detach();
  }
}

// ---- before the link

double fetch_ms(const Descriptor& socket, std::uint64_t bytes) {
  std::vector<char> request(kRequestBytes);
  std::memcpy(request.data(), &bytes, sizeof bytes);
  std::vector<char> chunk(1 << 16);
  auto const begin = link_now();
  if (::send(socket.get(), request.data(), request.size(), 0) < 0) die("send");
  for (std::uint64_t got = 0; got < bytes;) {
    auto const size = ::recv(socket.get(), chunk.data(), chunk.size(), 0);
    if (size <= 0) die("recv");
    got += static_cast<std::uint64_t>(size);
  }
  return ms(link_now() - begin);
}

int run_client(int runs) {
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(kPort);
  name.sin_addr.s_addr = htonl(kServerAddress);
  for (std::uint64_t const bytes : kSizes) {
    for (int i = 0; i < runs; ++i) {
      Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      auto const begin = link_now();
      if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0) {
        die("connect");
      }
      auto const connect_ms = ms(link_now() - begin);
      auto const cold_ms = fetch_ms(socket, bytes);
      auto const warm_ms = fetch_ms(socket, bytes);
      std::printf("%llu %f %f %f\n", static_cast<unsigned long long>(bytes), connect_ms, cold_ms,
                  warm_ms);
      std::fflush(stdout);
    }
  }
  std::_Exit(0);
}

template <class T>
T need(std::expected<T, ShellError> result) {
  if (result) return std::move(*result);
  std::fprintf(stderr, "%s; %s\n", result.error().what.c_str(), result.error().fix.c_str());
  std::_Exit(1);
}

/// Runs this program behind the link, and gives what it prints to `out`.
[[noreturn]] void run_server(const LinkProfile& profile, int runs, int out) {
  ::dup2(out, STDOUT_FILENO);
  auto shell = need(PacketShell::start({.tcp_ports = {kPort}}));
  auto devices = need(LinkDevices::open(shell.network()));
  auto link = need(LinkRunner::start(devices, profile, {.seed = 1}));
  std::thread([&] { accept_all(shell.network().listeners[0]); }).detach();
  if (!shell.run({"/proc/self/exe", "--client", std::to_string(runs)})) std::_Exit(1);
  int exit_code = 1;
  pollfd waited{.fd = shell.event_fd(), .events = POLLIN, .revents = 0};
  while (!shell.poll(exit_code)) ::poll(&waited, 1, -1);
  link->stop();
  std::_Exit(exit_code);
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// ---- the table

int print_row(const char* link, std::uint64_t bytes, const char* kind, double packet,
              double stream) {
  double const off = packet > 0 ? stream / packet - 1 : 1;
  bool const wrong = std::abs(off) > kTolerance;
  std::printf("%-18s %9llu  %-7s %10.1f %10.1f %+8.1f %%%s\n", link,
              static_cast<unsigned long long>(bytes), kind, packet, stream, off * 100,
              wrong ? "  <- more than 10 %" : "");
  std::fflush(stdout);
  return wrong ? 1 : 0;
}

int compare(const char* link, const LinkProfile& profile, int runs) {
  int ends[2];
  if (::pipe(ends) != 0) die("pipe");
  pid_t const child = ::fork();
  if (child == 0) run_server(profile, runs, ends[1]);
  ::close(ends[1]);
  std::FILE* const lines = ::fdopen(ends[0], "r");
  std::vector<Times> measured[4];
  unsigned long long bytes = 0;
  Times times;
  while (std::fscanf(lines, "%llu %lf %lf %lf", &bytes, &times.connect_ms, &times.cold_ms,
                     &times.warm_ms) == 4) {
    measured[std::ranges::find(kSizes, bytes) - kSizes].push_back(times);
  }
  std::fclose(lines);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (status != 0) return 1;

  int wrong = 0;
  for (std::size_t i = 0; i < std::size(kSizes); ++i) {
    std::vector<double> cold;
    std::vector<double> warm;
    for (const Times& one : measured[i]) {
      cold.push_back(one.connect_ms + one.cold_ms);
      warm.push_back(one.warm_ms);
    }
    std::vector<double> model_cold;
    std::vector<double> model_warm;
    for (int run = 0; run < runs; ++run) {
      ModelTransfers transfers(profile, static_cast<std::uint64_t>(run));
      transfers.connect();
      transfers.fetch(kSizes[i]);
      model_cold.push_back(ms(transfers.now()));
      model_warm.push_back(ms(transfers.fetch(kSizes[i])));
    }
    wrong += print_row(link, kSizes[i], "cold", median(cold), median(model_cold));
    wrong += print_row(link, kSizes[i], "warm", median(warm), median(model_warm));
  }
  return wrong;
}

}  // namespace
}  // namespace reprise

int main(int argc, char** argv) {
  using namespace reprise;
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 2 && arguments[0] == "--client")
    return run_client(std::stoi(arguments[1]));
  int runs = 5;
  if (arguments.size() >= 2 && arguments[0] == "--runs") {
    runs = std::max(1, std::atoi(arguments[1].c_str()));
    arguments.erase(arguments.begin(), arguments.begin() + 2);
  }
  if (arguments.empty()) arguments = {"wpt:4g", "wpt:lte", "wpt:3gfast", "wpt:cable"};
  std::printf("%-18s %9s  %-7s %10s %10s\n", "link", "bytes", "", "packet ms", "stream ms");
  int wrong = 0;
  for (const std::string& link : arguments) {
    auto const profile = parse_link(link);
    if (!profile) {
      std::fprintf(stderr, "stream_against_packet: %s\n", profile.error().c_str());
      return 2;
    }
    wrong += compare(link.c_str(), *profile, runs);
  }
  std::printf("%d rows are more than 10 %% apart\n", wrong);
  return wrong == 0 ? 0 : 1;
}
