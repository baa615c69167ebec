#include "shaper/stream/stream_relay.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace reprise {
namespace {

constexpr std::uint64_t kUnsentMin = 16 << 10;
constexpr std::uint64_t kUnsentMost = 256 << 10;
constexpr std::uint64_t kUnsentPerSecond = 500;  // two milliseconds of the rate
constexpr std::size_t kChunkBytes = 64 << 10;

StreamRelay::End source_of(Direction direction) {
  return direction == Direction::down ? StreamRelay::End::proxy : StreamRelay::End::client;
}
StreamRelay::End sink_of(Direction direction) {
  return source_of(opposite(direction));
}

bool would_block() {
  return errno == EAGAIN || errno == EWOULDBLOCK;
}

void reset(Descriptor& socket) {
  linger const at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  socket.reset();
}

}  // namespace

std::uint64_t StreamRelay::unsent_max(const LinkSettings& direction) {
  auto const rate_bps = mean_rate_bps(direction);
  if (rate_bps == 0) return kUnsentMost;
  return std::clamp(rate_bps / 8 / kUnsentPerSecond, kUnsentMin, kUnsentMost);
}

StreamRelay::StreamRelay(StreamNetwork& network, Descriptor client, const LinkProfile& profile,
                         Time now)
    : network_(network), id_(network.open(now)) {
  end(End::client).socket = std::move(client);
  pipe(Direction::down).unsent_max = unsent_max(profile.down);
  pipe(Direction::up).unsent_max = unsent_max(profile.up);
}

StreamRelay::~StreamRelay() {
  network_.close(id_);
  if (!pipe(Direction::down).finished) reset(end(End::client).socket);
}

void StreamRelay::attach_proxy(Descriptor proxy, std::shared_ptr<const std::atomic<bool>> aborted) {
  end(End::proxy).socket = std::move(proxy);
  aborted_ = std::move(aborted);
}

void StreamRelay::on_ready(End which, std::uint32_t events) {
  Socket& socket = end(which);
  // An end or an error is detected by reading and by writing.
  if ((events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) socket.readable = true;
  if ((events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0) socket.writable = true;
  if ((events & (EPOLLHUP | EPOLLERR)) != 0) socket.gone = true;
  if (which == End::client && (events & EPOLLERR) != 0) broken_ = true;
}

void StreamRelay::on_event(const StreamEvent& event) {
  if (event.kind == StreamEvent::Kind::failed) broken_ = true;
  if (event.kind == StreamEvent::Kind::ended) pipe(event.direction).end_delivered = true;
}

void StreamRelay::pump(Time now) {
  for (auto const direction : {Direction::up, Direction::down}) {
    pass_on(direction);
    take_in(direction, now);
  }
  if (reset_) wait_for_client(now);
}

std::size_t StreamRelay::untaken(Direction direction) const {
  auto const delivered = network_.delivered(id_, direction);
  auto const passed = pipe(direction).passed;
  return delivered > passed ? delivered - passed
                            : 0;  // 0 if the model has abandoned the connection
}

std::size_t StreamRelay::room(Direction direction) const {
  Pipe const& from = pipe(direction);
  auto const unsent = network_.unsent(id_, direction);
  if (untaken(direction) >= kUntakenMax || from.held.size() >= kHeldMax) return 0;
  // A small read costs as much as a large one, so wait until a quarter of the limit is free.
  if (unsent > from.unsent_max * 3 / 4) return 0;
  return std::min<std::size_t>(from.unsent_max - unsent, kChunkBytes);
}

void StreamRelay::take_in(Direction direction, Time now) {
  Socket& source = end(source_of(direction));
  Pipe& into = pipe(direction);
  std::array<std::byte, kChunkBytes> chunk;
  while (!broken_ && source.socket.is_open() && source.readable && !into.source_ended) {
    auto const wanted = room(direction);
    if (wanted == 0) return;
    auto const count = ::recv(source.socket.get(), chunk.data(), wanted, MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && would_block()) {
      source.readable = false;
      return;
    }
    if (count <= 0) return end_source(direction, count == 0, now);
    into.held.append(std::span(chunk).first(static_cast<std::size_t>(count)));
    network_.write(id_, direction, static_cast<std::uint64_t>(count), now);
  }
}

void StreamRelay::end_source(Direction direction, bool orderly, Time now) {
  pipe(direction).source_ended = true;
  if (direction == Direction::up && !orderly) {
    broken_ = true;
    return;
  }
  if (direction == Direction::down) reset_ = !orderly || aborted_->load();
  network_.finish(id_, direction, now);
}

void StreamRelay::pass_on(Direction direction) {
  Socket& sink = end(sink_of(direction));
  Pipe& from = pipe(direction);
  if (broken_ || !sink.socket.is_open()) return;
  while (auto const arrived = untaken(direction)) {
    if (!sink.writable) return;
    auto const bytes = from.held.first(arrived);
    auto count = ::send(sink.socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && would_block()) {
      sink.writable = false;
      return;
    }
    if (count < 0 && direction == Direction::down) {
      broken_ = true;
      return;
    }
    // A proxy that has closed accepts no more; its own data must still arrive.
    if (count < 0) count = static_cast<ssize_t>(bytes.size());
    from.held.pop(static_cast<std::size_t>(count));
    from.passed += static_cast<std::uint64_t>(count);
  }
  bool const orderly = direction == Direction::up || !reset_;
  if (from.end_delivered && !from.finished && orderly) pass_end(direction);
}

void StreamRelay::pass_end(Direction direction) {
  ::shutdown(end(sink_of(direction)).socket.get(), SHUT_WR);
  pipe(direction).finished = true;
}

/// A reset would discard what the client has not received.
void StreamRelay::wait_for_client(Time now) {
  auto const left_bytes = untaken(Direction::down) + undelivered_bytes(client());
  bool const over = delivery_.is_over(left_bytes, now);
  client_lags_ = left_bytes > 0;
  reset_is_due_ = over && (client_lags_ || pipe(Direction::down).end_delivered);
}

bool StreamRelay::done() const {
  if (broken_) return true;
  auto const& down = pipe(Direction::down);
  if (reset_) return reset_is_due_;
  return down.finished && (pipe(Direction::up).finished || end(End::proxy).gone);
}

bool StreamRelay::idle_without_proxy() const {
  bool const gone = !end(End::proxy).socket.is_open() || end(End::proxy).gone;
  auto const& down = pipe(Direction::down);
  bool const end_is_due = down.source_ended && !down.finished;
  return gone && down.held.size() == 0 && !end_is_due;
}

}  // namespace reprise
