#pragma once

// What a user does with a page that has loaded: a JSON file such as
//   [{"click": "#accept"}, {"type": "shoes\n", "into": "input[name=q]"},
//    {"wait": ".result"}, {"wait": 500}]

#include <chrono>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace reprise {

struct Step {
  enum class Kind {
    kClick,   ///< at the centre of the element
    kType,    ///< clicks the element, then types `text` key by key; \n is Enter
    kAppear,  ///< waits until the element exists and has a size
    kPause,   ///< waits for `pause`
  };
  Kind kind = Kind::kPause;
  std::string selector;  ///< CSS; the first match in the main frame
  std::string text;
  std::chrono::milliseconds pause{0};

  bool operator==(const Step&) const = default;
};

inline constexpr std::size_t kStepsMax = 1000;
inline constexpr std::size_t kStepTextMax = 4096;  ///< bytes of a selector or a text
inline constexpr std::chrono::milliseconds kPauseMax{600'000};

/// Parses such a file. The error is one sentence that names the step. Pure.
std::expected<std::vector<Step>, std::string> parse_steps(std::string_view file);

/// "click #accept", for messages.
std::string to_string(const Step& step);

}  // namespace reprise
