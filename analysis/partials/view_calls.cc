#include "analysis/partials/view_calls.h"

#include <algorithm>
#include <cstring>

#include "analysis/contribution/call_subject.h"

namespace reprise {
namespace {

constexpr std::size_t kKnownMax = 1 << 16;
/// Scheme and authority; all of a URL that has another form.
std::string_view site_of(std::string_view url) {
  auto const colon = url.find("://");
  if (colon == std::string_view::npos) return url;
  return url.substr(0, url.find_first_of("/?#", colon + 3));
}

/// After the last dot of the path; empty if there is none. What tells the type of some requests.
std::string_view suffix_of(std::string_view url) {
  auto const path = url.substr(0, url.find_first_of("?#"));
  auto const at = path.find_last_of("./");
  return at == std::string_view::npos || path[at] == '/' ? std::string_view() : path.substr(at + 1);
}

}  // namespace

std::size_t ViewCalls::Hash::operator()(const std::string& key) const {
  std::uint64_t hash = key.size();
  auto const mix = [&hash](std::uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 32;
  };
  std::size_t i = 0;
  for (std::uint64_t word = 0; i + sizeof word <= key.size(); i += sizeof word) {
    std::memcpy(&word, key.data() + i, sizeof word);
    mix(word);
  }
  std::uint64_t rest = 0;
  if (i < key.size()) std::memcpy(&rest, key.data() + i, key.size() - i);
  mix(rest);
  return hash;
}

ViewCalls::ViewCalls(const KindRules& rules, const Entities& entities)
    : rules_(rules), entities_(entities), pages_{{"", 0}} {
  by_tree_ = rules.test(FilterField::kTime) || rules.test(FilterField::kSize);
  for (auto const field :
       {FilterField::kPath, FilterField::kQuery, FilterField::kUrl, FilterField::kName}) {
    whole_url_ |= rules.test(field);
  }
}

void ViewCalls::write_key(const BeaconRequest& request) {
  // Parts end in a byte that is not in UTF-8.
  constexpr char kEnd = '\xff';
  key_.assign(reinterpret_cast<const char*>(&page_number_), sizeof page_number_);
  key_ += kEnd;
  (key_ += whole_url_ ? request.name : site_of(request.name)) += kEnd;
  (key_ += request.initiator) += kEnd;
  (key_ += suffix_of(request.name)) += kEnd;
  (key_ += request.protocol) += kEnd;
  (key_ += request.mime) += kEnd;
  key_.append(reinterpret_cast<const char*>(&request.status), sizeof request.status);
}

const ViewCalls::Kinds& ViewCalls::kinds_of(const BeaconRequest& request, const BeaconView& view) {
  write_key(request);
  if (auto const known = known_.find(key_); known != known_.end()) return known->second;
  if (known_.size() >= kKnownMax) known_.clear();
  // The tree of this request alone, with each phase once.
  BeaconView alone;
  alone.page = view.page;
  alone.requests.push_back(request);
  alone.requests.front().has_moments = false;
  auto tree = tree_of(alone);
  for (auto const name : kBeaconPhaseNames) {
    tree.calls.push_back({.kind = CallKind::kPhase, .name = std::string(name), .parent = 0});
  }
  auto const kinds = rules_.classify(tree, entities_);
  Kinds& added = known_[key_];
  added.whole = kinds[0];
  for (std::size_t i = 0; i < added.phases.size(); ++i) added.phases[i] = kinds[i + 1];
  return added;
}

std::uint8_t ViewCalls::kind_of(const BeaconWork& work, const BeaconView& view) {
  key_.assign(reinterpret_cast<const char*>(&page_number_), sizeof page_number_);
  key_ += static_cast<char>(work.kind);
  for (auto const part : {work.name, work.url, work.function}) (key_ += '\xfe') += part;
  if (auto const known = known_.find(key_); known != known_.end()) return known->second.whole;
  if (known_.size() >= kKnownMax) known_.clear();
  BeaconView alone;
  alone.page = view.page;
  alone.works.push_back(work);
  return (known_[key_] = {.whole = rules_.classify(tree_of(alone), entities_)[0]}).whole;
}

void ViewCalls::flatten_by_tree(const BeaconView& view) {
  auto const tree = tree_of(view);
  auto const kinds = rules_.classify(tree, entities_);
  for (std::size_t i = 0; i < tree.calls.size(); ++i) {
    Call const& call = tree.calls[i];
    bool const is_around = i + 1 < tree.calls.size() && tree.calls[i + 1].parent == i;
    if (is_around) continue;  // its phases cover it
    auto const layer = layer_of(call.parent == kNoParent ? call.kind : CallKind::kRequest);
    calls_.push_back({call.start_us, call.end_us, layer, kinds[i]});
  }
}

std::span<const FlatCall> ViewCalls::flatten(const BeaconView& view) {
  calls_.clear();
  if (by_tree_) {
    flatten_by_tree(view);
    return calls_;
  }
  // The page decides what is of the first party.
  auto const page = site_of(view.page);
  if (page != page_) {
    if (pages_.size() >= kKnownMax) {
      pages_.clear();
      known_.clear();
    }
    page_ = page;
    page_number_ =
        pages_.try_emplace(page_, static_cast<std::uint32_t>(pages_.size())).first->second;
  }
  for (BeaconRequest const& request : view.requests) {
    auto const& kinds = kinds_of(request, view);
    auto const phases = phases_of(request);
    if (phases.count == 0) {
      calls_.push_back({request.start_us, request.end_us, CallLayer::kNetwork, kinds.whole});
    }
    for (BeaconPhase const& phase : phases) {
      calls_.push_back(
          {phase.start_us, phase.end_us, CallLayer::kNetwork, kinds.phases[phase.which]});
    }
  }
  for (BeaconWork const& work : view.works) {
    calls_.push_back({work.start_us, work.end_us, layer_of(work.kind), kind_of(work, view)});
  }
  return calls_;
}

}  // namespace reprise
