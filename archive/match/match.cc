#include "archive/match/match.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <unordered_map>

#include "archive/match/agreement.h"
#include "archive/match/build.h"
#include "archive/match/key_hasher.h"

namespace reprise {
namespace {

/// How many exchanges of a path are visited to find incomplete ones.
constexpr std::size_t kBrokenVisitsMax = 1024;

/// The fields of a request by which a response allows it to a page of another origin.
constexpr std::array<std::string_view, 3> kCorsFields = {"Origin", "Access-Control-Request-Method",
                                                         "Access-Control-Request-Headers"};

bool is_same(const StoredRequest& recorded, const MatchKey& key, bool partial) {
  return recorded.target == key.target && recorded.host == key.host &&
         recorded.method == key.method && recorded.scheme == key.scheme &&
         recorded.port == key.port && recorded.body_partial == partial &&
         (partial || recorded.body.digest == key.body_digest);
}

}  // namespace

MatchKey key_of(const StoredRequest& request) {
  return {.method = request.method,
          .scheme = request.scheme,
          .host = request.host,
          .port = request.port,
          .target = request.target,
          .body_digest = request.body_partial ? Sha256{} : request.body.digest};
}

AskedRequest asked_as(const StoredRequest& request, Bytes body) {
  return {.key = key_of(request),
          .headers = request.headers.list(),
          .body_bytes = request.body_partial ? 0 : request.body.size_bytes,
          .body = request.body_partial ? Bytes() : body,
          .body_counts = !request.body_partial};
}

std::string url_of(const MatchKey& key) {
  return url_of(key.scheme, key.host, key.port, key.target);
}

bool same_cors_fields(HeaderList a, HeaderList b) {
  return std::ranges::all_of(kCorsFields, [a, b](std::string_view name) {
    return find_header(a, name) == find_header(b, name);
  });
}

bool same_place(const MatchKey& a, const MatchKey& b) {
  auto const path_of = [](std::string_view target) { return target.substr(0, target.find('?')); };
  return a.method == b.method && a.scheme == b.scheme && a.host == b.host && a.port == b.port &&
         path_of(a.target) == path_of(b.target);
}

std::uint64_t key_hash(const MatchKey& key) {
  KeyHasher hasher;
  hasher.add_text(key.method);
  hasher.add_byte(static_cast<std::uint8_t>(key.scheme));
  hasher.add_text(key.host);
  hasher.add_number(key.port);
  hasher.add_text(key.target);
  using Words = std::array<std::uint64_t, 4>;
  if (std::bit_cast<Words>(key.body_digest) == Words{}) {
    hasher.add_zeros<sizeof key.body_digest>();
  } else {
    for (auto const byte : key.body_digest) hasher.add_byte(static_cast<std::uint8_t>(byte));
  }
  return hasher.finish();
}

std::uint64_t path_hash(std::string_view host, std::string_view target) {
  KeyHasher hasher;
  hasher.add_text(host);
  hasher.add_text(target.substr(0, target.find('?')));
  return hasher.finish();
}

void SequenceCursors::reset() {
  for (auto& taken : taken_) taken.store(0, std::memory_order_relaxed);
  for (auto& given : given_) given.store(false, std::memory_order_relaxed);
  for (auto& place : places_) place.store(0, std::memory_order_relaxed);
}

std::uint32_t session_to_replay(const ArchiveReader& reader) {
  std::uint32_t last_complete = 0;
  std::uint32_t last = 0;
  for (const SessionInfo& info : reader.sessions()) {
    last = std::max(last, info.number);
    if (info.complete) last_complete = std::max(last_complete, info.number);
  }
  for (auto const number : reader.ended_without_start()) {
    last_complete = std::max(last_complete, number);
  }
  if (last_complete > 0) return last_complete;
  if (last > 0) return last;
  // The records of the sessions are lost, but not those of the exchanges.
  for (const IndexEntry& entry : reader.entries()) last = std::max(last, entry.session);
  return last;
}

bool has_session(const ArchiveReader& reader, std::uint32_t number) {
  if (number == 0) return session_to_replay(reader) != 0;
  auto const is_it = [number](std::uint32_t each) { return each == number; };
  return std::ranges::any_of(reader.sessions(), is_it, &SessionInfo::number) ||
         std::ranges::any_of(reader.ended_without_start(), is_it) ||
         std::ranges::any_of(reader.entries(), is_it, &IndexEntry::session);
}

Matcher::Matcher(const ArchiveReader& reader, std::uint32_t session, MatchRules rules)
    : reader_(&reader),
      session_(session == 0 ? session_to_replay(reader) : session),
      rules_(std::move(rules)) {
  std::optional<MatchIndexView> view;
  // The one in the file has all parameters.
  if (rules_.ignored_params.empty()) {
    view = MatchIndexView::parse(reader.match_index(), reader.entries().size());
  }
  if (!view) {
    own_index_ = build_match_index(reader, rules_.ignored_params);
    view = MatchIndexView::parse(own_index_, reader.entries().size());
    invariant(view.has_value(), "a match index that was just built does not parse");
  }
  index_ = *view;
  link_repeats();
}

void Matcher::link_repeats() {
  auto const all = reader_->entries();
  auto const count = static_cast<std::uint32_t>(all.size());
  next_repeat_.assign(count, kNone);
  next_sequence_.assign(count, kNone);
  first_answer_.assign(count, kNone);
  answering_.assign(count, false);
  for (std::uint32_t begin = 0; begin < count;) {
    auto end = begin + 1;
    while (end < count && all[end].key_hash == all[begin].key_hash) ++end;
    link_range(begin, end);
    begin = end;
  }
}

void Matcher::link_range(std::uint32_t begin, std::uint32_t end) {
  auto const all = reader_->entries();
  if (end - begin == 1) {  // the usual case, for which no map is needed
    bool const is_complete = all[begin].outcome == Outcome::kComplete;
    if (all[begin].session != session_ || (!is_complete && !rules_.failures)) return;
    answering_[begin] = true;
    has_broken_ |= !is_complete;
    first_answer_[begin] = begin;
    return;
  }
  constexpr Representation kValues = 0x7fff'7fff'7fff'7fff;
  std::unordered_map<Representation, std::uint32_t> last_of;
  auto last_sequence = kNone;
  auto const link = [&](std::uint32_t at) {
    answering_[at] = true;
    has_broken_ |= all[at].outcome != Outcome::kComplete;
    auto const representation = index_.representations()[at] & kValues;
    auto const [known, is_new] = last_of.try_emplace(representation, at);
    if (is_new) {
      if (last_sequence != kNone) next_sequence_[last_sequence] = at;
      last_sequence = at;
    } else {
      next_repeat_[known->second] = at;
      known->second = at;
    }
    if (first_answer_[begin] == kNone) first_answer_[begin] = at;
  };
  std::vector<std::uint32_t> cut_by_client;
  for (auto at = begin; at < end; ++at) {
    if (all[at].session != session_) continue;
    if (all[at].outcome == Outcome::kCutByClient) {
      cut_by_client.push_back(at);
    } else if (all[at].outcome == Outcome::kComplete || rules_.failures) {
      link(at);
    }
  }
  if (!rules_.failures) return;
  // An exchange that the client cut is better than nothing.
  auto const known = last_of;
  for (auto const at : cut_by_client) {
    if (!known.contains(index_.representations()[at] & kValues)) link(at);
  }
}

std::uint32_t Matcher::first_answer(std::uint64_t hash) const {
  auto const found = reader_->find_key(hash);
  if (found.empty()) return kNone;
  return first_answer_[static_cast<std::size_t>(found.data() - reader_->entries().data())];
}

Decision Matcher::decide_in_scheme(const AskedRequest& asked, SequenceCursors& cursors,
                                   const RequestOf& request_of) const {
  auto decision = decide_exactly(asked, cursors, request_of);
  if (decision.kind != MatchKind::kMiss) return decision;
  if (is_recorded_broken(asked.key)) return decision;
  if (compares_bodies()) {
    decision = decide_fuzzily(asked, cursors, request_of);
    if (decision.kind != MatchKind::kMiss) return decision;
  }
  if (has_broken_) {
    auto broken = decide_without_body(asked, cursors, request_of, true);
    if (broken.kind == MatchKind::kMiss && !rules_.exact_only) {
      broken = decide_broken(asked, cursors);
    }
    if (broken.kind != MatchKind::kMiss) return broken;
  }
  return decision;
}

Decision Matcher::decide(const AskedRequest& asked, SequenceCursors& cursors,
                         const RequestOf& request_of) const {
  auto decision = decide_in_scheme(asked, cursors, request_of);
  if (decision.kind != MatchKind::kMiss || is_recorded_broken(asked.key)) return decision;
  auto other = asked;
  if (!substitute_scheme(other)) return decision;
  decision = decide_in_scheme(other, cursors, request_of);
  decision.scheme_substituted = decision.kind != MatchKind::kMiss;
  return decision;
}

double Matcher::agreement_with(std::uint32_t ordinal, HeaderList headers) const {
  auto const exchange = reader_->exchange(ordinal);
  return exchange ? agreement(exchange->request.headers.list(), headers) : 0;
}

bool Matcher::is_recorded_broken(const MatchKey& key) const {
  auto const found = reader_->find_key(key_hash(key));
  auto const in_session = [this](const IndexEntry& entry) { return entry.session == session_; };
  return first_answer(key_hash(key)) == kNone && std::ranges::any_of(found, in_session);
}

template <class SameKey>
Decision Matcher::match_asked(const MatchKey& key, const AskedRequest& asked,
                              SequenceCursors& cursors, const RequestOf& request_of,
                              SameKey&& same_key) const {
  auto const same_cors = [&](std::uint32_t ordinal) {
    auto const* const recorded = request_of(ordinal);
    return recorded == nullptr || same_cors_fields(recorded->headers.list(), asked.headers);
  };
  Decision found;
  auto const takes = [&found, &asked](std::uint32_t ordinal) {
    found = {.kind = MatchKind::kExact, .ordinal = ordinal, .score = 100};
    return !asked.peeks;
  };
  (void)match(key, asked.headers, cursors, same_key, takes, same_cors);
  return found;
}

Decision Matcher::decide_exactly(const AskedRequest& asked, SequenceCursors& cursors,
                                 const RequestOf& request_of) const {
  auto const same_key = [&](std::uint32_t ordinal) {
    auto const* const recorded = request_of(ordinal);
    // Of an unreadable record only the hash is known, which is enough to explain the miss.
    return recorded == nullptr || is_same(*recorded, asked.key, false);
  };
  auto const decision = match_asked(asked.key, asked, cursors, request_of, same_key);
  if (decision.kind != MatchKind::kMiss || asked.body_bytes == 0) return decision;
  return decide_without_body(asked, cursors, request_of, false);
}

Decision Matcher::decide_without_body(const AskedRequest& asked, SequenceCursors& cursors,
                                      const RequestOf& request_of, bool broken) const {
  auto key = asked.key;
  key.body_digest = {};
  auto const same_key = [&](std::uint32_t ordinal) {
    bool const is_broken = reader_->entries()[ordinal].outcome != Outcome::kComplete;
    auto const* const recorded = is_broken == broken ? request_of(ordinal) : nullptr;
    return recorded != nullptr && is_same(*recorded, key, true);
  };
  return match_asked(key, asked, cursors, request_of, same_key);
}

Decision Matcher::decide_fuzzily(const AskedRequest& asked, SequenceCursors& cursors,
                                 const RequestOf& request_of) const {
  auto const group = group_hash(family_hash(asked.key), session_);
  auto& place = cursors.place_in(group);
  auto const candidates = find_candidates(index_, group, features_of(asked, rules_.ignored_params),
                                          place.load(std::memory_order_relaxed));
  Decision decision{.candidates = static_cast<std::uint32_t>(candidates.count),
                    .lists_read = candidates.lists_read};
  if (candidates.count == 0) return decision;
  auto const best = std::ranges::max_element(candidates.found(), {}, &Candidate::score)->score;
  decision.score = best;
  if (best < (rules_.exact_only ? 100 : kScoreMin)) return decision;
  auto const chosen = choose(asked, candidates, best, cursors);
  auto const& candidate = candidates.all[chosen];
  // Only hashes were compared so far: compare the text.
  auto const* const recorded = request_of(candidate.ordinal);
  if (recorded != nullptr && !same_place(key_of(*recorded), asked.key)) return decision;
  decision.kind = MatchKind::kFuzzy;
  decision.ordinal = candidate.ordinal;
  if (asked.peeks) return decision;
  cursors.give(candidate.ordinal);
  place.store(candidate.member - candidates.first_member + 1, std::memory_order_relaxed);
  return decision;
}

Decision Matcher::decide_broken(const AskedRequest& asked, SequenceCursors& cursors) const {
  // The received part of a cut body is random.
  auto const without_body = [](AskedRequest request) {
    request.key.body_digest = {};
    request.body_bytes = 0;
    request.body = {};
    return request;
  };
  auto const wanted = features_of(without_body(asked), rules_.ignored_params);
  std::size_t visits = 0;
  std::vector<std::uint32_t> broken;
  auto const entries = reader_->entries();
  reader_->visit_path(path_hash(asked.key.host, asked.key.target), [&](std::uint32_t ordinal) {
    if (++visits > kBrokenVisitsMax) return false;
    bool const is_complete = entries[ordinal].outcome == Outcome::kComplete;
    if (answering_[ordinal] && !is_complete) broken.push_back(ordinal);
    return true;
  });
  std::ranges::sort(broken, {}, [&](std::uint32_t each) { return entries[each].sequence; });
  Decision decision;
  bool best_is_given = false;
  for (auto const ordinal : broken) {
    if (decision.candidates >= kCandidatesMax) break;
    auto const exchange = reader_->exchange(ordinal);
    if (!exchange || !same_place(key_of(exchange->request), asked.key)) continue;
    auto const recorded =
        features_of(without_body(asked_as(exchange->request, {})), rules_.ignored_params);
    auto const fit = score(wanted, recorded);
    auto const given = cursors.given_[ordinal].load(std::memory_order_relaxed);
    ++decision.candidates;
    if (fit < kScoreMin || fit < decision.score) continue;
    // The first one left, or the last of those already served.
    if (fit == decision.score && !best_is_given) continue;
    decision.kind = MatchKind::kFuzzy;
    decision.ordinal = ordinal;
    decision.score = fit;
    best_is_given = given;
  }
  if (decision.kind != MatchKind::kMiss && !asked.peeks) cursors.give(decision.ordinal);
  return decision;
}

std::uint32_t Matcher::choose(const AskedRequest& asked, const Candidates& candidates,
                              unsigned best, const SequenceCursors& cursors) const {
  auto const representation = representation_of(asked.headers, {});
  auto const found = candidates.found();
  auto chosen = kNone;
  unsigned likeness_of_chosen = 0;
  auto chosen_is_given = true;
  for (std::uint32_t at = 0; at < found.size(); ++at) {
    if (found[at].score != best) continue;
    auto const alike = likeness(index_.representations()[found[at].ordinal], representation);
    auto const given = cursors.given_[found[at].ordinal].load(std::memory_order_relaxed);
    auto const better = [&] {
      if (chosen == kNone || alike != likeness_of_chosen) return alike > likeness_of_chosen;
      if (rules_.repeats == Repeats::kMostAlike) return found[at].member < found[chosen].member;
      if (given != chosen_is_given) return chosen_is_given;
      // The first one left, or the last of those already served.
      return given == (found[at].member > found[chosen].member);
    };
    if (chosen != kNone && !better()) continue;
    chosen = at;
    likeness_of_chosen = alike;
    chosen_is_given = given;
  }
  return chosen;
}

bool Matcher::substitute_scheme(AskedRequest& asked) const {
  auto& key = asked.key;
  auto const other = key.scheme == Scheme::kHttps ? Scheme::kHttp : Scheme::kHttps;
  if (rules_.exact_only || index_.has_site(site_hash(session_, key.scheme, key.host)) ||
      !index_.has_site(site_hash(session_, other, key.host))) {
    return false;
  }
  if (key.port == default_port(key.scheme)) key.port = default_port(other);
  key.scheme = other;
  return true;
}

}  // namespace reprise
