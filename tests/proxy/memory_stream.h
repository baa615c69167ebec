#pragma once

// Byte streams that are memory: both ends of a connection on one io_context, without a socket and
// without time. When its poll() returns, all that can happen has happened: who still waits then
// waits forever.

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "proxy/stream/byte_stream.h"
#include "proxy/stream/half_closed.h"

namespace reprise {

class MemoryStream final : public ByteStream {
 public:
  using Pair = std::pair<std::unique_ptr<MemoryStream>, std::unique_ptr<MemoryStream>>;
  /// What an end has sent and its peer has not read; over it, writing waits.
  static constexpr std::size_t kUnreadBytesMax = 64 << 10;

  static Pair make_pair(net::io_context& context) {
    auto const wire = std::make_shared<Wire>(context);
    return {std::make_unique<MemoryStream>(wire, 0), std::make_unique<MemoryStream>(wire, 1)};
  }

  /// How a connection breaks once this end has sent so many bytes.
  void reset_after(std::uint64_t bytes) { limit_ = bytes, at_limit_ = AtLimit::kReset; }
  /// The peer sees an orderly end there, and no byte behind it.
  void end_after(std::uint64_t bytes) { limit_ = bytes, at_limit_ = AtLimit::kEnd; }
  /// The most that one read gives.
  void read_at_most(std::size_t bytes) { read_bytes_max_ = bytes; }
  /// From now on the grace of a peer that has ended its direction is over.
  void lose_patience() {
    impatient_ = true;
    wire_->notify();
  }

  Task<std::size_t> read_some(std::span<std::byte> buffer) override {
    if (turn_is_over()) co_await yield_turn();
    while (true) {
      if (!own().open) co_return fail(std::make_error_code(std::errc::operation_canceled));
      if (!peer().unread.empty()) break;
      // As of a socket, what came before the reset can be read.
      if (wire_->reset) co_return fail(std::make_error_code(std::errc::connection_reset));
      if (peer().ended) co_return std::size_t{0};
      begin_turn();
      if (!co_await change()) {
        co_return fail(std::make_error_code(std::errc::operation_canceled));
      }
    }
    auto& unread = peer().unread;
    auto const count = std::min({unread.size(), buffer.size(), read_bytes_max_});
    std::ranges::copy(bytes_of(unread).first(count), buffer.begin());
    unread.erase(0, count);
    count_read(count);
    wire_->notify();
    co_return count;
  }

  Result<bool> write_now(Outgoing& pieces) override {
    while (!pieces.empty()) {
      if (!own().open) return fail(std::make_error_code(std::errc::operation_canceled));
      if (wire_->reset || !peer().open) return fail(std::make_error_code(std::errc::broken_pipe));
      auto const bytes = pieces.front().bytes;
      auto const room = kUnreadBytesMax - own().unread.size();
      if (room == 0) return false;
      auto const count = std::min(bytes.size(), room);
      send(bytes.first(count));
      count_written(count);
      pieces.advance(count);
    }
    return true;
  }

  awaitable<void> shutdown() override {
    own().ended = true;
    wire_->notify();
    co_return;
  }
  void close() override {
    own().open = false;
    own().ended = true;
    wire_->notify();
  }
  void abort() override {
    if (own().open) wire_->reset = true;
    close();
  }
  /// What was sent can be read after a reset, too.
  std::size_t undelivered_bytes() override { return 0; }
  /// Without time, an end of the peer's direction says nothing before lose_patience().
  awaitable<void> peer_gone() override {
    half_closed_.begin_wait();
    while (own().open && peer().open && !wire_->reset) {
      if (peer().ended && grace_is_over()) co_return;
      if (!co_await change()) co_return;
    }
  }
  bool peer_ended() override { return !own().open || peer().ended || wire_->reset; }
  bool idle() override { return !peer_ended() && peer().unread.empty(); }

 protected:
  awaitable<void> wait_writable() override { (void)co_await change(); }

 private:
  enum class AtLimit : std::uint8_t { kReset, kEnd };

  /// What both ends share.
  struct Wire {
    struct End {
      std::string unread;  // sent by it
      bool ended = false;  // its direction, in order
      bool open = true;
    };
    struct Waiter {
      net::steady_timer timer;
      bool woken = false;
    };
    explicit Wire(net::io_context& given_context) : context(given_context) {}
    void notify() {
      for (Waiter* const waiter : waiters) {
        waiter->woken = true;
        waiter->timer.cancel();
      }
    }
    net::io_context& context;
    std::array<End, 2> ends;
    bool reset = false;
    std::vector<Waiter*> waiters;
  };

 public:
  MemoryStream(std::shared_ptr<Wire> wire, std::size_t index)
      : wire_(std::move(wire)), index_(index) {}
  ~MemoryStream() override { close(); }

 private:
  Wire::End& own() { return wire_->ends[index_]; }
  Wire::End& peer() { return wire_->ends[1 - index_]; }

  /// Returns once something has changed at either end. False: the wait was cancelled.
  awaitable<bool> change() {
    auto const wire = wire_;  // which may outlive this
    Wire::Waiter waiter{.timer = net::steady_timer(wire->context)};
    struct Listed {
      ~Listed() { std::erase(wire.waiters, &waiter); }
      Wire& wire;
      Wire::Waiter& waiter;
    } const listed{*wire, waiter};
    wire->waiters.push_back(&waiter);
    waiter.timer.expires_at(net::steady_timer::time_point::max());
    co_await waiter.timer.async_wait(kTuple);
    co_return waiter.woken;
  }

  bool grace_is_over() {
    HalfClosed::Time const seen{};
    (void)half_closed_.is_gone(seen, bytes_written());
    return impatient_ && half_closed_.is_gone(seen + 2 * HalfClosed::kGrace, bytes_written());
  }

  void send(Bytes bytes) {
    if (!own().ended) {
      auto const count = std::min<std::uint64_t>(bytes.size(), limit_);
      own().unread += text_of(bytes.first(count));
      limit_ -= count;
      if (limit_ == 0) (at_limit_ == AtLimit::kReset ? wire_->reset : own().ended) = true;
    }
    wire_->notify();
  }

  std::shared_ptr<Wire> wire_;
  std::size_t index_;
  std::uint64_t limit_ = std::numeric_limits<std::uint64_t>::max();  // bytes that still pass
  AtLimit at_limit_ = AtLimit::kReset;
  std::size_t read_bytes_max_ = std::numeric_limits<std::size_t>::max();
  HalfClosed half_closed_;
  bool impatient_ = false;
};

}  // namespace reprise
