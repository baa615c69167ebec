#pragma once

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>

#include "proxy/stream/net.h"

namespace reprise {

/// Lets one coroutine wait until another of the same thread calls set(). Costs nothing until a
/// coroutine waits.
class Event {
 public:
  /// Returns once set() was called since the last wait(). One waiter at a time.
  awaitable<void> wait() { return wait_until(std::chrono::steady_clock::time_point::max()); }
  /// The same, but returns at `at` at the latest.
  awaitable<void> wait_until(std::chrono::steady_clock::time_point at) {
    if (!set_) {
      if (!timer_) timer_ = std::make_unique<net::steady_timer>(co_await net::this_coro::executor);
      timer_->expires_at(at);
      co_await timer_->async_wait(kTuple);
    }
    set_ = false;
  }
  void set() {
    set_ = true;
    if (timer_) timer_->cancel();
  }
  /// As if set() had not been called.
  void forget() { set_ = false; }

 private:
  bool set_ = false;
  std::unique_ptr<net::steady_timer> timer_;
};

}  // namespace reprise
