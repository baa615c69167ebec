#include "shaper/stream/tcp_receiver.h"

#include <algorithm>

#include "shaper/stream/segment.h"

namespace reprise {

using namespace std::chrono_literals;

namespace {

constexpr TcpReceiver::Time kDelay = 40ms;

}  // namespace

bool TcpReceiver::receive(SequenceRange segment, Time now) {
  bool const in_order = segment.begin <= delivered_ && segment.end > delivered_;
  bool const gap = !beyond_.empty();
  if (segment.end > delivered_) keep(segment);
  if (!in_order || gap) return true;
  if (quick_left_ > 0) {
    --quick_left_;
    return true;
  }
  if (delivered_ - acknowledged_ > kSegmentBytes) return true;
  if (!ack_due_) ack_due_ = now + kDelay;
  return false;
}

Acknowledgement TcpReceiver::acknowledge() {
  ack_due_.reset();
  acknowledged_ = delivered_;
  Acknowledgement ack{.upto = delivered_};
  ack.sack_count = static_cast<std::uint32_t>(std::min(beyond_.size(), ack.sacks.size()));
  std::copy_n(beyond_.begin(), ack.sack_count, ack.sacks.begin());
  return ack;
}

void TcpReceiver::keep(SequenceRange segment) {
  // It is merged with all ranges that it touches.
  std::erase_if(beyond_, [&](const SequenceRange& range) {
    bool const touches = range.begin <= segment.end && segment.begin <= range.end;
    if (touches) {
      segment = {std::min(segment.begin, range.begin), std::max(segment.end, range.end)};
    }
    return touches;
  });
  if (segment.begin <= delivered_) {
    delivered_ = std::max(delivered_, segment.end);
  } else {
    beyond_.insert(beyond_.begin(), segment);
  }
}

}  // namespace reprise
