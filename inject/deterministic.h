#pragma once

// The script that fixes a page's clock and random numbers: inject/script/, with a session's
// settings. Pure.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace reprise::inject {

/// How a page's clock advances from its start.
enum class ClockMode : std::uint8_t {
  kStep,    ///< 50 ms every 50 tasks that read it, bounded lag: see script/clock.js
  kSteady,  ///< with real time
  kAll,     ///< the same, and performance.timeOrigin + now() is its time
};

/// "step", "steady", "all".
std::string_view to_string(ClockMode mode);
std::optional<ClockMode> clock_mode_of(std::string_view text);

/// The settings of a page. The same values give the same bytes.
struct PageSettings {
  std::chrono::milliseconds time{};   ///< the clock at the start of a document (Unix epoch)
  std::uint64_t seed = 0;             ///< of all random numbers
  std::chrono::seconds date_shift{};  ///< how much later dates in responses are than recorded
  ClockMode clock = ClockMode::kStep;
  std::string time_zone;  ///< its IANA name; empty: the browser's own
};

/// The forms of one script, each about 17 KB before content coding.
struct DeterministicScript {
  std::string document;  ///< for its own <script>; names itself for stack traces
  /// For a browser that runs it before each document, frames included: it does nothing in documents
  /// that make no request, which other documents enter.
  std::string browser;
  std::string worker;  ///< put before a worker's script, on the same line
};
DeterministicScript deterministic_script(const PageSettings& settings);

/// The minified script, with "CONFIG" in place of its settings. Generated from inject/script/.
extern const std::string_view kScriptTemplate;

}  // namespace reprise::inject
