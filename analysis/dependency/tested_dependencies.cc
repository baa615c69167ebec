#include "analysis/dependency/tested_dependencies.h"

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <utility>

#include "analysis/dependency/dependency_json.h"
#include "pageload/results/fields.h"

namespace reprise {
namespace {

namespace json = boost::json;

constexpr std::string_view kTestedSchema = "reprise-tested-dependencies/1";
constexpr char kWaits = '1';
constexpr char kWaitsNot = '0';
constexpr char kNotKnown = '-';

DependencyTest read_test(Fields& fields, const DependencyGraph& graph) {
  DependencyTest test;
  auto const held = fields.numbers("held");
  if (held.empty() || held.size() > DependencyTest::kHeldMax) {
    fields.wrong("held", "must have from 1 to 4 elements");
    return test;
  }
  for (double const number : held) {
    auto const at = "held[" + std::to_string(test.held.size()) + "]";
    bool const is_place = number >= 0 && number < static_cast<double>(graph.nodes.size());
    auto const node = is_place ? static_cast<std::uint32_t>(number) : 0;
    if (!is_place || static_cast<double>(node) != number ||
        graph.nodes[node].kind != DependencyNodeKind::kRequest) {
      fields.wrong(at, "is not a request");
      return test;
    }
    if (!test.held.empty() && node <= test.held.back()) fields.wrong(at, "must be ascending");
    test.held.push_back(node);
  }
  auto const waits = fields.text("waits");
  if (waits.size() != graph.nodes.size()) {
    fields.wrong("waits", "must have one character per node");
  }
  for (char const each : waits) {
    if (each != kWaits && each != kWaitsNot && each != kNotKnown) {
      fields.wrong("waits", "must be of 1, 0 and -");
      break;
    }
    test.waits.push_back(each == kNotKnown ? std::nullopt : std::optional(each == kWaits));
  }
  return test;
}

json::object object_of_test(const DependencyTest& test) {
  json::array held;
  for (auto const node : test.held) held.emplace_back(node);
  std::string waits;
  for (auto const& each : test.waits) waits += !each ? kNotKnown : *each ? kWaits : kWaitsNot;
  return {{"held", std::move(held)}, {"waits", waits}};
}

std::string page_json(const TestedPage& page) {
  auto object = dependency_graph_object(page.graph);
  json::array tests;
  for (DependencyTest const& test : page.tests) {
    if (tests.size() < TestedPage::kTestsMax) tests.push_back(object_of_test(test));
  }
  object["tests"] = std::move(tests);
  return json::serialize(object);
}

}  // namespace

bool DependencyTest::says_nothing() const {
  return std::ranges::none_of(waits, [](const auto& each) { return each.has_value(); });
}

void TestedDependencies::put(TestedPage page) {
  std::erase_if(pages,
                [&page](const TestedPage& each) { return each.graph.page == page.graph.page; });
  pages.insert(pages.begin(), std::move(page));
}

std::expected<TestedDependencies, std::string> read_tested_dependencies(std::string_view text) {
  auto const object = parse_object(text, kDependencyBytesMax >> 20);
  if (!object) return std::unexpected(object.error());
  std::string wrong;
  Fields fields(*object, "", wrong);
  if (fields.text("schema") != kTestedSchema) {
    return std::unexpected("schema must be " + std::string(kTestedSchema));
  }
  TestedDependencies tested;
  tested.archive_sha256 = fields.text("archive_sha256");
  fields.each("pages", TestedDependencies::kPagesMax, [&](Fields page) {
    TestedPage read{.graph = read_dependency_graph(page), .tests = {}};
    page.each("tests", TestedPage::kTestsMax,
              [&read](Fields test) { read.tests.push_back(read_test(test, read.graph)); });
    auto const is_same = [&read](const TestedPage& each) {
      return each.graph.page == read.graph.page;
    };
    if (std::ranges::any_of(tested.pages, is_same)) page.wrong("page", "is that of another one");
    tested.pages.push_back(std::move(read));
  });
  if (!wrong.empty()) return std::unexpected(std::move(wrong));
  return tested;
}

std::string tested_dependencies_json(TestedDependencies& tested) {
  auto text = "{\"schema\":\"" + std::string(kTestedSchema) +
              "\",\"archive_sha256\":" + json::serialize(json::value(tested.archive_sha256)) +
              ",\"pages\":[";
  constexpr std::string_view kEnd = "]}\n";
  std::size_t kept = 0;
  for (TestedPage const& page : tested.pages) {
    auto const one = page_json(page);
    bool const fits = text.size() + 1 + one.size() + kEnd.size() <= kDependencyBytesMax;
    if (kept == TestedDependencies::kPagesMax || !fits) break;
    text += (kept++ == 0 ? "" : ",") + one;
  }
  tested.pages.resize(kept);
  return text.append(kEnd);
}

}  // namespace reprise
