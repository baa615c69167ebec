// What the statistics say of pairs of samples: reads lines of JSON, {"a": [...], "b": [...],
// "alpha": 0.05} or {"information": [...], "alpha": 0.05}, and answers each with a line.

#include <boost/json.hpp>
#include <cmath>
#include <iostream>
#include <string>
#include <vector>

#include "analysis/rank_test.h"
#include "analysis/shift.h"
#include "analysis/stopping.h"
#include "analysis/verdict.h"

using namespace reprise;
namespace json = boost::json;

namespace {

std::vector<double> numbers(const json::value& value) {
  return json::value_to<std::vector<double>>(value);
}

json::value finite(double value) {
  return std::isfinite(value) ? json::value(value) : json::value();
}

json::object answer(const json::object& question) {
  double const alpha = question.at("alpha").to_number<double>();
  if (auto const* shares = question.if_contains("information")) {
    return {{"levels", json::value_from(look_levels(numbers(*shares), alpha))}};
  }
  auto const a = numbers(question.at("a"));
  auto const b = numbers(question.at("b"));
  auto const rank = rank_test(a, b);
  auto const shift = shift_between(a, b, alpha);
  return {{"u", rank.u},
          {"p", rank.p},
          {"exact", rank.exact},
          {"delta", rank.cliffs_delta},
          {"estimate", shift.estimate},
          {"low", finite(shift.low)},
          {"high", finite(shift.high)}};
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << json::serialize(answer(json::parse(line).as_object())) << '\n';
  }
}
