#include "analysis/spans/span_forest.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <unordered_map>
#include <utility>

namespace reprise {
namespace {

/// The spans with one id: what the caller and what the server recorded about the same call.
struct Halves {
  std::uint32_t caller = kNoParent;
  std::uint32_t server = kNoParent;
};
using SpansById = std::unordered_map<std::string, Halves>;

std::string key_of(const Span& span, const std::string& id) {
  return span.trace_id + id;
}

/// Which spans have a half with their id already is set in `repeated`.
SpansById index_of(const SpanSet& set, std::vector<bool>& repeated) {
  SpansById by_id;
  by_id.reserve(set.spans.size());
  for (std::uint32_t i = 0; i < set.spans.size(); ++i) {
    const Span& span = set.spans[i];
    Halves& halves = by_id[key_of(span, span.span_id)];
    std::uint32_t& place = span.kind == "server" ? halves.server : halves.caller;
    if (place == kNoParent) {
      place = i;
    } else {
      repeated[i] = true;
    }
  }
  return by_id;
}

std::uint32_t parent_of(const SpanSet& set, const SpansById& by_id, std::uint32_t i) {
  const Span& span = set.spans[i];
  const Halves& own = by_id.at(key_of(span, span.span_id));
  if (own.server == i && own.caller != kNoParent) return own.caller;
  if (span.parent_id.empty()) return kNoParent;
  auto const found = by_id.find(key_of(span, span.parent_id));
  if (found == by_id.end()) return kNoParent;
  return found->second.server != kNoParent ? found->second.server : found->second.caller;
}

/// How many spans are in the trees of the roots.
std::size_t reached(const SpanForest& forest) {
  auto waiting = forest.roots;
  std::size_t count = 0;
  while (!waiting.empty()) {
    auto const span = waiting.back();
    waiting.pop_back();
    ++count;
    waiting.insert(waiting.end(), forest.inside[span].begin(), forest.inside[span].end());
  }
  return count;
}

/// Rounded down, as time before the view is negative.
std::int64_t us_of(std::int64_t ns) {
  return ns >= 0 ? ns / 1000 : -((-ns + 999) / 1000);
}

Call call_of(const Span& span) {
  Call call{.kind = CallKind::kSpan, .name = endpoint_of(span), .attributes = span.attributes};
  call.set("endpoint", call.name);
  if (call.name.empty()) call.name = span.service;
  if (!span.service.empty()) call.set("service", span.service);
  if (!span.place.empty()) call.set("place", span.place);
  return call;
}

}  // namespace

SpanForest forest_of(const SpanSet& set) {
  SpanForest forest;
  forest.inside.resize(set.spans.size());
  std::vector<bool> repeated(set.spans.size());
  auto const by_id = index_of(set, repeated);
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < set.spans.size(); ++i) {
    if (!repeated[i]) order.push_back(i);
  }
  std::ranges::sort(order, {},
                    [&set](std::uint32_t i) { return std::pair(set.spans[i].start_ns, i); });
  for (auto const i : order) {
    auto const parent = parent_of(set, by_id, i);
    (parent == kNoParent ? forest.roots : forest.inside[parent]).push_back(i);
  }
  add_loss(forest.losses, "spans that come twice", set.spans.size() - order.size());
  add_loss(forest.losses, "spans that are their own ancestors", order.size() - reached(forest));
  return forest;
}

std::size_t add_span_calls(CallTree& tree, const SpanSet& set, const SpanForest& forest,
                           std::uint32_t root, const SpanPlacing& placing) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> waiting = {{root, placing.parent}};
  std::size_t cut = 0;
  while (!waiting.empty()) {
    auto const [place, parent] = waiting.back();
    waiting.pop_back();
    const Span& span = set.spans[place];
    Call call = call_of(span);
    auto const start = us_of(span.start_ns - placing.zero_ns);
    auto const end = us_of(span.end_ns - placing.zero_ns);
    call.start_us = std::clamp(start, placing.from_us, placing.to_us);
    call.end_us = std::clamp(end, placing.from_us, placing.to_us);
    auto const off_us = std::max(std::abs(call.start_us - start), std::abs(call.end_us - end));
    if (off_us > Span::kGrainNs / 1000) ++cut;
    call.parent = parent;
    auto const added = static_cast<std::uint32_t>(tree.calls.size());
    tree.calls.push_back(std::move(call));
    auto const& inside = forest.inside[place];
    for (auto child = inside.size(); child-- > 0;) waiting.emplace_back(inside[child], added);
  }
  return cut;
}

std::vector<CallTree> trees_of(const SpanSet& set, std::vector<CallLoss>& losses) {
  auto const forest = forest_of(set);
  for (const CallLoss& loss : forest.losses) add_loss(losses, loss.what, loss.count);
  std::vector<CallTree> trees;
  trees.reserve(forest.roots.size());
  for (auto const root : forest.roots) {
    const Span& span = set.spans[root];
    CallTree tree{.page = endpoint_of(span),
                  .started_unix_ms = static_cast<double>(span.start_ns) / 1e6,
                  .window_us = us_of(span.end_ns - span.start_ns)};
    tree.tags = {{"endpoint", tree.page}, {"service", span.service}};
    if (!span.place.empty()) tree.tags.emplace_back("place", span.place);
    auto const cut = add_span_calls(tree, set, forest, root, {.zero_ns = span.start_ns});
    tree.lose("spans that begin before the first or end after a day, cut", cut);
    normalize(tree);
    trees.push_back(std::move(tree));
  }
  return trees;
}

}  // namespace reprise
