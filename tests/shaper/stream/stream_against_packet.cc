// Compares the stream model with a real TCP through the packet shell: the same profile, transfers
// of four sizes, cold (from connect(2) to the last byte) and warm (a second one on the connection).
// Prints a table (Markdown) with medians, and says which are further apart than 10 %.
//
//   stream_against_packet [--quick] [--runs N] [LINK...]
//
// Over a link that loses packets a median takes many runs (60); --quick leaves out the large sizes.
// Exits with 77 where the system does not allow a packet shell.

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
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "shaper/packet/link_runner.h"
#include "shaper/packet/network/topology.h"
#include "shaper/packet/packet_shell.h"
#include "shaper/stream/model_transfers.h"

namespace reprise {
namespace {

constexpr std::uint16_t kPort = 80;
constexpr std::uint64_t kSizes[] = {14'000, 50'000, 200'000, 1'000'000};
constexpr double kTolerance = 0.10;
/// On both sides. By themselves the kernel's buffers grow as the threads happen to run, and
/// sometimes cut a window short: 200 KB warm over wpt:4g then take 370, 690, 860 or 1800 ms.
constexpr int kBufferBytes = 4 << 20;
constexpr int kSkipped = 77;
constexpr std::uint64_t kModelRuns = 99;  // they cost next to nothing

struct Plan {
  std::size_t sizes = std::size(kSizes);  ///< the first so many
  int runs = 5;
};

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
  ::setsockopt(connection.get(), SOL_SOCKET, SO_SNDBUF, &kBufferBytes, sizeof kBufferBytes);
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

int run_client(const Plan& plan) {
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(kPort);
  name.sin_addr.s_addr = htonl(kServerAddress);
  for (std::uint64_t const bytes : std::span(kSizes).first(plan.sizes)) {
    for (int i = 0; i < plan.runs; ++i) {
      Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUF, &kBufferBytes, sizeof kBufferBytes);
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
  std::_Exit(kSkipped);
}

/// Runs this program behind the link, and gives what it prints to `out`.
[[noreturn]] void run_server(const LinkProfile& profile, const Plan& plan, int out) {
  ::dup2(out, STDOUT_FILENO);
  auto shell = need(PacketShell::start({.tcp_ports = {kPort}}));
  auto devices = need(LinkDevices::open(shell.network()));
  auto link = need(LinkRunner::start(devices, profile, {.seed = 1}));
  std::thread([&] { accept_all(shell.network().listeners[0]); }).detach();
  auto const sizes = std::to_string(plan.sizes);
  if (!shell.run({"/proc/self/exe", "--client", sizes, std::to_string(plan.runs)})) std::_Exit(1);
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
  std::printf("| %-17s | %7llu | %s | %9.1f | %9.1f | %+6.1f %%%s |\n", link,
              static_cast<unsigned long long>(bytes), kind, packet, stream, off * 100,
              wrong ? " (over 10 %)" : "");
  std::fflush(stdout);
  return wrong ? 1 : 0;
}

/// Prints the rows of one size. How many are wrong.
int compare_size(const char* link, const LinkProfile& profile, std::uint64_t bytes,
                 const std::vector<Times>& measured) {
  std::vector<double> cold;
  std::vector<double> warm;
  for (const Times& one : measured) {
    cold.push_back(one.connect_ms + one.cold_ms);
    warm.push_back(one.warm_ms);
  }
  std::vector<double> model_cold;
  std::vector<double> model_warm;
  for (std::uint64_t seed = 0; seed < kModelRuns; ++seed) {
    ModelTransfers transfers(profile, seed);
    transfers.connect();
    transfers.fetch(bytes);
    model_cold.push_back(ms(transfers.now()));
    model_warm.push_back(ms(transfers.fetch(bytes)));
  }
  return print_row(link, bytes, "cold", median(cold), median(model_cold)) +
         print_row(link, bytes, "warm", median(warm), median(model_warm));
}

int compare(const char* link, const LinkProfile& profile, const Plan& plan) {
  int ends[2];
  if (::pipe(ends) != 0) die("pipe");
  pid_t const child = ::fork();
  if (child == 0) run_server(profile, plan, ends[1]);
  ::close(ends[1]);
  std::FILE* const lines = ::fdopen(ends[0], "r");
  std::vector<Times> measured[std::size(kSizes)];
  unsigned long long bytes = 0;
  Times times;
  while (std::fscanf(lines, "%llu %lf %lf %lf", &bytes, &times.connect_ms, &times.cold_ms,
                     &times.warm_ms) == 4) {
    measured[std::ranges::find(kSizes, bytes) - kSizes].push_back(times);
  }
  std::fclose(lines);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (status != 0) std::exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);

  int wrong = 0;
  for (std::size_t i = 0; i < plan.sizes; ++i) {
    wrong += compare_size(link, profile, kSizes[i], measured[i]);
  }
  return wrong;
}

}  // namespace
}  // namespace reprise

int main(int argc, char** argv) {
  using namespace reprise;
  std::vector<std::string> arguments(argv + 1, argv + argc);
  Plan plan;
  if (arguments.size() == 3 && arguments[0] == "--client") {
    plan = {.sizes = std::stoul(arguments[1]), .runs = std::stoi(arguments[2])};
    return run_client(plan);
  }
  auto const take = [&](const char* flag, std::size_t count) {
    if (arguments.size() < count || arguments[0] != flag) return std::string();
    auto const last = arguments[count - 1];
    arguments.erase(arguments.begin(), arguments.begin() + static_cast<std::ptrdiff_t>(count));
    return last;
  };
  if (!take("--quick", 1).empty()) plan = {.sizes = 2, .runs = 3};
  if (auto const runs = take("--runs", 2); !runs.empty()) plan.runs = std::max(1, std::stoi(runs));
  if (arguments.empty()) arguments = {"wpt:4g", "wpt:3gfast", "wpt:cable"};
  std::printf(
      "| link | bytes | | packet ms | stream ms | off by |\n|---|---:|---|---:|---:|---:|\n");
  int wrong = 0;
  for (const std::string& link : arguments) {
    auto const profile = parse_link(link);
    if (!profile) {
      std::fprintf(stderr, "stream_against_packet: %s\n", profile.error().c_str());
      return 2;
    }
    wrong += compare(link.c_str(), *profile, plan);
  }
  std::printf("\n%d rows are more than 10 %% apart\n", wrong);
  return wrong == 0 ? 0 : 1;
}
