#include "archive/match/explain.h"

#include <algorithm>
#include <array>
#include <map>

#include "archive/match/parameters.h"
#include "base/http/media_type.h"
#include "base/text/counted.h"
#include "base/text/glob.h"

namespace reprise {
namespace {

constexpr std::size_t kShownBytesMax = 60;

std::string shown_or_nothing(std::string_view text) {
  return text.empty() ? "(nothing)" : shown(text);
}

/// The parameters of one side, in the order of place and name. The values of a name stay in the
/// request's order.
class Named {
 public:
  using Key = std::pair<bool, std::string>;  // in the body, name
  using Values = std::vector<std::string_view>;

  Named(const AskedRequest& request, const std::vector<std::string>& ignored_params) {
    parameters_.add_query(query_of(request.key.target));
    body_taken_apart = parameters_.add_body(request.headers, request.body);
    for (const Parameter& each : parameters_.list()) {
      auto name = each.percent_encoded ? decoded(each.name) : std::string(each.name);
      auto const is_named = [&name](const std::string& glob) { return fits_glob(glob, name); };
      if (std::ranges::any_of(ignored_params, is_named)) continue;
      values[Key(each.in_body, std::move(name))].push_back(each.value);
    }
  }

  std::map<Key, Values> values;
  bool body_taken_apart = false;

 private:
  Parameters parameters_;
};

std::string what(const Named::Key& key) {
  return (key.first ? "body parameter " : "query parameter ") + shown_or_nothing(key.second);
}

bool same_values(Named::Values a, Named::Values b) {
  std::vector<std::string> left;
  std::vector<std::string> right;
  for (auto const value : a) left.push_back(decoded(value));
  for (auto const value : b) right.push_back(decoded(value));
  std::ranges::sort(left);
  std::ranges::sort(right);
  return left == right;
}

/// Collects phrases, but keeps only the first ones.
class Phrases {
 public:
  void add(std::string phrase) {
    if (phrases_.size() < kDifferencesMax) phrases_.push_back(std::move(phrase));
  }
  bool empty() const { return phrases_.empty(); }
  std::vector<std::string> take() { return std::move(phrases_); }

 private:
  std::vector<std::string> phrases_;
};

void compare_parameters(const Named& was, const Named& is, Phrases& phrases) {
  for (auto const& [key, values] : was.values) {
    auto const found = is.values.find(key);
    auto const& value = values.front();
    if (found == is.values.end()) {
      phrases.add(what(key) + " is missing" + (value.empty() ? "" : ": it was " + shown(value)));
    } else if (values.size() != found->second.size()) {
      phrases.add(what(key) + " is repeated differently");
    } else if (!same_values(values, found->second)) {
      auto const change =
          shown_or_nothing(value) + " -> " + shown_or_nothing(found->second.front());
      phrases.add(what(key) + (values.size() == 1 ? " differs: " + change : " differs"));
    }
  }
  for (auto const& [key, values] : is.values) {
    if (was.values.contains(key)) continue;
    auto const& value = values.front();
    phrases.add(what(key) + " is new" + (value.empty() ? "" : ": " + shown(value)));
  }
}

}  // namespace

std::string shown(std::string_view text) {
  if (text.size() <= kShownBytesMax) return std::string(text);
  return std::string(text.substr(0, kShownBytesMax)) + "...";
}

std::vector<std::string> differences(const AskedRequest& recorded, const AskedRequest& request,
                                     const std::vector<std::string>& ignored_params) {
  Phrases phrases;
  // If the recorded body does not count, neither does the body of the request.
  auto asked = request;
  if (!recorded.body_counts) {
    asked.body = {};
    asked.body_bytes = 0;
    asked.key.body_digest = {};
  }
  Named const was(recorded, ignored_params);
  Named const is(asked, ignored_params);
  compare_parameters(was, is, phrases);
  auto const same_target = recorded.key.target == asked.key.target;
  auto const same_body = recorded.key.body_digest == asked.key.body_digest;
  bool const apart = was.body_taken_apart && is.body_taken_apart;
  if (!same_body && !apart) {
    phrases.add(recorded.body_bytes == asked.body_bytes
                    ? "request body differs"
                    : "request body differs: " + std::to_string(recorded.body_bytes) + " -> " +
                          counted(asked.body_bytes, "byte"));
  }
  if (phrases.empty() && ignored_params.empty()) {
    if (!same_target) {
      phrases.add("the query is written differently: " +
                  shown_or_nothing(query_of(recorded.key.target)));
    }
    if (!same_body) phrases.add("the body is written differently");
  }
  constexpr std::array<std::string_view, 4> kHeaders = {"Range", "Content-Type", "Accept",
                                                        "Accept-Language"};
  for (auto const name : kHeaders) {
    auto const before = find_header(recorded.headers, name).value_or("");
    auto const now = find_header(asked.headers, name).value_or("");
    auto const same =
        name == "Content-Type" ? media_type_of(before) == media_type_of(now) : before == now;
    if (!same)
      phrases.add(std::string(name) + " differs: " + shown_or_nothing(before) + " -> " +
                  shown_or_nothing(now));
  }
  return phrases.take();
}

std::string summary(const std::vector<std::string>& phrases) {
  if (phrases.empty()) return {};
  auto text = phrases.front();
  if (phrases.size() > 1) text += " (and " + std::to_string(phrases.size() - 1) + " more)";
  return text;
}

}  // namespace reprise
