#include "shaper/stream/stream_check.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <thread>

#include "shaper/packet/lateness.h"
#include "shaper/packet/link_clock.h"
#include "shaper/stream/model_transfers.h"
#include "shaper/stream/stream_shell.h"

namespace reprise {
namespace {

constexpr double kBudgetMs = 900;
constexpr std::uint64_t kTransfers[] = {200'000, 50'000, 14'000};
/// The time to wake threads on a machine that is not too busy.
constexpr double kToleranceMs = 5;
constexpr double kToleranceShare = 0.10;

bool varies(const LinkSettings& settings) {
  return settings.trace || !settings.outages.off.empty() || settings.jitter.count() > 0 ||
         settings.loss != LossModel();
}

/// The measurements to make, with the model's expectations.
StreamCheck plan_check(const LinkProfile& profile, std::uint64_t seed) {
  StreamCheck check;
  ModelTransfers model(profile, seed);
  check.connected.expected_ms = to_ms(model.fetch(1));
  if (check.connected.expected_ms > kBudgetMs) {
    check.skipped = "two round trips take longer than the time limit of a self-check";
    return check;
  }
  if (auto const time = to_ms(model.fetch(1)); to_ms(model.now()) < kBudgetMs) {
    check.round_trip = {.expected_ms = time};
  }
  for (auto const bytes : kTransfers) {
    ModelTransfers longer = model;
    auto const time = to_ms(longer.fetch(bytes));
    if (!check.round_trip || to_ms(longer.now()) > kBudgetMs) continue;
    check.transfer = {.expected_ms = time};
    check.transfer_bytes = bytes;
    break;
  }
  return check;
}

/// The far end: answers each request with the number of bytes in its first eight bytes.
void answer(Descriptor socket) {
  std::vector<char> bytes(kTransfers[0]);
  std::array<char, kRequestBytes> request;
  while (::recv(socket.get(), request.data(), request.size(), MSG_WAITALL) == kRequestBytes) {
    std::uint64_t wanted = 0;
    std::memcpy(&wanted, request.data(), sizeof wanted);
    wanted = std::min<std::uint64_t>(wanted, bytes.size());
    for (std::uint64_t sent = 0; sent < wanted;) {
      auto const count = ::send(socket.get(), bytes.data() + sent, wanted - sent, MSG_NOSIGNAL);
      if (count <= 0) return;
      sent += static_cast<std::uint64_t>(count);
    }
  }
}

/// A shell with both its ends.
class Bench {
 public:
  /// The ends stop one after the other, each when it sees that the previous one has closed.
  ~Bench() {
    near_.reset();
    shell_.reset();
    if (answers_.joinable()) answers_.join();
  }

  ShellResult<void> start(const LinkProfile& profile, std::uint64_t seed) {
    Descriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    near_ = Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    at_.sin_family = AF_INET;
    at_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof at_;
    auto* const name = reinterpret_cast<sockaddr*>(&at_);
    if (!near_.is_open() || ::bind(listener.get(), name, length) != 0 ||
        ::listen(listener.get(), 1) != 0 || ::getsockname(listener.get(), name, &length) != 0) {
      return shell_failure("the self-check cannot open a socket on loopback");
    }
    int const on = 1;
    ::setsockopt(near_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    // It ends even after an error.
    timeval const patience{.tv_sec = 2, .tv_usec = 0};
    ::setsockopt(near_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    StreamShellOptions options{.profile = profile, .seed = seed, .hand_over = {}};
    options.listeners.push_back(std::move(listener));
    options.hand_over = [this](StreamArrival arrival) {
      if (answers_.joinable()) return;  // another program's
      ::fcntl(arrival.socket.get(), F_SETFL, 0);
      answers_ = std::thread(answer, std::move(arrival.socket));
    };
    auto shell = StreamShell::start(std::move(options));
    if (!shell) return std::unexpected(shell.error());
    shell_ = std::move(*shell);
    return {};
  }

  bool connect() {
    return ::connect(near_.get(), reinterpret_cast<const sockaddr*>(&at_), sizeof at_) == 0;
  }

  /// Time from the request to the last byte of its answer.
  double fetch(std::uint64_t bytes) {
    std::array<char, kRequestBytes> request{};
    std::memcpy(request.data(), &bytes, sizeof bytes);
    std::vector<char> answered(bytes);
    auto const begin = link_now();
    static_cast<void>(::send(near_.get(), request.data(), request.size(), MSG_NOSIGNAL));
    static_cast<void>(::recv(near_.get(), answered.data(), bytes, MSG_WAITALL));
    return to_ms(link_now() - begin);
  }

 private:
  sockaddr_in at_{};
  Descriptor near_;
  std::thread answers_;  // created by the shell's thread
  std::unique_ptr<StreamShell> shell_;
};

void judge(StreamCheck& check) {
  auto const consider = [&](const TimeCheck& time, const std::string& what) {
    auto const off = std::abs(time.measured_ms - time.expected_ms);
    if (off <= std::max(kToleranceMs, kToleranceShare * time.expected_ms)) return;
    char text[160];
    std::snprintf(text, sizeof text, "%s took %.1f ms instead of %.1f ms", what.c_str(),
                  time.measured_ms, time.expected_ms);
    check.deviations.push_back(
        {.text = text, .share = share_off(time.measured_ms, time.expected_ms)});
  };
  consider(check.connected, "a connection and a first byte");
  if (check.round_trip) consider(*check.round_trip, "a round trip");
  if (check.transfer) consider(*check.transfer, std::to_string(check.transfer_bytes) + " bytes");
}

}  // namespace

ShellResult<StreamCheck> check_stream(const LinkProfile& profile, std::uint64_t seed) {
  auto check = plan_check(profile, seed);
  if (!check.skipped.empty()) return check;
  auto const begin = link_now();
  Bench bench;
  if (auto const started = bench.start(profile, seed); !started) {
    return std::unexpected(started.error());
  }
  auto const connecting = link_now();
  if (!bench.connect()) return shell_failure("the self-check cannot connect on loopback");
  auto const connected_ms = to_ms(link_now() - connecting);
  check.connected.measured_ms = connected_ms + bench.fetch(1);
  if (check.round_trip) check.round_trip->measured_ms = bench.fetch(1);
  if (check.transfer) check.transfer->measured_ms = bench.fetch(check.transfer_bytes);
  check.took_ms = to_ms(link_now() - begin);
  if (!varies(profile.down) && !varies(profile.up)) judge(check);
  return check;
}

}  // namespace reprise
