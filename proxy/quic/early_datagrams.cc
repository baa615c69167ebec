#include "proxy/quic/early_datagrams.h"

#include <utility>

namespace reprise {

void EarlyDatagrams::hold(const QuicSocket::Datagram& datagram, std::string_view id,
                          TimePoint now) {
  drop_old(now);
  auto const& bytes = datagram.bytes;
  if (bytes.size() > kDatagramBytesMax) return;
  if (waiting_.size() == kCountMax) waiting_.pop_front();
  auto& waiting = waiting_.emplace_back();
  waiting.held.bytes.assign(bytes.begin(), bytes.end());
  waiting.held.ecn = datagram.ecn;
  waiting.id = id;
  waiting.local = datagram.local;
  waiting.client = datagram.client;
  waiting.arrived = now;
}

std::vector<EarlyDatagrams::Held> EarlyDatagrams::take(const QuicSocket::Datagram& datagram,
                                                       std::string_view id, TimePoint now) {
  drop_old(now);
  std::vector<Held> taken;
  for (auto each = waiting_.begin(); each != waiting_.end();) {
    bool const belongs =
        each->id == id && each->client == datagram.client && each->local == datagram.local;
    if (!belongs) {
      ++each;
      continue;
    }
    taken.push_back(std::move(each->held));
    each = waiting_.erase(each);
  }
  return taken;
}

void EarlyDatagrams::drop_old(TimePoint now) {
  while (!waiting_.empty() && waiting_.front().arrived + kTimeMax < now) waiting_.pop_front();
}

}  // namespace reprise
