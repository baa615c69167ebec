#include "proxy/replay/response/schedule.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "archive/think_time.h"
#include "base/http/media_type.h"

namespace reprise {
namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds kNothing{};

std::string text_of(double value) {
  std::array<char, 32> digits;
  auto const [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  return {digits.data(), error == std::errc() ? end : digits.data()};
}

/// Media types whose pieces have a meaning of their own.
bool is_stream(HeaderList headers) {
  constexpr std::array<std::string_view, 5> kStreams{{"text/event-stream", "application/x-ndjson",
                                                      "application/ndjson", "application/json-seq",
                                                      "multipart/x-mixed-replace"}};
  auto const type = media_type_of(find_header(headers, "content-type").value_or(""));
  constexpr std::string_view kGrpc = "application/grpc";
  return equals_ignoring_case(type.substr(0, kGrpc.size()), kGrpc) ||
         std::ranges::any_of(
             kStreams, [type](std::string_view each) { return equals_ignoring_case(type, each); });
}

class ThinkTimes {
 public:
  ThinkTimes(const Exchange& exchange, std::optional<nanoseconds> round_trip, const Timing& timing)
      : timings_(exchange.timings), round_trip_(round_trip), think_(timing.think) {
    auto const usual =
        think_.kind == ThinkTime::Kind::kFixed ? think_.fixed : of(exchange.timings.first_byte);
    auto changed = timing.rules ? timing.rules->of(exchange, usual)
                                : ThinkRules::Changed{.fixed = usual, .draws = nullptr};
    final_ = changed.fixed;
    draws_ = std::move(changed.draws);
  }

  nanoseconds final_head() const { return final_; }
  std::shared_ptr<ThinkDraws> draws() const { return draws_; }
  /// Each keeps its own time, as long as that is before the final head.
  nanoseconds interim_head(SessionTime at) const { return std::min(of(at), final_); }

 private:
  nanoseconds of(SessionTime at) const {
    if (think_.kind == ThinkTime::Kind::kNone) return kNothing;
    return multiplied(think_time_until(at, timings_, round_trip_), think_.factor);
  }

  const Timings& timings_;
  std::optional<nanoseconds> round_trip_;
  const ThinkTime& think_;
  nanoseconds final_{};
  std::shared_ptr<ThinkDraws> draws_;
};

/// Collects the steps of a body, for all times or only for the pauses.
class Steps {
 public:
  Steps(const Exchange& exchange, std::optional<nanoseconds> round_trip, bool all)
      : all_(all), pauses_(round_trip), head_at_(exchange.timings.first_byte) {}

  void add(std::uint64_t end_bytes, SessionTime at) {
    end_bytes = std::max(end_bytes, sent_bytes_);
    auto const after_head = std::max(before_, time_between(head_at_, at));
    auto const due = all_ ? due_of(after_head) : due_without_gaps(after_head);
    if (steps_.empty() || due > steps_.back().after_head) {
      steps_.push_back({.end_bytes = end_bytes, .after_head = due});
    } else {
      steps_.back().end_bytes = end_bytes;
    }
    before_ = after_head;
    sent_bytes_ = end_bytes;
  }

  std::vector<Schedule::Step> take() {
    if (!steps_.empty() && steps_.back().after_head == kNothing) steps_.clear();
    return std::move(steps_);
  }

 private:
  nanoseconds due_of(nanoseconds after_head) const {
    auto const last = steps_.empty() ? kNothing : steps_.back().after_head;
    return after_head - last < Schedule::kTogether ? last : after_head;
  }

  nanoseconds due_without_gaps(nanoseconds after_head) {
    pauses_.add(after_head - before_, sent_bytes_);
    return pauses_.total();
  }

  bool all_;
  BodyPauses pauses_;
  SessionTime head_at_;
  std::vector<Schedule::Step> steps_;
  nanoseconds before_{};  // time of the previous piece
  std::uint64_t sent_bytes_ = 0;
};

bool is_piecewise(const Exchange& exchange, Pace pace) {
  return pace == Pace::kAll || is_stream(exchange.response.headers.list());
}

std::vector<Schedule::Step> steps_of(const Exchange& exchange,
                                     std::optional<nanoseconds> round_trip, Pace pace) {
  auto const& response = exchange.response;
  auto const no_time = [](const ChunkTime& chunk) { return chunk.time == kNoTime; };
  if (pace == Pace::kNone || response.chunk_times.empty() ||
      exchange.timings.first_byte == kNoTime ||
      std::ranges::any_of(response.chunk_times, no_time)) {
    return {};
  }
  Steps steps(exchange, round_trip, is_piecewise(exchange, pace));
  // The recorded sizes decide what a pause is.
  auto const timed = response.timed_size_bytes();
  for (const ChunkTime& chunk : response.chunk_times) {
    steps.add(std::min(chunk.end_bytes, timed), chunk.time);
  }
  // A stream may be held open after its last piece, and a client may act at its end.
  steps.add(timed, exchange.timings.end);
  auto taken = steps.take();
  if (auto const size = response.body.size_bytes; size != timed) {
    for (Schedule::Step& step : taken) {
      step.end_bytes = end_in_form(step.end_bytes, timed, size, true);
    }
  }
  return taken;
}

}  // namespace

std::optional<ThinkTime> ThinkTime::parse(std::string_view text) {
  if (text == "none") return ThinkTime();
  if (text == "recorded") return ThinkTime{.kind = Kind::kRecorded};
  if (auto const factor = parse_factor(text)) {
    return ThinkTime{.kind = Kind::kRecorded, .fixed = {}, .factor = *factor};
  }
  if (auto const fixed = parse_milliseconds(text)) {
    return ThinkTime{.kind = Kind::kFixed, .fixed = *fixed};
  }
  return std::nullopt;
}

std::string ThinkTime::text() const {
  switch (kind) {
    case Kind::kNone:
      return "none";
    case Kind::kFixed:
      return text_of(static_cast<double>(fixed.count()) / 1e6) + " ms";
    case Kind::kRecorded:
      break;
  }
  return factor == 1 ? "recorded" : "x" + text_of(factor);
}

Schedule make_schedule(const Exchange& exchange, std::optional<nanoseconds> round_trip,
                       const Timing& timing) {
  ThinkTimes const think(exchange, round_trip, timing);
  Schedule schedule{.interim = {},
                    .head = think.final_head(),
                    .draws = think.draws(),
                    .steps = steps_of(exchange, round_trip, timing.pace),
                    .piecewise = is_piecewise(exchange, timing.pace)};
  for (const StoredInterimResponse& interim : exchange.interim) {
    if (interim.status != 100) schedule.interim.push_back(think.interim_head(interim.time));
  }
  return schedule;
}

std::uint64_t end_in_form(std::uint64_t end_bytes, std::uint64_t recorded_bytes,
                          std::uint64_t form_bytes, bool scaled) {
  if (end_bytes >= recorded_bytes) return form_bytes;
  if (end_bytes == 0) return 0;
  if (!scaled && form_bytes >= recorded_bytes) return end_bytes + (form_bytes - recorded_bytes);
  auto const share = static_cast<double>(end_bytes) / static_cast<double>(recorded_bytes);
  return std::min(form_bytes, static_cast<std::uint64_t>(share * static_cast<double>(form_bytes)));
}

}  // namespace reprise
