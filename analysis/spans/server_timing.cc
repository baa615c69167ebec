#include "analysis/spans/server_timing.h"

#include <charconv>
#include <cmath>

#include "base/http/h1_syntax.h"
#include "base/text/white_space.h"

namespace reprise {
namespace {

/// Reads one field value: metrics between commas, their parameters after semicolons.
class FieldReader {
 public:
  explicit FieldReader(std::string_view value) : rest_(value) {}

  /// False at the end.
  bool next(ServerTiming& metric) {
    while (!rest_.empty()) {
      auto const name = take_until(",;");
      bool const valid = is_token(name);
      metric = {.name = std::string(name)};
      bool has_description = false;
      bool has_duration = false;
      while (take(';')) {
        auto const parameter = take_until("=,;");
        bool const has_value = take('=');
        auto const value = has_value ? take_value() : std::string();
        if (!has_description && equals_ignoring_case(parameter, "desc")) {
          has_description = true;
          metric.description = value;
        } else if (!has_duration && equals_ignoring_case(parameter, "dur")) {
          has_duration = true;
          metric.duration_us = duration_of(value);
        }
      }
      // Anything that still stands before the comma is not of the grammar.
      take_until(",");
      take(',');
      if (valid) return true;
    }
    return false;
  }

 private:
  std::string_view take_until(std::string_view ends) {
    auto const text = rest_.substr(0, rest_.find_first_of(ends));
    rest_.remove_prefix(text.size());
    return trim_blanks(text);
  }
  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  /// A token, or a quoted text; whatever follows it up to the next parameter is passed over.
  std::string take_value() {
    while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
    if (!take('"')) return std::string(take_until(",;"));
    std::string text;
    while (!rest_.empty() && !take('"')) {
      take('\\');
      if (rest_.empty()) break;
      text += rest_.front();
      rest_.remove_prefix(1);
    }
    take_until(",;");
    return text;
  }

  static std::optional<std::int64_t> duration_of(std::string_view text) {
    double ms = 0;
    auto const* const end = text.data() + text.size();
    auto const [stop, error] = std::from_chars(text.data(), end, ms);
    if (error != std::errc() || stop != end) return std::nullopt;
    if (!(ms >= 0 && ms <= ServerTiming::kDurationUsMax / 1000)) return std::nullopt;
    return std::llround(ms * 1000);
  }

  std::string_view rest_;
};

}  // namespace

std::vector<ServerTiming> read_server_timing(HeaderList head, HeaderList trailers) {
  std::vector<ServerTiming> metrics;
  for (auto const fields : {head, trailers}) {
    for (const HeaderView& field : fields) {
      if (!equals_ignoring_case(field.name, "Server-Timing")) continue;
      FieldReader reader(field.value);
      ServerTiming metric;
      while (metrics.size() < ServerTiming::kMetricsMax && reader.next(metric)) {
        metrics.push_back(std::move(metric));
      }
    }
  }
  return metrics;
}

}  // namespace reprise
