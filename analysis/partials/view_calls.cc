#include "analysis/partials/view_calls.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "analysis/contribution/call_subject.h"

namespace reprise {
namespace {

constexpr std::size_t kKnownMax = 1 << 16;
constexpr std::size_t kPlaces = 2 * kKnownMax;
constexpr std::size_t kKeyBytesMax = 1'024;  ///< longer ones are not kept
constexpr std::size_t kProbesMax = 16;       ///< then the one at the last place is forgotten

/// Scheme and authority, up to the path; all of a URL that has another form.
std::string_view site_of(std::string_view url) {
  constexpr std::string_view kHttps = "https://";
  auto begin = kHttps.size();
  if (!url.starts_with(kHttps)) {
    auto const colon = url.find("://");
    if (colon == std::string_view::npos) return url;
    begin = colon + 3;
  }
  return url.substr(0, url.find('/', begin));
}

/// The text after the last dot of the path, or empty. It tells the type of some requests.
std::string_view suffix_of(std::string_view url) {
  auto const path = url.substr(0, std::min(url.find('?'), url.find('#')));
  auto begin = path.size();
  while (begin > 0 && path[begin - 1] != '.' && path[begin - 1] != '/') --begin;
  return begin > 0 && path[begin - 1] == '.' ? path.substr(begin) : std::string_view();
}

/// Of texts of the same size; without a call for the usual sizes of sites.
bool is_same(std::string_view left, std::string_view right) {
  constexpr auto kWord = sizeof(std::uint64_t);
  auto const size = left.size();
  if (size < kWord || size > 4 * kWord) {
    return size == 0 || std::memcmp(left.data(), right.data(), size) == 0;
  }
  auto const differ = [&](std::size_t at) {
    std::uint64_t ours = 0, theirs = 0;
    std::memcpy(&ours, left.data() + at, kWord);
    std::memcpy(&theirs, right.data() + at, kWord);
    return ours ^ theirs;
  };
  // Words that overlap.
  auto const last = size - kWord;
  return (differ(0) | differ(std::min(kWord, last)) | differ(std::min(2 * kWord, last)) |
          differ(last)) == 0;
}

/// Whether the initiator alone tells the type, for the most frequent ones.
bool tells_type(std::string_view initiator) {
  switch (initiator.size()) {
    case 3:
      return initiator == "img";
    case 5:
      return initiator == "fetch";
    case 6:
      return initiator == "script";
    case 10:
      return initiator == "navigation";
    case 14:
      return initiator == "xmlhttprequest";
    default:
      return false;
  }
}

}  // namespace

inline bool ViewCalls::Key::operator==(const Key& other) const {
  auto const differ = [](std::uint64_t ours, std::uint64_t theirs) { return ours ^ theirs; };
  return (differ(page, other.page) | differ(has_rest, other.has_rest) |
          static_cast<std::uint64_t>(status ^ other.status) |
          differ(site.size(), other.site.size()) |
          differ(initiator.size(), other.initiator.size()) |
          differ(rest.size(), other.rest.size())) == 0 &&
         is_same(site, other.site) && initiator == other.initiator &&
         (rest.empty() || rest == other.rest);
}

/// Of the size and the ends of each text alone: fast, and kProbesMax bounds what a page can do.
inline std::uint64_t ViewCalls::Key::hash() const {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  auto const ends = [](std::string_view text) -> std::uint64_t {
    if (text.empty()) return 0;
    return static_cast<unsigned char>(text.front()) |
           static_cast<std::uint64_t>(static_cast<unsigned char>(text.back())) << 8 |
           text.size() << 16;
  };
  auto hash = page ^ static_cast<std::uint64_t>(status) << 32;
  if (has_rest) hash += ends(rest) * (kOdd * 3) + 1;
  hash = hash * kOdd + ends(initiator) * (kOdd * 5);
  if (site.size() >= sizeof(std::uint64_t)) {
    std::uint64_t first = 0, last = 0;
    // After "https://", if there is so much.
    std::memcpy(&first, site.data() + std::min(sizeof first, site.size() - sizeof first),
                sizeof first);
    std::memcpy(&last, site.data() + site.size() - sizeof last, sizeof last);
    hash += (first + site.size()) * kOdd + std::rotl(last * kOdd, 29);
  }
  hash = (hash ^ hash >> 32) * kOdd;
  return hash ^ hash >> 32;
}

ViewCalls::ViewCalls(const KindRules& rules, const Entities& entities)
    : rules_(rules), entities_(entities), known_(kPlaces), pages_{{"", 0}} {
  by_tree_ = rules.test(FilterField::kTime) || rules.test(FilterField::kSize);
  for (auto const field :
       {FilterField::kPath, FilterField::kQuery, FilterField::kUrl, FilterField::kName}) {
    whole_url_ |= rules.test(field);
  }
  by_protocol_ = rules.test(FilterField::kProtocol);
  by_type_ = rules.test(FilterField::kType);
}

void ViewCalls::forget() {
  known_.clear();
  known_.resize(kPlaces);
  known_works_.clear();
}

bool ViewCalls::needs_rest(std::string_view initiator) const {
  return by_protocol_ || by_type_ || !tells_type(initiator);
}

std::string_view ViewCalls::rest_of(const BeaconRequest& request) {
  auto const suffix = suffix_of(request.name);
  if (!by_protocol_ && !by_type_) return suffix;
  // In front of each part a byte that is not in UTF-8.
  rest_ = suffix;
  for (auto const part : {by_protocol_ ? request.protocol : "", by_type_ ? request.mime : ""}) {
    (rest_ += '\xfe') += part;
  }
  return rest_;
}

const ViewCalls::Known& ViewCalls::learn(const Key& key, std::size_t place,
                                         const BeaconRequest& request, const BeaconView& view) {
  Known made{.key = key, .needs_rest = !key.has_rest && needs_rest(request.initiator)};
  if (!made.needs_rest) made.kinds = classify(request, view);
  if (key.size_bytes() > kKeyBytesMax) return too_long_ = std::move(made);
  known_[place] = std::make_unique<Known>(std::move(made));
  Known& known = *known_[place];
  for (auto const text : {key.site, key.initiator, key.rest}) known.texts += text;
  std::string_view left = known.texts;
  for (auto* const text : {&known.key.site, &known.key.initiator, &known.key.rest}) {
    auto const size = text->size();
    *text = left.substr(0, size);
    left.remove_prefix(size);
  }
  return known;
}

inline const ViewCalls::Known& ViewCalls::known(const Key& key, const BeaconRequest& request,
                                                const BeaconView& view) {
  auto place = key.hash() % kPlaces;
  for (std::size_t i = 1; known_[place] != nullptr; ++i) {
    if (known_[place]->key == key) return *known_[place];
    if (i == kProbesMax) break;
    place = (place + 1) % kPlaces;
  }
  return learn(key, place, request, view);
}

inline const ViewCalls::Kinds& ViewCalls::kinds_of(const BeaconRequest& request,
                                                   const BeaconView& view) {
  Key key{.page = page_number_, .status = request.status, .initiator = request.initiator};
  key.site = whole_url_ ? request.name : site_of(request.name);
  Known const& first = known(key, request, view);
  if (!first.needs_rest) return first.kinds;
  key.has_rest = true;
  key.rest = rest_of(request);
  return known(key, request, view).kinds;
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
  work_key_.assign(reinterpret_cast<const char*>(&page_number_), sizeof page_number_);
  work_key_ += static_cast<char>(work.kind);
  // In front of each part a byte that is not in UTF-8.
  for (auto const part : {work.name, work.url, work.function}) (work_key_ += '\xfe') += part;
  if (auto const known = known_works_.find(work_key_); known != known_works_.end()) {
    return known->second;
  }
  if (known_works_.size() >= kKnownMax) known_works_.clear();
  BeaconView alone;
  alone.page = view.page;
  alone.works.push_back(work);
  auto const kind = rules_.classify(tree_of(alone), entities_)[0];
  if (work_key_.size() <= kKeyBytesMax) known_works_[work_key_] = kind;
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
  if (by_tree_) {
    flatten_by_tree(view);
    return calls_;
  }
  // The page decides what is of the first party.
  auto const page = site_of(view.page);
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
