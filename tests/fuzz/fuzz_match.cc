// What matching takes requests apart with: queries, forms, multipart and JSON bodies, and what is
// learnt of several. An input is requests, a byte 0xFF between them: a line with the target, one
// with the Content-Type, and the body.

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "archive/match/explain.h"
#include "archive/match/learn.h"
#include "archive/match/score.h"
#include "base/http/digest.h"

using namespace reprise;

namespace {

constexpr std::size_t kRequestsMax = 16;

void check(bool holds) {
  if (!holds) std::abort();
}

struct Input {
  std::string_view target;
  std::vector<HeaderView> headers;
  std::string_view body;

  AskedRequest asked() const {
    auto const bytes = std::as_bytes(std::span(body));
    return {.key = {.method = "POST",
                    .scheme = Scheme::kHttps,
                    .host = "a.test",
                    .port = 443,
                    .target = target,
                    .body_digest = bytes.empty() ? Sha256{} : sha256(bytes)},
            .headers = headers,
            .body_bytes = bytes.size(),
            .body = bytes};
  }
};

std::string_view take_until(std::string_view& text, char end) {
  auto const taken = text.substr(0, text.find(end));
  text.remove_prefix(std::min(taken.size() + 1, text.size()));
  return taken;
}

Input parse(std::string_view text) {
  Input input;
  input.target = take_until(text, '\n');
  input.headers = {{.name = "Content-Type", .value = take_until(text, '\n')}};
  input.body = text;
  return input;
}

void take_apart(const Input& input) {
  Parameters parameters;
  parameters.add_query(query_of(input.target));
  auto const of_query = parameters.list().size();
  auto const asked = input.asked();
  if (!parameters.add_body(asked.headers, asked.body)) {
    check(parameters.list().size() == of_query);
  }
  check(parameters.list().size() <= kParametersReadMax);
  for (const Parameter& each : parameters.list()) {
    check(decoded(each.value).size() <= each.value.size());
  }
}

std::vector<Feature> features(const Input& input) {
  auto const made = features_of(input.asked());
  check(made.size() <= kFeaturesMax);
  check(std::ranges::is_sorted(made));
  check(std::ranges::all_of(
      made, [](Feature each) { return relevance_of(each) == Relevance::kOrdinary; }));
  check(score(made, made) == 100);
  check(differences(input.asked(), input.asked(), {}).empty());
  return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<Input> inputs;
  while (!text.empty() && inputs.size() < kRequestsMax) {
    inputs.push_back(parse(take_until(text, '\xff')));
  }
  std::vector<std::vector<Feature>> all;
  std::vector<Observation> family;
  for (const Input& input : inputs) {
    take_apart(input);
    all.push_back(features(input));
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    // The same body, the same answer: some values will turn out not to matter.
    family.push_back({.features = all[i], .response = inputs[i].body.size() % 3});
  }
  auto const learnt = learn(family);
  check(std::ranges::is_sorted(learnt));
  for (auto& each : all) {
    mark(learnt, each);
    check(std::ranges::is_sorted(each, {}, identity_of));
    check(score(each, each) == 100);
  }
  for (std::size_t i = 1; i < all.size(); ++i) {
    check(score(all[i], all[i - 1]) <= 100);
    check(differences(inputs[i - 1].asked(), inputs[i].asked(), {}).size() <= kDifferencesMax);
  }
  return 0;
}
