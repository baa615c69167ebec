// A filter's view of an exchange.

#include <algorithm>
#include <limits>

#include "archive/edit/filter.h"
#include "base/http/media_type.h"
#include "base/text/glob.h"

namespace reprise {
namespace {

constexpr FilterField kFields[] = {
    FilterField::kHost,    FilterField::kPath,    FilterField::kQuery,  FilterField::kUrl,
    FilterField::kMethod,  FilterField::kScheme,  FilterField::kType,   FilterField::kProtocol,
    FilterField::kOutcome, FilterField::kHeader,  FilterField::kStatus, FilterField::kTime,
    FilterField::kSize,    FilterField::kSession, FilterField::kNumber};

/// The start of the exchange, as far as it is known.
SessionTime begin_of(const Timings& timings) {
  for (auto const time : {timings.queued, timings.request_sent, timings.first_byte, timings.end}) {
    if (time != kNoTime) return time;
  }
  return kNoTime;
}

std::string_view word_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kComplete:
      return "complete";
    case Outcome::kCutByClient:
      return "cut-by-client";
    case Outcome::kCutByOrigin:
      return "cut-by-origin";
    case Outcome::kOriginFailed:
      return "failed";
  }
  return {};
}

std::int64_t clamped(std::uint64_t number) {
  return static_cast<std::int64_t>(
      std::min<std::uint64_t>(number, std::numeric_limits<std::int64_t>::max()));
}

class ExchangeSubject final : public FilterSubject {
 public:
  ExchangeSubject(const Exchange& exchange, std::size_t number)
      : exchange_(exchange), number_(number) {}

  std::string_view text(FilterField field, std::string_view, std::string& buffer) const override {
    auto const& request = exchange_.request;
    std::string_view const target = request.target;
    auto const query_at = std::min(target.find('?'), target.size());
    switch (field) {
      case FilterField::kHost:
        return request.host;
      case FilterField::kPath:
        return target.substr(0, query_at);
      case FilterField::kQuery:
        return target.substr(std::min(query_at + 1, target.size()));
      case FilterField::kUrl:
        return buffer = url_of(request);
      case FilterField::kMethod:
        return buffer = lower_case(request.method);
      case FilterField::kScheme:
        return to_string(request.scheme);
      case FilterField::kType:
        return buffer = media_type(exchange_.response.headers.list());
      case FilterField::kProtocol:
        return buffer = lower_case(to_string(
                   exchange_.response.status == 0 ? request.version : exchange_.response.version));
      case FilterField::kOutcome:
        return word_of(exchange_.outcome);
      default:
        return {};
    }
  }

  std::optional<std::int64_t> number(FilterField field) const override {
    switch (field) {
      case FilterField::kStatus:
        return exchange_.response.status;
      case FilterField::kTime: {
        auto const begin = begin_of(exchange_.timings);
        if (begin == kNoTime) return std::nullopt;
        return begin.count();
      }
      case FilterField::kSize:
        return clamped(exchange_.response.body.size_bytes);
      case FilterField::kSession:
        return exchange_.session;
      case FilterField::kNumber:
        return clamped(number_);
      default:
        return std::nullopt;
    }
  }

  HeaderList headers() const override { return exchange_.response.headers.list(); }

 private:
  const Exchange& exchange_;
  std::size_t number_;
};

}  // namespace

const FilterVocabulary& exchange_vocabulary() {
  static constexpr FilterVocabulary kVocabulary{.fields = kFields};
  return kVocabulary;
}

bool Filter::takes(const Exchange& exchange, std::size_t number) const {
  return takes(ExchangeSubject(exchange, number));
}

}  // namespace reprise
