#include "pageload/browser/steps.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <cmath>
#include <initializer_list>
#include <optional>

namespace json = boost::json;

namespace reprise {
namespace {

constexpr auto kForms =
    R"({"click": SELECTOR}, {"type": TEXT, "into": SELECTOR}, {"wait": SELECTOR} or {"wait": MS})";

/// Whether the step has exactly these members.
bool has_just(const json::object& step, std::initializer_list<std::string_view> names) {
  if (step.size() != names.size()) return false;
  for (auto const name : names) {
    if (!step.contains(name)) return false;
  }
  return true;
}

std::optional<std::string> text_of(const json::object& step, std::string_view name) {
  auto const* const text = step.at(name).if_string();
  if (text == nullptr || text->empty() || text->size() > kStepTextMax) return std::nullopt;
  return std::string(*text);
}

std::optional<Step> wait_of(const json::object& object) {
  if (auto const selector = text_of(object, "wait")) {
    return Step{.kind = Step::Kind::kAppear, .selector = *selector};
  }
  json::error_code error;
  auto const ms = object.at("wait").to_number<double>(error);
  if (error || !(ms >= 0 && ms <= static_cast<double>(kPauseMax.count()))) return std::nullopt;
  return Step{.kind = Step::Kind::kPause, .pause = std::chrono::milliseconds(std::lround(ms))};
}

std::optional<Step> step_of(const json::value& value) {
  auto const* const object = value.if_object();
  if (object == nullptr) return std::nullopt;
  if (has_just(*object, {"wait"})) return wait_of(*object);
  if (has_just(*object, {"click"})) {
    auto const selector = text_of(*object, "click");
    if (selector) return Step{.kind = Step::Kind::kClick, .selector = *selector};
  }
  if (has_just(*object, {"type", "into"})) {
    auto const text = text_of(*object, "type");
    auto const selector = text_of(*object, "into");
    if (text && selector) {
      return Step{.kind = Step::Kind::kType, .selector = *selector, .text = *text};
    }
  }
  return std::nullopt;
}

}  // namespace

std::expected<std::vector<Step>, std::string> parse_steps(std::string_view file) {
  json::error_code error;
  auto const value = json::parse(file, error);
  auto const* const array = error ? nullptr : value.if_array();
  if (array == nullptr) return std::unexpected("it is not a JSON array of steps");
  if (array->size() > kStepsMax) {
    return std::unexpected("it has more than " + std::to_string(kStepsMax) + " steps");
  }
  std::vector<Step> steps;
  for (json::value const& each : *array) {
    auto step = step_of(each);
    if (!step) {
      return std::unexpected("step " + std::to_string(steps.size() + 1) + " must be one of " +
                             kForms);
    }
    steps.push_back(std::move(*step));
  }
  return steps;
}

std::string to_string(const Step& step) {
  switch (step.kind) {
    case Step::Kind::kClick:
      return "click " + step.selector;
    case Step::Kind::kType:
      return "type into " + step.selector;
    case Step::Kind::kAppear:
      return "wait for " + step.selector;
    case Step::Kind::kPause:
      return "wait " + std::to_string(step.pause.count()) + " ms";
  }
  return {};
}

}  // namespace reprise
