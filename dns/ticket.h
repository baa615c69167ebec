#pragma once

#include <boost/asio/steady_timer.hpp>

namespace reprise::dns {

/// Held by whoever may have to end a look-up or a dialling from outside. One at a time uses it; it
/// outlives that. Not thread-safe.
class Ticket {
 public:
  /// What uses this fails soon after, with errc::stopped; what would use it fails at once.
  void cancel() {
    cancelled_ = true;
    if (wake_ != nullptr) wake_->cancel();
  }
  bool cancelled() const { return cancelled_; }

  /// Names the timer that cancel() wakes, for as long as this lives.
  class Use {
   public:
    Use(Ticket& ticket, boost::asio::steady_timer& wake) : ticket_(ticket) {
      ticket_.wake_ = &wake;
    }
    ~Use() { ticket_.wake_ = nullptr; }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    Ticket& ticket_;
  };

 private:
  boost::asio::steady_timer* wake_ = nullptr;
  bool cancelled_ = false;
};

}  // namespace reprise::dns
