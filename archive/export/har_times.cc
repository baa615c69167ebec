#include "archive/export/har_times.h"

#include <array>
#include <cstdio>

namespace reprise::exporting {
namespace {

/// Nothing if a time is unknown, or they are out of order.
std::optional<std::int64_t> span(SessionTime from, SessionTime to) {
  std::int64_t ns = 0;
  if (from == kNoTime || to == kNoTime || to < from) return std::nullopt;
  if (__builtin_sub_overflow(to.count(), from.count(), &ns)) return std::nullopt;
  return ns;
}

bool was_made_for(const ConnectionFacts& facts, const Timings& timings) {
  return timings.queued != kNoTime && facts.dns_start >= timings.queued &&
         facts.connect_start >= facts.dns_start && facts.ready >= facts.connect_start &&
         timings.request_sent >= facts.ready;
}

}  // namespace

std::int64_t HarTimes::total() const {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (i != kSsl && __builtin_add_overflow(sum, spans[i].value_or(0), &sum)) return 0;
  }
  return sum;
}

HarTimes har_times(const Exchange& exchange, const ConnectionFacts* facts) {
  auto const& timings = exchange.timings;
  HarTimes times;
  auto& spans = times.spans;
  auto sent_from = timings.queued;
  if (facts != nullptr && was_made_for(*facts, timings)) {
    spans[HarTimes::kBlocked] = span(timings.queued, facts->dns_start);
    spans[HarTimes::kDns] = span(facts->dns_start, facts->connect_start);
    spans[HarTimes::kConnect] = span(facts->connect_start, facts->ready);
    if (facts->tls_start >= facts->connect_start) {
      spans[HarTimes::kSsl] = span(facts->tls_start, facts->ready);
    }
    sent_from = facts->ready;
  }
  // A response may arrive before all of the request was sent.
  bool const early = timings.first_byte != kNoTime && timings.first_byte < timings.request_sent;
  auto const sent = early || timings.request_sent == kNoTime ? sent_from : timings.request_sent;
  if (sent != kNoTime && timings.request_sent != kNoTime) {
    spans[HarTimes::kSend] = span(sent_from, sent);
  }
  auto const answered = exchange.response.status == 0 ? timings.end : timings.first_byte;
  spans[HarTimes::kWait] = span(sent, answered);
  if (exchange.response.status != 0) {
    auto const from = timings.first_byte == kNoTime ? sent : timings.first_byte;
    spans[HarTimes::kReceive] = span(from, timings.end);
  }
  return times;
}

std::string milliseconds_text(std::int64_t ns) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%lld.%06lld", static_cast<long long>(ns / 1'000'000),
                static_cast<long long>(ns % 1'000'000));
  std::string out = text.data();
  while (out.ends_with('0')) out.pop_back();
  if (out.ends_with('.')) out.pop_back();
  return out;
}

}  // namespace reprise::exporting
