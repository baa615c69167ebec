// What a replay does where no recorded exchange answers as it is.

#include <spdlog/spdlog.h>

#include "proxy/replay/browser_requests.h"
#include "proxy/replay/preflight.h"
#include "proxy/replay/replay.h"
#include "proxy/replay/response/other_form.h"
#include "proxy/replay/response/stitched_parts.h"
#include "proxy/replay/timed_response.h"

namespace reprise {

Task<void> Replay::serve_other_form(Decision decision, const AskedRequest& asked,
                                    const RequestHead& head, Time whole_at,
                                    ResponseWriter& writer) {
  auto const entry = prepared_.get(decision.ordinal);
  const Exchange& chosen = entry->exchange();
  auto const usable = [&head](const Exchange& each) { return fits(each, head.headers); };
  auto const coded = [&](const Exchange& each) { return needs_dictionary(each) && usable(each); };
  bool const as_it_is = usable(chosen);
  // What the client cut may be there as a whole by another request.
  bool const cut = chosen.outcome == Outcome::kCutByClient;
  auto other = find_form(archive_, decision.ordinal, coded);
  if (!other && (!as_it_is || cut)) other = find_form(archive_, decision.ordinal, usable);
  if (other) decision.ordinal = *other;
  if (other || (as_it_is && !cut)) {
    co_return co_await serve_chosen(decision, asked, head, whole_at, writer);
  }
  bool const part = cut || is_other_part(chosen, head.headers);
  const StitchedParts* const parts = part ? stitched(decision.ordinal) : nullptr;
  auto const fields = moved_back(head.headers);
  RequestHead unshifted = head;
  unshifted.headers = fields.list();
  if (parts != nullptr && parts->answers(unshifted)) {
    count_hit(decision, chosen, asked, head.version);
    auto why = parts->coverage() + ", from " + std::to_string(parts->parts()) + " recorded parts";
    ledger_.add_special(Special::kStitched, asked.key, std::move(why));
    TimedResponse timed(entry->schedule(), whole_at, writer, ledger_);
    if (auto const waited = co_await timed.think(); !waited) co_return waited;
    co_return co_await send_selected(unshifted, parts->whole(), writer);
  }
  if (as_it_is) co_return co_await serve_chosen(decision, asked, head, whole_at, writer);
  std::string reason(why_unfit(chosen, head.headers));
  if (parts != nullptr) reason += ": " + parts->coverage();
  auto const miss = ledger_.add_miss(asked, std::move(reason), matcher_.nearest(asked));
  co_return co_await send_miss(miss, writer);
}

const StitchedParts* Replay::stitched(std::uint32_t ordinal) {
  auto like = prepared_.get(ordinal);
  std::scoped_lock const lock(stitched_mutex_);
  auto const known = stitched_.find(ordinal);
  if (known != stitched_.end()) return known->second.parts.get();
  if (like->response() == nullptr || stitched_.size() >= kStitchedMax) return nullptr;
  StitchedParts::Sources sources{.archive = archive_,
                                 .cut_too = matcher_.rules().failures,
                                 .on_damage = [this, ordinal](const std::string& problem) {
                                   auto const damaged = prepared_.get(ordinal);
                                   ledger_.turn_hit_into_miss(damaged->exchange().request, problem);
                                 }};
  auto made = StitchedParts::of(std::move(sources), ordinal, *like->response());
  Stitched stitched{.like = std::move(like), .parts = std::move(made)};
  return stitched_.emplace(ordinal, std::move(stitched)).first->second.parts.get();
}

Task<void> Replay::answer_unmatched(const AskedRequest& asked, ResponseWriter& writer) {
  std::string reason(matcher_.miss_reason(asked.key));
  if (is_preflight(asked)) {
    auto under = asked;
    matcher_.substitute_scheme(under);
    auto const allowed = answer_preflight(archive_, matcher_.session(), under);
    if (allowed) co_return co_await send_made_up(asked, *allowed, writer);
    reason = allowed.error();
  }
  if (auto const own = answer_browser(asked)) co_return co_await send_made_up(asked, *own, writer);
  auto const miss = ledger_.add_miss(asked, std::move(reason), matcher_.nearest(asked));
  co_return co_await send_miss(miss, writer);
}

Task<void> Replay::send_made_up(const AskedRequest& asked, const MadeUp& answer,
                                ResponseWriter& writer) {
  ledger_.add_special(answer.special, asked.key, answer.why);
  auto const length = std::to_string(answer.body.size());
  std::vector<HeaderView> fields(answer.headers.list().begin(), answer.headers.list().end());
  if (answer.status != 204) fields.push_back({.name = "Content-Length", .value = length});
  ResponseHead const head{
      .status = answer.status, .reason = reason_phrase(answer.status), .headers = fields};
  if (auto const sent = co_await writer.send_head(head); !sent) co_return sent;
  if (auto const sent = co_await writer.write(bytes_of(answer.body)); !sent) co_return sent;
  co_return co_await writer.finish({});
}

Task<void> Replay::send_miss(const Miss& miss, ResponseWriter& writer) {
  spdlog::info("miss: {} {} ({})", miss.method, miss.url, miss.reason);
  auto text = "reprise: " + miss.reason + ": " + miss.method + " " + miss.url + "\n";
  for (const NearMiss& near : miss.nearest) text += "near: " + near.url + " (" + near.why + ")\n";
  co_return co_await send_text(writer, 404, text);
}

}  // namespace reprise
