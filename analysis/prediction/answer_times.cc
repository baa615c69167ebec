#include "analysis/prediction/answer_times.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace reprise {
namespace {

/// How often answers are moved at most: more do not come closer.
constexpr int kPasses = 6;
/// Between those that are ready together, so that they keep their order in a changed load: a server
/// writes far ahead for the first one.
constexpr double kOrderUs = 1;
/// What is not worth moving.
constexpr double kMovedUs = 100;

class AnswerMover {
 public:
  AnswerMover(const SentOver& over, std::span<const ObservedAnswer> answers,
              std::span<const double> probes_us)
      : over_(over),
        answers_(answers),
        probes_us_(probes_us),
        order_(answers.size()),
        own_us_(answers.size()),
        at_us_(answers.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::ranges::sort(order_, {},
                      [this](std::size_t k) { return std::pair(answers_[k].first_byte_us, k); });
  }

  AnswerTimes run() && {
    for (std::size_t place = 0; place < order_.size(); ++place) {
      auto const k = order_[place];
      own_us_[k] = answers_[k].asked_us;
      at_us_[k] = earliest_us(place);
    }
    sent_ = send();
    for (int pass = 0; pass < kPasses && move(); ++pass) sent_ = send();
    return {.at_us = std::move(at_us_), .sent = std::move(sent_)};
  }

 private:
  /// Whether one of them moved.
  bool move() {
    bool is_moved = false;
    for (std::size_t place = 0; place < order_.size(); ++place) {
      auto const k = order_[place];
      auto const before_us = at_us_[k];
      ObservedAnswer const& answer = answers_[k];
      if (!is_explained(k)) {
        own_us_[k] = std::clamp(before_us + answer.first_byte_us - sent_.first_us[k],
                                answer.asked_us, std::max(answer.asked_us, latest_us(answer)));
      }
      at_us_[k] = std::max(own_us_[k], earliest_us(place));
      is_moved = is_moved || std::abs(at_us_[k] - before_us) > kMovedUs;
    }
    return is_moved;
  }

  /// When an answer can have come to the link at the earliest: by its place in `order_`.
  double earliest_us(std::size_t place) const {
    auto const k = order_[place];
    auto earliest = answers_[k].asked_us;
    if (!answers_[k].can_be_held) return earliest;
    for (std::size_t before = 0; before < place; ++before) {
      auto const other = order_[before];
      bool const is_over = answers_[other].end_us <= answers_[k].asked_us;
      if (is_over || !goes_first(other, k)) continue;
      earliest = std::max(earliest, at_us_[other] + kOrderUs);
    }
    return earliest;
  }

  /// Whether a response waited for those that go first, and is later than that by no more than its
  /// first TLS record, and by what they are later than what is sent again here: by something other
  /// than its server, then.
  bool is_explained(std::size_t k) const {
    auto const waited_us = sent_.first_us[k] - first_packet_us(answers_[k]) - at_us_[k];
    if (!answers_[k].is_ordered || waited_us <= kMovedUs) return false;
    double late_us = 0;
    for (std::size_t other = 0; other < answers_.size(); ++other) {
      if (other == k || sent_.end_us[other] > sent_.first_us[k] || !goes_first(other, k)) continue;
      late_us = std::max(late_us, answers_[other].end_us - sent_.end_us[other]);
    }
    auto const first_byte_us = answers_[k].first_byte_us;
    // Not more than it has waited: it would have been moved to behind the others.
    auto const slack_us = std::min(waited_us, over_.round_trip_us / 2);
    return first_byte_us >= sent_.first_us[k] &&
           first_byte_us <= sent_.record_us[k] + late_us + slack_us;
  }

  bool goes_first(std::size_t a, std::size_t b) const {
    ObservedAnswer const& first = answers_[a];
    ObservedAnswer const& then = answers_[b];
    if (!first.is_ordered || !then.is_ordered || first.connection != then.connection) return false;
    if (first.priority.urgency != then.priority.urgency) {
      return first.priority.urgency < then.priority.urgency;
    }
    if (then.priority.incremental) return !first.priority.incremental;
    return !first.priority.incremental && a <= b;
  }

  /// How long the link takes for the first packet of a response.
  double first_packet_us(const ObservedAnswer& answer) const {
    auto const bytes = std::min(answer.bytes, TcpLink::kSegmentBytes);
    return over_.bytes_per_us > 0 ? bytes / over_.bytes_per_us : 0;
  }

  /// The response's bytes had passed the link when it ended. The first byte alone allows a later
  /// time: it is not seen before its TLS record is whole (RFC 8446, 5.1: up to 16 KiB).
  double latest_us(const ObservedAnswer& answer) const {
    auto const by_first_us = answer.first_byte_us - first_packet_us(answer);
    if (over_.bytes_per_us <= 0) return by_first_us;
    return std::min(by_first_us, answer.end_us - answer.bytes / over_.bytes_per_us);
  }

  SentAgain send() const {
    std::vector<GivenTransfer> transfers;
    for (std::size_t k = 0; k < answers_.size(); ++k) {
      transfers.push_back({.at_us = at_us_[k],
                           .connection = answers_[k].connection,
                           .bytes = answers_[k].bytes,
                           .priority = answers_[k].priority});
    }
    return send_again(over_, transfers, probes_us_);
  }

  SentOver over_;
  std::span<const ObservedAnswer> answers_;
  std::span<const double> probes_us_;
  std::vector<std::size_t> order_;  ///< by first byte
  std::vector<double> own_us_;      ///< when they would be ready without the others
  std::vector<double> at_us_;
  SentAgain sent_;
};

}  // namespace

AnswerTimes answer_times(const SentOver& over, std::span<const ObservedAnswer> answers,
                         std::span<const double> probes_us) {
  return AnswerMover(over, answers, probes_us).run();
}

}  // namespace reprise
