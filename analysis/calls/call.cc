#include "analysis/calls/call.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

namespace reprise {
namespace {

constexpr std::array<std::pair<CallKind, std::string_view>, 5> kKinds = {{
    {CallKind::kRequest, "request"},
    {CallKind::kPhase, "phase"},
    {CallKind::kSpan, "span"},
    {CallKind::kTask, "task"},
    {CallKind::kMeasure, "measure"},
}};

std::string_view value_of(const std::vector<Attribute>& attributes, std::string_view name) {
  auto const found = std::ranges::find(attributes, name, &Attribute::first);
  return found == attributes.end() ? std::string_view() : std::string_view(found->second);
}

}  // namespace

std::string_view to_string(CallKind kind) {
  return kKinds[static_cast<std::size_t>(kind)].second;
}

std::optional<CallKind> call_kind(std::string_view name) {
  for (auto const& [kind, known] : kKinds) {
    if (known == name) return kind;
  }
  return std::nullopt;
}

std::string_view Call::attribute(std::string_view attribute_name) const {
  return value_of(attributes, attribute_name);
}

void Call::set(std::string_view attribute_name, std::string value) {
  auto const found = std::ranges::find(attributes, attribute_name, &Attribute::first);
  if (found != attributes.end()) {
    found->second = std::move(value);
  } else {
    attributes.emplace_back(attribute_name, std::move(value));
  }
}

std::string_view CallTree::tag(std::string_view name) const {
  return value_of(tags, name);
}

bool is_redirect(const Call& request) {
  auto const status = request.attribute("status");
  return status.starts_with("30") && status != "304";
}

double processor_us(const Call& task) {
  auto const length = task.end_us - task.start_us;
  auto const text = task.attribute("processor_us");
  auto told = length;
  std::from_chars(text.data(), text.data() + text.size(), told);
  return static_cast<double>(std::clamp(told, std::int64_t{0}, length));
}

/// Names of losses; our own are far fewer.
constexpr std::size_t kLossesMax = 100;
constexpr std::string_view kOtherLosses = "other losses";

void add_loss(std::vector<CallLoss>& losses, std::string_view what, std::uint64_t count) {
  if (count == 0) return;
  auto const found = std::ranges::find(losses, what, &CallLoss::what);
  if (found != losses.end()) {
    found->count += count;
  } else if (losses.size() < kLossesMax || what == kOtherLosses) {
    losses.push_back({.what = std::string(what), .count = count});
  } else {
    add_loss(losses, kOtherLosses, count);
  }
}

void CallTree::lose(std::string_view what, std::uint64_t count) {
  add_loss(losses, what, count);
}

void normalize(CallTree& tree) {
  tree.window_us = std::clamp<std::int64_t>(tree.window_us, 0, CallTree::kWindowUsMax);
  std::map<std::string, std::string> tags;
  for (Attribute& tag : tree.tags) tags.insert(std::move(tag));
  tree.lose("tags with a name that was there already", tree.tags.size() - tags.size());
  tree.tags.assign(tags.begin(), tags.end());

  if (tree.calls.size() > CallTree::kCallsMax) {
    tree.lose("calls beyond the first million", tree.calls.size() - CallTree::kCallsMax);
    tree.calls.resize(CallTree::kCallsMax);
  }
  std::vector<std::uint16_t> depths(tree.calls.size(), 0);
  for (std::size_t i = 0; i < tree.calls.size(); ++i) {
    Call& call = tree.calls[i];
    auto const cut = [](std::int64_t time) {
      return std::clamp<std::int64_t>(time, 0, CallTree::kWindowUsMax);
    };
    if (call.start_us != cut(call.start_us) || call.end_us != cut(call.end_us)) {
      tree.lose("calls that begin before the view or end after a day, cut");
    }
    call.start_us = cut(call.start_us);
    call.end_us = cut(call.end_us);
    if (call.end_us < call.start_us) {
      tree.lose("calls that end before they start, taken as empty");
      call.end_us = call.start_us;
    }
    if (call.parent == kNoParent) continue;
    if (call.parent >= i) {
      tree.lose("calls whose parent is not an earlier call, taken without it");
      call.parent = kNoParent;
    } else if (depths[call.parent] + 1u >= CallTree::kDepthMax) {
      tree.lose("calls nested deeper than 512 levels, taken without a parent");
      call.parent = kNoParent;
    } else {
      depths[i] = static_cast<std::uint16_t>(depths[call.parent] + 1);
    }
  }
}

}  // namespace reprise
