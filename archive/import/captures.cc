#include "archive/import/captures.h"

#include <algorithm>
#include <utility>

#include "archive/import/collect/draft_memory.h"

namespace reprise::importing {
namespace {

std::string by_digest(const std::string& digest) {
  return "d " + digest;
}
std::string by_place(const std::string& uri, const std::string& date) {
  return "u " + uri + " " + date;
}

bool names(const Capture& capture, const std::string& id) {
  return !id.empty() && std::ranges::find(capture.concurrent, id) != capture.concurrent.end();
}

/// Some tools encode a POST in the URL of its record. Without its request record nothing else is
/// known of it.
void unfold_method(ExchangeDraft& draft) {
  constexpr std::string_view kMark = "__wb_method=";
  auto& target = draft.url.target;
  auto const at = target.find(kMark);
  if (at == std::string::npos || at == 0 || (target[at - 1] != '?' && target[at - 1] != '&'))
    return;
  auto const method = target.substr(at + kMark.size());
  draft.method = method.substr(0, method.find('&'));
  if (draft.method.empty()) draft.method = "GET";
  target.resize(at - 1);
  draft.request_body_unknown = true;
}

/// The request line has the target as sent, unless it went to a proxy under another name.
void take_target(const std::string& sent, ExchangeDraft& draft) {
  auto const* const host = find_field(draft.request_fields, "Host");
  if (auto const absolute = parse_url(sent)) {
    draft.url.target = absolute->target;
  } else if (sent == "*") {
    draft.url.target = sent;
  } else if (sent.starts_with('/') &&
             (host == nullptr ||
              equals_ignoring_case(host->substr(0, host->find(':')), draft.url.host))) {
    draft.url.target = clean_target(sent);
  }
}

}  // namespace

std::size_t Captures::Waiting::memory_bytes() const {
  auto bytes = memory_of(draft) + capture.id.size() + capture.uri.size();
  for (auto const& id : capture.concurrent) bytes += sizeof id + id.size();
  if (referral) bytes += referral->uri.size() + referral->date.size() + referral->digest.size();
  return bytes;
}

/// Appends to requests_ or responses_.
void Captures::wait(Queue& queue, Waiting half) {
  waiting_bytes_ += half.memory_bytes();
  queue.push_back(std::move(half));
  limit_waiting();
}

/// Takes one of them.
Captures::Waiting Captures::take(Queue& queue, Queue::iterator at) {
  auto half = std::move(*at);
  queue.erase(at);
  waiting_bytes_ -= half.memory_bytes();
  return half;
}

/// Lets go of the oldest halves.
void Captures::limit_waiting() {
  while (requests_.size() > kWaitingMax) let_go_of_request();
  while (responses_.size() > kWaitingMax) let_go_of_response();
  while (waiting_bytes_ > kWaitingBytesMax) {
    bool const is_request =
        responses_.empty() ||
        (!requests_.empty() && requests_.front().capture.order < responses_.front().capture.order);
    if (is_request) {
      let_go_of_request();
    } else {
      let_go_of_response();
    }
  }
}

/// The other half of an exchange: one names the other, or neither names any, and they are adjacent
/// with the same URI.
Captures::Queue::iterator Captures::find_partner(Queue& queue, const Capture& capture,
                                                 bool was_last) {
  auto const named = std::ranges::find_if(queue, [&capture](const Waiting& other) {
    return names(capture, other.capture.id) || names(other.capture, capture.id);
  });
  if (named != queue.end() || !was_last || queue.empty()) return named;
  auto const last = std::prev(queue.end());
  bool const fits = capture.uri == last->capture.uri && capture.concurrent.empty() &&
                    last->capture.concurrent.empty();
  return fits ? last : queue.end();
}

/// The record before or after this one, if it has the same URI and both name records that do not
/// exist. (Some tools name the warcinfo record, or one that they dropped later.)
Captures::Queue::iterator Captures::find_neighbour(Queue& queue, const Capture& capture) {
  return std::ranges::find_if(queue, [&capture](const Waiting& other) {
    auto const& [at, next] = std::minmax(other.capture.order, capture.order);
    return at + 1 == next && other.capture.uri == capture.uri;
  });
}

/// Adds the first request alone: the response that it names did not come.
void Captures::let_go_of_request() {
  auto request = take(requests_, requests_.begin());
  auto const response = find_neighbour(responses_, request.capture);
  if (response == responses_.end()) {
    ++collector_.report().requests_alone;
    return;
  }
  pair(std::move(request), take(responses_, response));
}

/// The same for the first response.
void Captures::let_go_of_response() {
  auto response = take(responses_, responses_.begin());
  auto const request = find_neighbour(requests_, response.capture);
  if (request == requests_.end()) return leave(std::move(response));
  pair(take(requests_, request), std::move(response));
}

void Captures::add_request(Capture capture, ExchangeDraft draft) {
  capture.order = ++records_;
  Waiting request{std::move(capture), std::move(draft), std::nullopt};
  auto const response = find_partner(responses_, request.capture, last_ == Last::kResponse);
  last_ = Last::kRequest;
  if (response != responses_.end()) return pair(std::move(request), take(responses_, response));
  wait(requests_, std::move(request));
}

void Captures::add_response(Capture capture, ExchangeDraft draft) {
  add_answer({std::move(capture), std::move(draft), std::nullopt});
}

void Captures::add_revisit(Capture capture, ExchangeDraft draft, Referral referral) {
  add_answer({std::move(capture), std::move(draft), std::move(referral)});
}

void Captures::add_answer(Waiting response) {
  response.draft.sequence = collector_.next_sequence();
  response.capture.order = ++records_;
  auto const request = find_partner(requests_, response.capture, last_ == Last::kRequest);
  last_ = Last::kResponse;
  if (request != requests_.end()) return pair(take(requests_, request), std::move(response));
  wait(responses_, std::move(response));
}

void Captures::pair(Waiting request, Waiting response) {
  auto& draft = response.draft;
  draft.method = std::move(request.draft.method);
  draft.request_version = request.draft.request_version;
  draft.request_fields = std::move(request.draft.request_fields);
  draft.request_body = std::move(request.draft.request_body);
  draft.request_body_unknown = request.draft.request_body_unknown;
  draft.queued = request.capture.date ? request.capture.date : response.capture.date;
  if (draft.address.empty()) draft.address = std::move(request.draft.address);
  take_target(request.draft.url.target, draft);
  complete(std::move(response));
}

/// Adds a response without its request.
void Captures::leave(Waiting response) {
  unfold_method(response.draft);
  response.draft.queued = response.capture.date;
  complete(std::move(response));
}

void Captures::complete(Waiting exchange) {
  if (!exchange.referral) return collector_.add(std::move(exchange.draft));
  ++collector_.report().revisits;
  if (auto const* const original = find_original(*exchange.referral)) {
    take_over(*original, exchange.draft);
    return collector_.add(std::move(exchange.draft));
  }
  revisit_bytes_ += exchange.memory_bytes();
  revisits_.push_back(std::move(exchange));
  while (revisits_.size() > kRevisitsMax || revisit_bytes_ > kRememberedBytesMax) {
    auto oldest = std::move(revisits_.front());
    revisits_.pop_front();
    revisit_bytes_ -= oldest.memory_bytes();
    oldest.draft.body.kept = false;
    collector_.add(std::move(oldest.draft));
  }
}

void Captures::take_over(const Original& original, ExchangeDraft& draft) {
  ++collector_.report().revisits_resolved;
  draft.body = original.body;
  if (draft.outcome == Outcome::kComplete) {
    draft.outcome = original.outcome;
    draft.failure = original.failure;
  }
  if (draft.status != 0) return;
  draft.status = original.status;
  draft.reason = original.reason;
  draft.version = original.version;
  draft.fields = original.fields;
}

const Captures::Original* Captures::find_original(const Referral& referral) const {
  auto const at = [this](const std::string& key) {
    auto const found = places_.find(key);
    return found == places_.end() ? nullptr : &originals_[found->second];
  };
  auto const* const by_its_place =
      referral.uri.empty() ? nullptr : at(by_place(referral.uri, referral.date));
  auto const* const by_its_digest =
      referral.digest.empty() ? nullptr : at(by_digest(referral.digest));
  // Dates have whole seconds: two responses can have one place.
  bool const differs = by_its_place != nullptr && by_its_digest != nullptr &&
                       !by_its_place->digest.empty() && by_its_place->digest != referral.digest;
  return by_its_place == nullptr || differs ? by_its_digest : by_its_place;
}

void Captures::remember(const Referral& place, const ExchangeDraft& draft) {
  if (remembered_bytes_ > kRememberedBytesMax) {
    return collector_.report().remark("too many records: later revisit records cannot be resolved");
  }
  remembered_bytes_ +=
      sizeof(Original) + 2 * (place.uri.size() + place.digest.size() + 200) + memory_of(draft);
  places_.try_emplace(by_place(place.uri, place.date), originals_.size());
  if (!place.digest.empty()) places_.try_emplace(by_digest(place.digest), originals_.size());
  originals_.push_back({.digest = place.digest,
                        .status = draft.status,
                        .reason = draft.reason,
                        .version = draft.version,
                        .fields = draft.fields,
                        .body = draft.body,
                        .outcome = draft.outcome,
                        .failure = draft.failure});
}

void Captures::end_file() {
  last_ = Last::kNone;
  while (!responses_.empty()) let_go_of_response();
  while (!requests_.empty()) let_go_of_request();
  ++records_;  // records of two files are not neighbours
}

void Captures::end_import() {
  for (Waiting& revisit : revisits_) {
    if (auto const* const original = find_original(*revisit.referral)) {
      take_over(*original, revisit.draft);
    } else {
      revisit.draft.body.kept = false;
      revisit.draft.failure = "its body is in another recording";
      if (revisit.draft.status == 0) revisit.draft.failure = "the recording contains no response";
    }
    collector_.add(std::move(revisit.draft));
  }
  revisits_.clear();
}

}  // namespace reprise::importing
