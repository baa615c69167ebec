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

/// Without a call for the usual sizes.
bool is_same(std::string_view left, std::string_view right) {
  constexpr auto kWord = sizeof(std::uint64_t);
  auto const size = left.size();
  if (size != right.size()) return false;
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

bool ViewCalls::Key::operator==(const Key& other) const {
  return page == other.page && status == other.status &&
         std::ranges::equal(texts, other.texts, is_same);
}

/// Of the size and the ends of each text alone: fast, and kProbesMax bounds what a page can do.
std::uint64_t ViewCalls::Key::hash() const {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  auto hash = (page ^ static_cast<std::uint64_t>(status) << 32) * kOdd;
  auto factor = kOdd;
  for (auto const text : texts) {
    factor += 2 * kOdd;
    if (text.empty()) continue;
    std::uint64_t first = 0, last = 0;
    if (text.size() >= sizeof first) {
      // After "https://", if there is so much.
      std::memcpy(&first, text.data() + std::min(sizeof first, text.size() - sizeof first),
                  sizeof first);
      std::memcpy(&last, text.data() + text.size() - sizeof last, sizeof last);
    } else {
      first = static_cast<unsigned char>(text.front());
      last = static_cast<unsigned char>(text.back());
    }
    hash += (first + text.size()) * factor + std::rotl(last * factor, 29);
  }
  hash = (hash ^ hash >> 32) * kOdd;
  return hash ^ hash >> 32;
}

std::size_t ViewCalls::Key::size_bytes() const {
  std::size_t size = 0;
  for (auto const text : texts) size += text.size();
  return size;
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

ViewCalls::Key ViewCalls::key_of(const BeaconRequest& request) const {
  Key key{.page = page_number_, .status = request.status, .texts = {}};
  key.texts[0] = whole_url_ ? request.name : site_of(request.name);
  key.texts[1] = request.initiator;
  if (!tells_type(request.initiator)) key.texts[2] = suffix_of(request.name);
  if (by_protocol_) key.texts[3] = request.protocol;
  if (by_type_) key.texts[4] = request.mime;
  return key;
}

void ViewCalls::forget() {
  known_.clear();
  known_.resize(kPlaces);
  known_works_.clear();
}

const ViewCalls::Kinds& ViewCalls::kinds_of(const BeaconRequest& request, const BeaconView& view) {
  auto const key = key_of(request);
  auto place = key.hash() % kPlaces;
  for (std::size_t i = 1; known_[place] != nullptr; ++i) {
    if (known_[place]->key == key) return known_[place]->kinds;
    if (i == kProbesMax) break;
    place = (place + 1) % kPlaces;
  }
  if (key.size_bytes() > kKeyBytesMax) return too_long_ = classify(request, view);
  known_[place] = std::make_unique<Known>(Known{.key = key, .kinds = classify(request, view)});
  Known& known = *known_[place];
  for (auto const text : key.texts) known.texts += text;
  std::string_view rest = known.texts;
  for (auto& text : known.key.texts) {
    auto const size = text.size();
    text = rest.substr(0, size);
    rest.remove_prefix(size);
  }
  return known.kinds;
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
