#include "tools/process/main_loop.h"

#include <signal.h>
#include <unistd.h>

#include <boost/asio/post.hpp>
#include <chrono>
#include <cstdio>
#include <utility>

#include "tools/process/process_signals.h"

namespace reprise {
namespace {

constexpr std::chrono::milliseconds kLivePeriod{250};
constexpr std::chrono::seconds kPlainPeriod{5};
/// The time for a command to end after its signal, before it is killed.
constexpr std::chrono::seconds kPatience{5};

}  // namespace

MainLoop::MainLoop(net::io_context& context)
    : context_(context),
      signals_(context_),
      ticker_(context_),
      patience_(context_),
      child_events_(context_) {}

int MainLoop::run(RunningCommand* child, const std::function<std::string()>& progress) {
  child_ = child;
  progress_ = &progress;
  if (child != nullptr && child->event_fd() >= 0) {
    child_events_.assign(::dup(child->event_fd()));
    await_child_event();
  }
  live_ = ::isatty(STDERR_FILENO) != 0;
  signals_.listen([this](const signalfd_siginfo& signal) { on_signal(signal); });
  tick();
  context_.run();
  if (live_ && !last_line_.empty()) std::fputs("\r\033[K", stderr);
  return exit_code_;
}

void MainLoop::end_on_second_signal() {
  signals_.close();
  if (signalled_) return restore_signal_mask();
  ending_.emplace();
}

void MainLoop::stop(int exit_code) {
  net::post(context_, [this, exit_code] {
    if (exit_code_ == kExitDone) exit_code_ = exit_code;
    if (child_ == nullptr) return context_.stop();
    if (std::exchange(stopping_, true)) return;
    child_->signal(SIGTERM);
    patience_.expires_after(kPatience);
    patience_.async_wait([this](boost::system::error_code error) {
      if (!error) child_->signal(SIGKILL);
    });
  });
}

void MainLoop::on_signal(const signalfd_siginfo& signal) {
  auto const number = static_cast<int>(signal.ssi_signo);
  if (number == SIGCHLD) return look_at_child();
  if (std::exchange(signalled_, true)) {
    // A second signal ends at once: the archive is complete at any time.
    if (child_ != nullptr) child_->signal(SIGKILL);
    ::_exit(128 + number);
  }
  if (child_ == nullptr) return context_.stop();
  // Ctrl-C: the terminal has sent the command a signal, too, and many take a second SIGINT as
  // "now".
  bool const typed = number == SIGINT && signal.ssi_code == SI_KERNEL;
  if (!typed) child_->signal(number);
}

void MainLoop::look_at_child() {
  int exit_code = 0;
  if (child_ == nullptr || !child_->poll(exit_code)) return;
  if (exit_code_ == kExitDone) exit_code_ = exit_code;
  context_.stop();
}

void MainLoop::await_child_event() {
  child_events_.async_wait(child_events_.wait_read, [this](boost::system::error_code error) {
    if (error) return;
    look_at_child();
    if (!context_.stopped()) await_child_event();
  });
}

void MainLoop::tick() {
  ticker_.expires_after(live_ ? kLivePeriod : kPlainPeriod);
  ticker_.async_wait([this](boost::system::error_code error) {
    if (error) return;
    if (auto line = (*progress_)(); line != last_line_) {
      if (live_) {
        std::fprintf(stderr, "\r\033[K%s", line.c_str());
      } else {
        std::fprintf(stderr, "%s\n", line.c_str());
      }
      last_line_ = std::move(line);
    }
    tick();
  });
}

}  // namespace reprise
