#include "analysis/dependency/page_rules.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <utility>

#include "base/http/url_parts.h"

namespace reprise {
namespace {

/// Of imports of imports; more are a circle.
constexpr std::size_t kImportsDeepMax = 100;

/// Of what asked for what asked for a request; more are a circle.
constexpr std::size_t kAskersDeepMax = 100;

/// No load event waits for them.
constexpr std::string_view kNoLoadEventTypes[] = {
    "Fetch",    "Ping",     "Beacon",      "CSPViolationReport", "Preflight",
    "Prefetch", "Manifest", "EventSource", "WebSocket"};

}  // namespace

bool blocks_rendering(const Call& request) {
  auto const word = request.attribute("render_blocking");
  return word.empty() || word == "blocking" || word == "in_body_parser_blocking";
}

PageRules::PageRules(const std::vector<DependencyNode>& nodes, std::span<const ObservedPage> pages,
                     const ObservedGaps& gaps)
    : nodes_(nodes),
      pages_(pages),
      gaps_(gaps),
      initiators_(nodes.size()),
      holds_up_parser_(nodes.size()),
      parsers_(nodes.size()) {
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].kind == DependencyNodeKind::kRequest) initiators_[i] = find_initiator(i);
    holds_up_parser_[i] = find_holds_up_parser(i);
  }
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    // Later scripts with the document's URL come from other scripts.
    if (nodes[i].name == kMilestoneNames[static_cast<int>(Milestone::kLoadEvent)]) break;
    parsers_[i] = find_parser(i);
  }
}

std::optional<std::uint32_t> PageRules::find_initiator(std::uint32_t request) const {
  std::map<std::uint32_t, std::size_t> votes;
  for (std::size_t load = 0; load < pages_.size(); ++load) {
    if (!gaps_.loads()[load][request]) continue;
    if (auto const from = initiator_in(load, request)) ++votes[*from];
  }
  auto const most = std::ranges::max_element(
      votes, {}, [](auto const& vote) { return std::pair(vote.second, vote.first); });
  return most == votes.end() ? std::nullopt : std::optional(most->first);
}

/// What made a request in one load. A preflight is made by what made the request that it permits.
std::optional<std::uint32_t> PageRules::initiator_in(std::size_t load,
                                                     std::uint32_t request) const {
  auto const& calls = pages_[load].calls.calls;
  auto const& call = calls[gaps_.loads()[load][request]->call];
  auto const from = requested_before(load, without_fragment(call.attribute("initiator")), request);
  if (!from || call.attribute("type") != "Preflight") return from;
  auto const& permitted = calls[gaps_.loads()[load][*from]->call];
  return requested_before(load, without_fragment(permitted.attribute("initiator")), *from);
}

/// The last request of that URL before `to` in a load.
std::optional<std::uint32_t> PageRules::requested_before(std::size_t load, std::string_view url,
                                                         std::uint32_t to) const {
  if (url.empty()) return std::nullopt;
  for (auto from = to; from-- > 0;) {
    auto const& times = gaps_.loads()[load][from];
    if (node(from).kind != DependencyNodeKind::kRequest || !times) continue;
    if (without_fragment(pages_[load].calls.calls[times->call].name) == url) return from;
  }
  return std::nullopt;
}

bool PageRules::redirects_to(std::uint32_t from, std::uint32_t to) const {
  std::size_t loads = 0;
  for (std::size_t load = 0; load < pages_.size(); ++load) {
    auto const& a = gaps_.loads()[load][from];
    auto const& b = gaps_.loads()[load][to];
    if (!a || !b) continue;
    auto const& calls = pages_[load].calls.calls;
    bool const redirects =
        is_redirect(calls[a->call]) && std::abs(a->end_us - b->start_us) <= kRoundingUs &&
        calls[a->call].attribute("initiator") == calls[b->call].attribute("initiator");
    if (!redirects) return false;
    ++loads;
  }
  return loads > 0;
}

bool PageRules::find_holds_up_parser(std::uint32_t request) const {
  bool const can = node(request).type == "Script" || node(request).type == "Stylesheet";
  if (!can || node(request).kind != DependencyNodeKind::kRequest) return false;
  for (std::size_t load = 0; load < pages_.size(); ++load) {
    auto const& times = gaps_.loads()[load][request];
    if (!times) continue;
    auto const& call = pages_[load].calls.calls[times->call];
    auto const priority = call.attribute("priority");
    auto const from = initiator_in(load, request);
    bool const is_parsed = from && (node(*from).type == "Document" || is_import(request, *from));
    bool const is_low = priority.empty() || priority.ends_with("Low") || !blocks_rendering(call);
    if (!is_parsed || is_low) return false;
  }
  return true;
}

/// Whether a style sheet that holds up the parser imports this one: then it waits for it.
bool PageRules::is_import(std::uint32_t request, std::uint32_t from) const {
  return node(request).type == "Stylesheet" && node(from).type == "Stylesheet" &&
         holds_up_parser_[from];
}

std::optional<std::uint32_t> PageRules::find_parser(std::uint32_t task) const {
  auto const request = gaps_.request_of(task);
  if (!request || node(task).kind != DependencyNodeKind::kTask) return std::nullopt;
  if (node(*request).type == "Document" && node(task).function.empty()) return request;
  if (listens_to_end(task)) return is_in_frame(task) ? std::nullopt : document_above(*request);
  if (!is_run_of(task, *request) || !holds_up_parser(*request)) return std::nullopt;
  return initiator_of(*request);
}

/// Whether it is a listener of DOMContentLoaded, in every load with it. That event comes when the
/// parser is done and what is deferred has run (HTML 13.2.7).
bool PageRules::listens_to_end(std::uint32_t task) const {
  if (node(task).function.empty()) return false;
  for (std::size_t load = 0; load < pages_.size(); ++load) {
    auto const& times = gaps_.loads()[load][task];
    if (!times) continue;
    auto const& calls = pages_[load].calls.calls;
    auto around = calls[times->call].parent;
    while (around != kNoParent && calls[around].attribute("event") != "DOMContentLoaded") {
      around = calls[around].parent;
    }
    if (around == kNoParent) return false;
  }
  return true;
}

std::optional<std::uint32_t> PageRules::load_event_before(std::uint32_t request) const {
  auto const& name = kMilestoneNames[static_cast<int>(Milestone::kLoadEvent)];
  auto const event = std::ranges::find(nodes_, name, &DependencyNode::name);
  if (initiators_[request] || event == nodes_.end()) return std::nullopt;
  auto const from = static_cast<std::uint32_t>(event - nodes_.begin());
  if (gaps_.last_moment_before(from, request) != DependencyAfter::kEnd) return std::nullopt;
  return from;
}

bool PageRules::holds_up_layout(std::uint32_t i) const {
  auto const request = gaps_.request_of(i);
  if (!request || !holds_up_parser(*request)) return false;
  if (node(*request).type == "Stylesheet") return i == *request;
  bool const is_script_or_run = i == *request || is_run_of(i, *request);
  // Chromium's word for a script behind an image is Medium.
  return is_script_or_run && has_priority_in_all_loads(*request, "High");
}

bool PageRules::is_in_background(std::uint32_t i) const {
  auto const request = gaps_.request_of(i);
  if (!request || node(*request).type != "Script") return false;
  return in_all_loads(*request, [](const Call& call) {
    return call.attribute("priority") == "Low" || !blocks_rendering(call);
  });
}

bool PageRules::is_in_frame(std::uint32_t i) const {
  auto const request = gaps_.request_of(i);
  auto const document = request ? document_above(*request) : std::nullopt;
  return document && !is_page(*document) && initiator_of(first_before_redirects(*document));
}

/// A document is its own.
std::optional<std::uint32_t> PageRules::document_above(std::uint32_t request) const {
  std::optional<std::uint32_t> above = request;
  for (std::size_t deep = 0; above && deep < kAskersDeepMax; ++deep) {
    if (node(*above).type == "Document") return above;
    above = initiator_of(*above);
  }
  return std::nullopt;
}

std::uint32_t PageRules::first_before_redirects(std::uint32_t request) const {
  for (auto from = request; from-- > 0;) {
    bool const can =
        node(from).kind == DependencyNodeKind::kRequest && node(from).type == "Document";
    if (can && redirects_to(from, request)) request = from;
  }
  return request;
}

/// A script that goes to another page is named as its initiator, too.
bool PageRules::is_page(std::uint32_t request) const {
  for (std::size_t load = 0; load < pages_.size(); ++load) {
    auto const& times = gaps_.loads()[load][request];
    auto const& tree = pages_[load].calls;
    if (times && without_fragment(tree.calls[times->call].name) == without_fragment(tree.page)) {
      return true;
    }
  }
  return false;
}

bool PageRules::always_redirects(std::uint32_t request) const {
  return in_all_loads(request, is_redirect);
}

std::optional<std::uint32_t> PageRules::page_before(std::uint32_t request) const {
  std::optional<std::uint32_t> first;
  for (auto from = request; from-- > 0;) {
    if (node(from).type != "Document" || always_redirects(from)) continue;
    if (is_page(from)) return from;
    first = from;
  }
  return first;
}

bool PageRules::can_hold_up_load_event(std::uint32_t i) const {
  // Neither timers nor listeners hold it up, but for the time that they take.
  if (node(i).kind == DependencyNodeKind::kTask && !node(i).function.empty()) return false;
  // Chromium's priority of a synchronous XMLHttpRequest, for which its script stops, is VeryHigh.
  if (node(i).type == "XHR") return has_priority_in_all_loads(i, "VeryHigh");
  return std::ranges::find(kNoLoadEventTypes, node(i).type) == std::end(kNoLoadEventTypes);
}

bool PageRules::has_priority_in_all_loads(std::uint32_t request, std::string_view word) const {
  return in_all_loads(request,
                      [&](auto const& call) { return call.attribute("priority") == word; });
}

LargestPaint PageRules::largest_paint() const {
  std::map<std::optional<std::uint32_t>, std::size_t> loads;
  for (std::size_t load = 0; load < pages_.size(); ++load) {
    auto const& url = pages_[load].largest_url;
    if (!url) continue;
    auto const image = image_in(load, *url);
    bool const needs_no_request = url->empty() || url->starts_with("data:");
    if (image || needs_no_request) ++loads[image];
  }
  if (loads.empty()) return {};
  auto const count = [](auto const& each) { return std::pair(each.second, each.first); };
  return {.is_known = true, .image = std::ranges::max_element(loads, {}, count)->first};
}

/// Browsers name an image by its first URL, before any redirects.
std::optional<std::uint32_t> PageRules::image_in(std::size_t load, std::string_view url) const {
  std::optional<std::uint32_t> found;
  for (std::uint32_t image = 0; image < nodes_.size(); ++image) {
    auto const& placed = gaps_.loads()[load][image];
    if (node(image).type != "Image" || !placed) continue;
    auto const& name = pages_[load].calls.calls[placed->call].name;
    bool const is_it =
        found ? redirects_to(*found, image) : without_fragment(name) == without_fragment(url);
    if (is_it) found = image;
  }
  return found;
}

bool PageRules::is_run_of(std::uint32_t task, std::uint32_t script) const {
  return node(task).kind == DependencyNodeKind::kTask && node(task).function.empty() &&
         node(task).occurrence == 0 && gaps_.request_of(task) == script;
}

bool PageRules::runs_after(std::uint32_t run, std::uint32_t script) const {
  auto const own = gaps_.request_of(run);
  if (!own || script == *own || node(script).type != "Script") return false;
  auto const document = initiator_of(*own);
  bool const is_deferred = document && !holds_up_parser(*own) &&
                           node(*document).type == "Document" &&
                           gaps_.last_moment_before(*document, run) == DependencyAfter::kEnd;
  // Up to what the document asks for itself.
  std::optional<std::uint32_t> outer = script;
  for (std::size_t deep = 0; outer && deep < kImportsDeepMax; ++deep) {
    if (node(*outer).type != "Script") return false;
    auto const asker = initiator_of(*outer);
    if (asker == own) return true;
    if (asker == document) return is_deferred && *outer < *own;
    outer = asker;
  }
  return false;
}

}  // namespace reprise
