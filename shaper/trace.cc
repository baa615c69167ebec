#include "shaper/trace.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <system_error>
#include <utility>

#include "base/http/digest.h"

namespace reprise {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

Trace::Trace(std::vector<std::uint32_t> times_ms, std::string name)
    : times_ms_(std::move(times_ms)), name_(std::move(name)) {}

std::expected<std::shared_ptr<const Trace>, std::string> Trace::parse(std::string_view text,
                                                                      std::string name) {
  std::size_t number = 0;
  auto const wrong = [&](const std::string& what) {
    return std::unexpected("trace " + name + ", line " + std::to_string(number) + ": " + what);
  };
  if (text.size() > kTraceBytesMax) {
    return std::unexpected("trace " + name + " is larger than 16 MiB");
  }
  std::vector<std::uint32_t> times_ms;
  while (!text.empty()) {
    ++number;
    auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() && text.empty()) break;
    std::uint32_t time_ms = 0;
    auto const [end, error] = std::from_chars(line.data(), line.data() + line.size(), time_ms);
    if (error == std::errc::result_out_of_range) return wrong("more than 4294967295 ms");
    if (error != std::errc() || end != line.data() + line.size()) {
      return wrong("expected one whole number of milliseconds");
    }
    if (!times_ms.empty() && time_ms < times_ms.back()) {
      return wrong("goes back from " + std::to_string(times_ms.back()) + " to " +
                   std::to_string(time_ms) + " ms");
    }
    times_ms.push_back(time_ms);
  }
  if (times_ms.empty()) return std::unexpected("trace " + name + " is empty");
  if (times_ms.back() == 0) {
    return wrong("the last timestamp must be above 0, because the trace repeats there");
  }
  return std::shared_ptr<const Trace>(new Trace(std::move(times_ms), std::move(name)));
}

std::expected<std::shared_ptr<const Trace>, std::string> Trace::load(
    const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return std::unexpected("trace " + path.string() + ": " +
                           (error ? error.message() : "not a regular file"));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::unexpected("trace " + path.string() + " cannot be read");
  std::string text(kTraceBytesMax + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (file.bad()) return std::unexpected("trace " + path.string() + " cannot be read");
  return parse(text, path.string());
}

std::uint64_t Trace::mean_rate_bps() const {
  // At most 2^24 lines, so this fits.
  return std::uint64_t{times_ms_.size()} * kOpportunityBytes * 8 * 1000 / times_ms_.back();
}

std::string Trace::sha256() const {
  std::string text;
  for (auto const time_ms : times_ms_) text += std::to_string(time_ms) + '\n';
  return sha256_hex(text);
}

TraceCursor::TraceCursor(std::shared_ptr<const Trace> trace, nanoseconds start)
    : trace_(std::move(trace)), start_(start) {}

nanoseconds TraceCursor::take(std::uint64_t bytes, nanoseconds from) {
  if (time() < from) seek(from);
  while (bytes > left_bytes_) {
    bytes -= left_bytes_;
    step();
  }
  left_bytes_ -= static_cast<std::uint32_t>(bytes);
  return time();
}

nanoseconds TraceCursor::time() const {
  return start_ + pass_ + milliseconds(trace_->times_ms()[next_]);
}

void TraceCursor::seek(nanoseconds from) {
  auto const elapsed = std::max(from - start_, nanoseconds(0));
  auto const period = trace_->period();
  // The end of one repetition is the start of the next: its last lines come first.
  auto const passes = elapsed > nanoseconds(0) ? (elapsed - nanoseconds(1)) / period : 0;
  pass_ = passes * period;
  auto const& times = trace_->times_ms();
  auto const offset_ms = std::chrono::ceil<milliseconds>(elapsed - pass_).count();
  next_ = static_cast<std::size_t>(std::ranges::lower_bound(times, offset_ms) - times.begin());
  left_bytes_ = kOpportunityBytes;
}

void TraceCursor::step() {
  left_bytes_ = kOpportunityBytes;
  if (++next_ < trace_->times_ms().size()) return;
  next_ = 0;
  pass_ += trace_->period();
}

}  // namespace reprise
