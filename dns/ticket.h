#pragma once

#include <boost/asio/steady_timer.hpp>

namespace reprise::dns {

/// Cancels a look-up or a dial from outside. Used by one at a time, which it must outlive. Not
/// thread-safe.
class Ticket {
 public:
  /// The present user fails soon, with errc::stopped; a later one at once.
  void cancel() {
    cancelled_ = true;
    if (wake_ != nullptr) wake_->cancel();
  }
  bool cancelled() const { return cancelled_; }

  /// Registers the timer that cancel() wakes, for the lifetime of this object.
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
