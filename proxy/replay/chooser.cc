#include "proxy/replay/chooser.h"

#include <charconv>

#include "archive/match/parameters.h"
#include "archive/web_socket.h"
#include "proxy/replay/browser_requests.h"
#include "proxy/replay/preflight.h"
#include "proxy/replay/response/other_form.h"
#include "proxy/replay/response/stitched_parts.h"

namespace reprise {

using Kind = Answer::Kind;

MatchKey key_of(const RequestHead& head) {
  // A WebSocket is stored under its method over h2.
  return {.method = head.protocol.empty() ? head.method : "CONNECT",
          .scheme = head.scheme,
          .host = head.host,
          .port = head.port,
          .target = head.target};
}

template <class Takes>
Decision Chooser::find(const MatchKey& key, HeaderList headers, Sequences& sequences,
                       Takes&& takes) const {
  auto const same_key = [this, &key](std::uint32_t ordinal) {
    auto const entry = from_.exchanges.get(ordinal);
    const StoredRequest& request = entry->exchange().request;
    // Of an unreadable record only the hash is known, which is enough to explain the miss.
    if (request.method.empty()) return true;
    return request.target == key.target && request.host == key.host &&
           request.method == key.method && request.scheme == key.scheme &&
           request.port == key.port && key_of(request).body_digest == key.body_digest &&
           !request.body_partial;
  };
  auto const same_cors = [this, headers](std::uint32_t ordinal) {
    auto const entry = from_.exchanges.get(ordinal);
    const StoredRequest& request = entry->exchange().request;
    return request.method.empty() || same_cors_fields(request.headers.list(), headers);
  };
  return from_.matcher.match(key, headers, sequences.cursors, same_key, takes, same_cors);
}

std::optional<Answer> Chooser::choose_prepared(const RequestHead& head, AskedConnection& connection,
                                               Sequences& sequences) const {
  if (connection.is_misdirected(head, from_.tls_plans)) return std::nullopt;
  // Must be examined.
  if (is_conditional_or_partial(head.headers) ||
      find_header(head.headers, "Available-Dictionary")) {
    return std::nullopt;
  }
  AskedRequest const asked{.key = key_of(head), .headers = head.headers};
  bool const preflight = is_preflight(asked);
  PreparedCache::Entry next;
  auto const is_ready = [&](std::uint32_t ordinal) {
    next = from_.exchanges.get(ordinal);
    return next->response() != nullptr && next->fits_all() && next->schedule().is_at_once() &&
           (!preflight || answers_preflight(next->exchange(), asked));
  };
  auto const decision = find(asked.key, head.headers, sequences, is_ready);
  if (decision.kind == MatchKind::kMiss) return std::nullopt;
  std::optional<Answer> answer(std::in_place);
  answer->kind = Kind::kStored;
  answer->decision = decision;
  answer->form = from_.exchanges.form_for(head, next, decision.ordinal);
  sequences.note(decision.ordinal, answer->form);
  answer->exchange = std::move(next);
  return answer;
}

std::optional<Answer> Chooser::choose_by_head(const RequestHead& head, AskedConnection& connection,
                                              bool content_follows, Sequences& sequences) const {
  if (connection.is_misdirected(head, from_.tls_plans)) {
    return Answer{.kind = Kind::kMisdirected, .connection_host = connection.host()};
  }
  if (!content_follows) return std::nullopt;
  auto length = std::uint64_t{kNormalisedBodyBytesMax} + 1;
  if (auto const text = find_header(head.headers, "Content-Length")) {
    std::from_chars(text->data(), text->data() + text->size(), length);
  }
  // If the origin refused it without reading, requesting the content would be a different
  // conversation.
  bool const waits = header_has_token(head.headers, "Expect", "100-continue");
  if (!waits && length <= kNormalisedBodyBytesMax) return std::nullopt;  // it will be here soon
  AskedRequest const asked{.key = key_of(head), .headers = head.headers};
  auto const next = sequences.early.next(asked.key);
  if (!next) return std::nullopt;
  if (waits && !from_.exchanges.get(*next)->exchange().request.body_partial) return std::nullopt;
  return answer_by({.kind = MatchKind::kExact, .ordinal = *next, .score = 100}, head, asked,
                   sequences);
}

Answer Chooser::choose(const RequestHead& head, const AskedRequest& asked,
                       Sequences& sequences) const {
  PreparedCache::Entry looked_at;
  auto const request_of = [this, &looked_at](std::uint32_t ordinal) {
    looked_at = from_.exchanges.get(ordinal);
    const StoredRequest& request = looked_at->exchange().request;
    return request.method.empty() ? nullptr : &request;
  };
  auto const decision = head.method == "HEAD"
                            ? decide_head(head, asked, sequences, request_of)
                            : from_.matcher.decide(asked, sequences.cursors, request_of);
  if (decision.kind == MatchKind::kMiss) return answer_unmatched(asked);
  if (is_preflight(asked)) {
    auto const entry = from_.exchanges.get(decision.ordinal);
    bool const answers = answers_preflight(entry->exchange(), asked);
    if (!answers && entry->problem().empty()) return answer_unmatched(asked);
  }
  return answer_by(decision, head, asked, sequences);
}

Decision Chooser::decide_head(const RequestHead& head, const AskedRequest& asked,
                              Sequences& sequences, const Matcher::RequestOf& request_of) const {
  auto decision = find(asked.key, head.headers, sequences, Matcher::Always());
  if (decision.kind != MatchKind::kMiss) return decision;
  auto get = asked;
  get.key.method = "GET";
  get.peeks = true;
  // The exact GET before a similar HEAD, if it has a head to give.
  auto const look = [&](std::uint32_t ordinal) {
    auto const entry = from_.exchanges.get(ordinal);
    auto const status = entry->exchange().response.status;
    if (status != 0 && (status != 304 || fits(entry->exchange(), head.headers))) {
      decision = {.kind = MatchKind::kExact, .ordinal = ordinal, .score = 100};
    }
    return false;  // it stays the next one
  };
  (void)find(get.key, head.headers, sequences, look);
  if (decision.kind != MatchKind::kMiss) return decision;
  decision = from_.matcher.decide(asked, sequences.cursors, request_of);
  if (decision.kind != MatchKind::kMiss || from_.matcher.is_recorded_broken(asked.key)) {
    return decision;
  }
  return from_.matcher.decide(get, sequences.cursors, request_of);
}

Answer Chooser::answer_by(Decision decision, const RequestHead& head, const AskedRequest& asked,
                          Sequences& sequences) const {
  auto entry = from_.exchanges.get(decision.ordinal);
  const PreparedExchange& chosen = *entry;
  if (!head.protocol.empty() && opens_web_socket(chosen.exchange()) &&
      chosen.response() != nullptr) {
    return {.kind = Kind::kWebSocket,
            .decision = decision,
            .exchange = entry,
            .form = {.response = {entry, chosen.response()}}};
  }
  bool const fits = chosen.fits_all() && !find_header(head.headers, "Available-Dictionary");
  if (fits || !chosen.problem().empty()) {
    return answer_as_recorded(decision, head, asked, sequences);
  }
  return answer_in_other_form(decision, head, asked, sequences);
}

Answer Chooser::answer_as_recorded(const Decision& decision, const RequestHead& head,
                                   const AskedRequest& asked, Sequences& sequences) const {
  Answer answer{.decision = decision, .exchange = from_.exchanges.get(decision.ordinal)};
  const PreparedExchange& chosen = *answer.exchange;
  if (chosen.broken()) {
    bool const head_alone = head.method == "HEAD" && chosen.response() != nullptr;
    answer.kind = head_alone ? Kind::kBrokenHead : Kind::kBroken;
    answer.form.response = {answer.exchange, chosen.response()};
    return answer;
  }
  answer.form = from_.exchanges.form_for(head, answer.exchange, decision.ordinal);
  if (answer.form.response == nullptr) {
    answer.kind = Kind::kDamaged;
    answer.miss = ReplayLedger::miss_by_damage(asked, chosen.problem());
    return answer;
  }
  auto const& recorded = chosen.exchange().request;
  bool const of_get = recorded.method == "GET";
  answer.kind = of_get && head.method == "HEAD" ? Kind::kHead : Kind::kStored;
  // A 200 to the same conditions is what the origin made of them.
  auto const shift = from_.exchanges.date_shift();
  if (of_get && answer.form.response->parts().head.status == 200 &&
      is_conditional_or_partial(head.headers) &&
      !same_conditions(recorded.headers.list(), head.headers, shift)) {
    answer.kind = Kind::kSelected;
    answer.selected = select(head.method, head.headers, answer.whole(), shift);
    auto& kind = answer.selected.kind;
    bool const is_for_copy =
        kind == Selected::Kind::kNotModified ||
        (kind == Selected::Kind::kParts && find_header(head.headers, "If-Range"));
    bool const may_be_old = is_for_copy && answer.form.is_rewritten;
    if (may_be_old && !was_served_rewritten(decision.ordinal, sequences)) {
      kind = Selected::Kind::kAll;
    }
  }
  bool const all = answer.kind != Kind::kSelected || answer.selected.kind == Selected::Kind::kAll;
  if (all && head.method != "HEAD") sequences.note(decision.ordinal, answer.form);
  return answer;
}

bool Chooser::was_served_rewritten(std::uint32_t ordinal, const Sequences& sequences) const {
  auto const entries = from_.archive.entries();
  auto const repeats = from_.archive.find_key(entries[ordinal].key_hash);
  auto const first = static_cast<std::size_t>(repeats.data() - entries.data());
  auto const like = from_.exchanges.get(ordinal);
  auto const etag_of = [](const Exchange& each) {
    return find_header(each.response.headers.list(), "ETag");
  };
  for (auto at = first; at < first + std::min(repeats.size(), kFormsMax); ++at) {
    if (!sequences.rewritten[at]) continue;
    auto const served = from_.exchanges.get(static_cast<std::uint32_t>(at));
    auto const& exchange = served->exchange();
    if (exchange.response.body.digest == like->exchange().response.body.digest &&
        etag_of(exchange) == etag_of(like->exchange())) {
      return true;
    }
  }
  return false;
}

Answer Chooser::answer_in_other_form(Decision decision, const RequestHead& head,
                                     const AskedRequest& asked, Sequences& sequences) const {
  auto const entry = from_.exchanges.get(decision.ordinal);
  const Exchange& chosen = entry->exchange();
  auto const usable = [&head](const Exchange& each) { return fits(each, head.headers); };
  auto const coded = [&](const Exchange& each) { return needs_dictionary(each) && usable(each); };
  bool const as_it_is = usable(chosen);
  // A response cut by the client may have been recorded completely for another request.
  bool const cut = chosen.outcome == Outcome::kCutByClient;
  bool const is_part = cut || is_other_part(chosen, head.headers);
  // A redirect or an error that another range got does not have the bytes of this one.
  auto const replaces = [&](const Exchange& each) {
    return usable(each) &&
           (!is_part || each.response.status == 200 || has_same_range(each, head.headers));
  };
  std::optional<std::uint32_t> other;
  if (!coded(chosen)) {
    other = find_form(from_.archive, decision.ordinal, FormSearch::kLaterFirst, coded);
  }
  if (!other && (!as_it_is || cut)) {
    // "Not modified" is about an earlier answer.
    auto const search =
        chosen.response.status == 304 ? FormSearch::kEarlierFirst : FormSearch::kLaterFirst;
    other = find_form(from_.archive, decision.ordinal, search, replaces);
  }
  if (other) decision.ordinal = *other;
  if (other || (as_it_is && !cut)) return answer_as_recorded(decision, head, asked, sequences);

  const StitchedParts* const parts = is_part ? from_.files.of(decision.ordinal) : nullptr;
  if (parts != nullptr) {
    auto selected = select(head.method, head.headers, parts->whole(), from_.exchanges.date_shift());
    if (parts->have(selected)) {
      decision.ordinal = parts->ordinal();
      return {.kind = Kind::kStitched,
              .decision = decision,
              .exchange = from_.exchanges.get(decision.ordinal),
              .selected = std::move(selected),
              .parts = parts};
    }
  }
  if (as_it_is) return answer_as_recorded(decision, head, asked, sequences);
  std::string reason(why_unfit(chosen, head.headers));
  if (parts != nullptr) reason += ": " + parts->coverage();
  return miss(asked, std::move(reason));
}

Answer Chooser::answer_unmatched(const AskedRequest& asked) const {
  std::string reason(from_.matcher.miss_reason(asked.key));
  if (is_preflight(asked)) {
    auto under = asked;
    from_.matcher.substitute_scheme(under);
    auto allowed = answer_preflight(from_.archive, from_.matcher.session(), under);
    if (allowed) return {.kind = Kind::kMadeUp, .made_up = std::move(*allowed)};
    reason = std::move(allowed.error());
  }
  if (auto own = answer_browser(asked)) return {.kind = Kind::kMadeUp, .made_up = std::move(*own)};
  return miss(asked, std::move(reason));
}

Answer Chooser::miss(const AskedRequest& asked, std::string reason) const {
  auto nearest = from_.matcher.nearest(asked);
  return {.kind = Kind::kMiss,
          .miss = ReplayLedger::miss_of(asked, std::move(reason), std::move(nearest))};
}

}  // namespace reprise
