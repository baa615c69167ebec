#pragma once

// The script that fixes a page's clock and dice: inject/script/, with what a session says. Pure.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace reprise::inject {

/// How a page's clock goes on from where it starts.
enum class ClockMode : std::uint8_t {
  kStep,    ///< 50 ms every 50 tasks that read it, never much behind: see script/clock.js
  kSteady,  ///< with the time that passes
  kAll,     ///< the same, and performance.now() and timeOrigin are on it
};

/// "step", "steady", "all".
std::string_view to_string(ClockMode mode);
std::optional<ClockMode> clock_mode_of(std::string_view text);

/// What pages are to be told. The same values give the same bytes.
struct PageSettings {
  std::chrono::milliseconds time{};   ///< what the clock shows when a document begins (Unix epoch)
  std::uint64_t seed = 0;             ///< of all random numbers
  std::chrono::seconds date_shift{};  ///< by which dates in responses are later than recorded
  ClockMode clock = ClockMode::kStep;
  std::string time_zone;  ///< its IANA name; empty: the browser's own
};

/// The two forms of one script, about 13 KB each before content coding.
struct DeterministicScript {
  std::string document;  ///< for a <script> of its own; names itself, for its lines in stacks
  std::string worker;    ///< to stand before a worker's script, in the same line
};
DeterministicScript deterministic_script(const PageSettings& settings);

/// The script, minified, where "CONFIG" stands for its settings. Made from inject/script/.
extern const std::string_view kScriptTemplate;

}  // namespace reprise::inject
