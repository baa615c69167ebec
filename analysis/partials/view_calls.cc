#include "analysis/partials/view_calls.h"

#include <algorithm>

#include "analysis/contribution/call_subject.h"

namespace reprise {
namespace {

constexpr std::size_t kKnownMax = 1 << 16;
constexpr std::size_t kPlacesMin = 1 << 12;
constexpr std::size_t kPlacesMax = 2 * kKnownMax;
constexpr std::size_t kProbesMax = 16;       ///< then the one at the last place is forgotten
constexpr std::size_t kKeyBytesMax = 1'024;  ///< longer ones are not kept

/// So that no two lists of parts make the same key.
void append_part(std::string& key, std::string_view part) {
  auto const size = part.size();
  key.append(reinterpret_cast<const char*>(&size), sizeof size) += part;
}

}  // namespace

ViewCalls::ViewCalls(const KindRules& rules, const Entities& entities)
    : rules_(rules), entities_(entities), known_(kPlacesMin), pages_{{"", 0}} {
  by_tree_ = rules.test(FilterField::kTime) || rules.test(FilterField::kSize);
  for (auto const field :
       {FilterField::kPath, FilterField::kQuery, FilterField::kUrl, FilterField::kName}) {
    whole_url_ |= rules.test(field);
  }
  by_protocol_ = rules.test(FilterField::kProtocol);
  by_type_ = rules.test(FilterField::kType);
  has_keys_ = !whole_url_ && !by_protocol_ && !by_type_;
}

void ViewCalls::forget() {
  known_.assign(kPlacesMin, {});
  known_count_ = 0;
  known_long_.clear();
  known_works_.clear();
}

/// The place of the key, or where it is to be.
[[gnu::always_inline]] inline ViewCalls::Place ViewCalls::place_of(const CallKey& key) {
  auto const mask = known_.size() - 1;
  auto at = key.hash() & mask;
  for (std::size_t i = 1;; ++i) {
    Known& known = known_[at];
    bool const is_here = known.key == key;
    if (is_here || known.key.is_empty() || i == kProbesMax) return {known, is_here};
    at = (at + 1) & mask;
  }
}

void ViewCalls::grow() {
  std::vector<Known> before(2 * known_.size());
  before.swap(known_);
  for (Known const& known : before) {
    if (!known.key.is_empty()) place_of(known.key).known = known;
  }
}

const ViewCalls::Kinds& ViewCalls::learn(const CallKey& key, const BeaconRequest& request,
                                         const BeaconView& view) {
  if (++known_count_ > known_.size() / 4 && known_.size() < kPlacesMax) grow();
  Known& known = place_of(key).known;
  known = {key, classify(request, view)};
  return known.kinds;
}

// In line, as CallKey::of().
[[gnu::always_inline]] inline const ViewCalls::Kinds& ViewCalls::kinds_of(
    const BeaconRequest& request, const BeaconView& view) {
  if (!has_keys_) return kinds_of_long(request, view);
  auto const key = CallKey::of(request, page_number_);
  if (!key) return kinds_of_long(request, view);
  auto const place = place_of(*key);
  return place.is_here ? place.known.kinds : learn(*key, request, view);
}

const ViewCalls::Kinds& ViewCalls::kinds_of_long(const BeaconRequest& request,
                                                 const BeaconView& view) {
  auto const bytes_of = [](const auto& number) {
    return std::string_view(reinterpret_cast<const char*>(&number), sizeof number);
  };
  long_key_ = bytes_of(page_number_);
  long_key_ += bytes_of(request.status);
  append_part(long_key_, whole_url_ ? request.name : site_of(request.name));
  append_part(long_key_, request.initiator);
  if (by_protocol_) append_part(long_key_, request.protocol);
  if (by_type_) append_part(long_key_, request.mime);
  if (by_protocol_ || by_type_ ||
      std::ranges::find(kTypedInitiators, request.initiator) == kTypedInitiators.end()) {
    append_part(long_key_, suffix_of(request.name));
  }
  if (long_key_.size() > kKeyBytesMax) return too_long_ = classify(request, view);
  if (auto const known = known_long_.find(long_key_); known != known_long_.end()) {
    return known->second;
  }
  if (known_long_.size() >= kKnownMax) known_long_.clear();
  return known_long_[long_key_] = classify(request, view);
}

ViewCalls::Kinds ViewCalls::classify(const BeaconRequest& request, const BeaconView& view) const {
  // The tree of this request alone, with each phase once.
  BeaconView alone;
  alone.page = view.page;
  alone.requests.push_back(request);
  alone.requests.front().has_moments = false;
  auto tree = tree_of(alone);
  for (auto const name : kBeaconPhaseNames) {
    tree.calls.push_back({.kind = CallKind::kPhase, .name = std::string(name), .parent = 0});
  }
  auto const places = rules_.classify(tree, entities_);
  Kinds kinds{.whole = places[0]};
  for (std::size_t i = 0; i < kinds.phases.size(); ++i) kinds.phases[i] = places[i + 1];
  return kinds;
}

std::uint8_t ViewCalls::kind_of(const BeaconWork& work, const BeaconView& view) {
  long_key_.assign(reinterpret_cast<const char*>(&page_number_), sizeof page_number_);
  long_key_ += static_cast<char>(work.kind);
  // In front of each part a byte that is not in UTF-8.
  for (auto const part : {work.name, work.url, work.function}) (long_key_ += '\xfe') += part;
  if (auto const known = known_works_.find(long_key_); known != known_works_.end()) {
    return known->second;
  }
  if (known_works_.size() >= kKnownMax) known_works_.clear();
  BeaconView alone;
  alone.page = view.page;
  alone.works.push_back(work);
  auto const kind = rules_.classify(tree_of(alone), entities_)[0];
  if (long_key_.size() <= kKeyBytesMax) known_works_[long_key_] = kind;
  return kind;
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
  // The page decides what is of the first party.
  auto const page = site_of(view.page);
  if (by_tree_ || page.size() > kKeyBytesMax) {
    flatten_by_tree(view);
    return calls_;
  }
  if (page != page_) {
    if (pages_.size() >= kKnownMax) {
      pages_.clear();
      forget();
    }
    page_ = page;
    page_number_ =
        pages_.try_emplace(page_, static_cast<std::uint32_t>(pages_.size())).first->second;
  }
  for (BeaconRequest const& request : view.requests) {
    auto const& kinds = kinds_of(request, view);
    if (!request.has_moments) {
      calls_.push_back({request.start_us, request.end_us, CallLayer::kNetwork, kinds.whole});
      continue;
    }
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
