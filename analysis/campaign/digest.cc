#include "analysis/campaign/digest.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <cmath>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/verdict.h"
#include "base/text/counted.h"
#include "base/text/formatted.h"
#include "base/text/json_fields.h"
#include "base/text/markdown.h"
#include "base/text/printable.h"

namespace json = boost::json;

namespace reprise {
namespace {

constexpr double kAlpha = 0.05;
constexpr double kLeastRelative = 0.01;

struct Suggestion {
  std::string advice, what_if;
  double saving_ms = 0, low_ms = 0, high_ms = 0;
};

/// The measured savings of one page, the largest first.
std::vector<Suggestion> suggestions_of(const json::object& advice) {
  std::vector<Suggestion> out;
  for (const json::value& value : array_at(advice, "changes")) {
    if (!value.is_object()) continue;
    auto const& change = value.get_object();
    auto const& candidates = array_at(change, "changes");
    if (text_at(change, "verdict") != "saves" || candidates.empty() || !candidates[0].is_object()) {
      continue;
    }
    // What one costs is no reason to do without it.
    if (text_at(candidates[0].get_object(), "kind") == "third party") continue;
    auto const& shift = object_at(change, "shift");
    out.push_back({.advice = std::string(text_at(candidates[0].get_object(), "advice")),
                   .what_if = std::string(text_at(candidates[0].get_object(), "what_if")),
                   .saving_ms = -number_at(shift, "estimate"),
                   .low_ms = -number_at(shift, "high"),
                   .high_ms = -number_at(shift, "low")});
  }
  std::ranges::sort(out, [](const Suggestion& a, const Suggestion& b) {
    return std::tie(b.saving_ms, a.what_if) < std::tie(a.saving_ms, b.what_if);
  });
  return out;
}

/// What is said of a page whose times cannot be compared; nothing: they can.
std::optional<json::object> unknown_change(const AdvisedPage& now, const AdvisedPage& then) {
  if (now.load_events_ms.empty() || then.load_events_ms.empty()) {
    return json::object{{"verdict", "unknown"}};
  }
  if (!now.nodes.empty() && now.nodes == then.nodes) return std::nullopt;
  return json::object{{"verdict", "unknown"},
                      {"why", "not measured on the same nodes as the last time"}};
}

json::object change_since(const Finding& finding) {
  auto const* const verdict = finding.verdict != Verdict::kDifferent ? "no difference shown"
                              : finding.shift.estimate > 0           ? "slower"
                                                                     : "faster";
  return {
      {"verdict", verdict}, {"median_ms", finding.median_a}, {"shift_ms", finding.shift.estimate}};
}

/// `before` is null if the page was not there the last time.
json::object page_digest(const AdvisedPage& page, const AdvisedPage* before, json::object since) {
  std::set<std::string> known;
  if (before != nullptr) {
    for (const Suggestion& each : suggestions_of(before->advice)) known.insert(each.what_if);
  }
  json::array suggestions, done;
  for (const Suggestion& each : suggestions_of(page.advice)) {
    bool const is_new = known.erase(each.what_if) == 0;
    suggestions.push_back({{"advice", as_utf8(each.advice)},
                           {"what_if", as_utf8(each.what_if)},
                           {"saving_ms", each.saving_ms},
                           {"low_ms", each.low_ms},
                           {"high_ms", each.high_ms},
                           {"new", is_new}});
  }
  for (const std::string& what_if : known) done.emplace_back(as_utf8(what_if));
  json::object out{
      {"page", as_utf8(page.page)},
      {"url", as_utf8(page.url)},
      {"median_ms", page.load_events_ms.empty() ? json::value() : median(page.load_events_ms)},
      {"suggestions", std::move(suggestions)},
      {"no_longer_suggested", std::move(done)}};
  if (!page.failure.empty()) out["failure"] = as_utf8(page.failure);
  if (before != nullptr) out["since_last_time"] = std::move(since);
  return out;
}

double best_saving(const json::object& page) {
  auto const& suggestions = array_at(page, "suggestions");
  return suggestions.empty() ? 0 : number_at(suggestions[0].get_object(), "saving_ms");
}

bool is_slower(const json::object& page) {
  return text_at(object_at(page, "since_last_time"), "verdict") == "slower";
}

std::string page_markdown(const json::object& page) {
  auto const url = text_at(page, "url");
  auto const* const median = page.if_contains("median_ms");
  bool const is_measured = median != nullptr && median->is_number();
  auto text =
      "## " + safe_text(url.empty() ? text_at(page, "page") : url, true) +
      "\n\nLoad event: " + (is_measured ? ms_text(median->to_number<double>()) : "not measured");
  auto const failure = text_at(page, "failure");
  if (!failure.empty()) text += " (" + safe_text(failure, true) + ")";
  if (auto const& since = object_at(page, "since_last_time"); !since.empty()) {
    text += ", " + std::string(text_at(since, "verdict"));
    if (since.contains("shift_ms")) {
      text += " (" + std::string(number_at(since, "shift_ms") < 0 ? "-" : "+") +
              ms_text(std::abs(number_at(since, "shift_ms"))) + " since the last time)";
    }
    if (since.contains("why")) text += " (" + std::string(text_at(since, "why")) + ")";
  }
  text += ".\n\n";
  int number = 0;
  for (const json::value& value : array_at(page, "suggestions")) {
    auto const& each = value.get_object();
    text += std::to_string(++number) + ". " + safe_text(text_at(each, "advice"), true) +
            ": saves " + ms_text(number_at(each, "saving_ms")) + " (" +
            ms_text(number_at(each, "low_ms")) + " to " + ms_text(number_at(each, "high_ms")) +
            ", measured)" + (flag_at(each, "new") ? ". New" : "") + "\n   Tried by " +
            markdown_code(printable(text_at(each, "what_if"))) + "\n";
  }
  if (number == 0 && failure.empty()) text += "No change could be shown to make it faster.\n";
  for (const json::value& value : array_at(page, "no_longer_suggested")) {
    text += "\nNo longer suggested: " + markdown_code(printable(value.get_string())) + "\n";
  }
  return text + "\n";
}

}  // namespace

AdvisedPage advised_page(const json::object& summary) {
  AdvisedPage page{.page = std::string(text_at(summary, "page")),
                   .url = std::string(text_at(summary, "url")),
                   .load_events_ms = {},
                   .nodes = {},
                   .advice = object_at(summary, "advice")};
  for (const json::value& value : array_at(summary, "load_events_ms")) {
    if (value.is_number() && std::isfinite(value.to_number<double>())) {
      page.load_events_ms.push_back(value.to_number<double>());
    }
  }
  auto const& failures = array_at(summary, "failures");
  if (!failures.empty() && failures[0].is_object()) {
    page.failure = text_at(failures[0].get_object(), "why");
  }
  for (auto const& node : object_at(summary, "nodes")) page.nodes.insert(std::string(node.key()));
  return page;
}

void take_urls(std::span<AdvisedPage> pages, const std::map<std::string, AdvisedPage>& before) {
  for (AdvisedPage& page : pages) {
    auto const then = before.find(page.page);
    if (page.url.empty() && then != before.end()) page.url = then->second.url;
  }
}

PageChanges changes_since(std::span<const AdvisedPage> pages,
                          const std::map<std::string, AdvisedPage>& before) {
  PageChanges out;
  std::vector<Samples> samples;
  std::vector<const AdvisedPage*> judged;
  for (const AdvisedPage& page : pages) {
    auto const then = before.find(page.page);
    if (then == before.end()) continue;
    if (auto unknown = unknown_change(page, then->second)) {
      out[page.page] = std::move(*unknown);
      continue;
    }
    judged.push_back(&page);
    samples.push_back({.a = then->second.load_events_ms,
                       .b = page.load_events_ms,
                       .least = {.relative = kLeastRelative},
                       .blocks = {}});
  }
  auto const findings = judge(samples, kAlpha, [](double alpha) { return alpha; });
  for (std::size_t i = 0; i < judged.size(); ++i) {
    out[judged[i]->page] = change_since(findings[i]);
  }
  return out;
}

json::object owner_digest(const std::string& owner, std::span<const AdvisedPage> pages,
                          const std::map<std::string, AdvisedPage>& before,
                          const PageChanges& changes) {
  std::vector<json::object> digests;
  for (const AdvisedPage& page : pages) {
    auto const found = before.find(page.page);
    digests.push_back(found == before.end()
                          ? page_digest(page, nullptr, {})
                          : page_digest(page, &found->second, changes.at(page.page)));
  }
  std::ranges::sort(digests, [](const json::object& a, const json::object& b) {
    auto const key = [](const json::object& page) {
      return std::tuple(!is_slower(page), -best_saving(page), text_at(page, "page"));
    };
    return key(a) < key(b);
  });
  json::array out;
  std::size_t slower = 0, suggestions = 0;
  for (json::object& digest : digests) {
    slower += is_slower(digest) ? 1 : 0;
    suggestions += array_at(digest, "suggestions").size();
    out.push_back(std::move(digest));
  }
  return {{"schema", "reprise-digest/1"},
          {"owner", as_utf8(owner)},
          {"slower", slower},
          {"suggestions", suggestions},
          {"pages", std::move(out)}};
}

std::string digest_markdown(const json::object& digest) {
  auto const& pages = array_at(digest, "pages");
  auto text = "# " + safe_text(text_at(digest, "owner"), true) + "\n\n" +
              counted(pages.size(), "page") + ", " +
              counted(static_cast<std::uint64_t>(integer_at(digest, "suggestions")),
                      "measured suggestion") +
              ", " + std::to_string(integer_at(digest, "slower")) +
              " slower than the last time.\n\n";
  for (const json::value& page : pages) text += page_markdown(page.get_object());
  return text;
}

}  // namespace reprise
