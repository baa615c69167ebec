#include "inject/deterministic.h"

#include <array>
#include <cstdio>

#include "base/http/digest.h"
#include "base/invariant.h"

namespace reprise::inject {
namespace {

constexpr std::string_view kPlaceholder = "CONFIG";
/// Whether a document was fetched; before all code of the page.
constexpr std::string_view kIfFetched = "/^https?:/.test(location.href)&&";

/// A name that a page cannot guess; a function of the seed.
std::string token_of(std::uint64_t seed) {
  auto const digest = sha256(std::as_bytes(std::span(&seed, 1)));
  std::string token = "r";
  for (std::size_t i = 0; i < 8; ++i) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", std::to_integer<unsigned>(digest[i]));
    token += digits;
  }
  return token;
}

/// Whether this is a name of the tz database; other texts must not get into a script.
bool is_zone_name(std::string_view text) {
  return !text.empty() && text.find_first_not_of(
                              "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUV"
                              "WXYZ0123456789/_+-") == std::string_view::npos;
}

std::string config_text(const PageSettings& settings, const std::string& token) {
  auto const low = static_cast<std::uint32_t>(settings.seed);
  auto const high = static_cast<std::uint32_t>(settings.seed >> 32);
  // Of fixed width: a document's size must not depend on the time of the replay.
  char shift[32];
  std::snprintf(shift, sizeof shift, "%+013lld",
                static_cast<long long>(settings.date_shift.count()));
  std::string text =
      "{time:" + std::to_string(settings.time.count()) + ",shift:\"" + shift + "\",seeds:[";
  // The script mixes them; here they only have to differ.
  for (std::uint32_t const seed : {low, high, low ^ 0x9e3779b9, high ^ 0x85ebca6b}) {
    text += std::to_string(seed) + ',';
  }
  text.back() = ']';
  text.append(",clock:\"").append(to_string(settings.clock)).append("\",token:\"").append(token);
  if (is_zone_name(settings.time_zone)) text.append("\",zone:\"").append(settings.time_zone);
  return text + "\"}";
}

}  // namespace

std::string_view to_string(ClockMode mode) {
  switch (mode) {
    case ClockMode::kStep:
      return "step";
    case ClockMode::kSteady:
      return "steady";
    case ClockMode::kAll:
      return "all";
  }
  return "";
}

std::optional<ClockMode> clock_mode_of(std::string_view text) {
  for (auto const mode : {ClockMode::kStep, ClockMode::kSteady, ClockMode::kAll}) {
    if (text == to_string(mode)) return mode;
  }
  return std::nullopt;
}

DeterministicScript deterministic_script(const PageSettings& settings) {
  auto const token = token_of(settings.seed);
  auto const at = kScriptTemplate.rfind(kPlaceholder);
  invariant(at != std::string_view::npos, "the embedded script takes no settings");
  std::string text(kScriptTemplate.substr(0, at));
  text += config_text(settings, token);
  text += kScriptTemplate.substr(at + kPlaceholder.size());
  // On one line, so that the page's lines keep their numbers.
  auto const named = text + " //# sourceURL=" + token;
  return {.document = named, .browser = std::string(kIfFetched) + named, .worker = text};
}

}  // namespace reprise::inject
