#include "tools/why/hybrid_response.h"

#include <algorithm>
#include <utility>

#include "analysis/differences/content.h"
#include "analysis/differences/fields.h"
#include "analysis/differences/tokens.h"
#include "archive/copy.h"
#include "archive/edit/reply.h"
#include "base/bytes.h"
#include "base/coding/coding.h"
#include "proxy/whatif/reply_changes.h"

namespace reprise {
namespace {

using whatif::Reply;
using FieldViews = std::vector<HeaderView>;

std::unexpected<std::string> cannot(const Exchange& exchange, const std::string& why) {
  return std::unexpected(url_of(exchange.request) + ": " + why);
}

/// `into` with the fields that `takes` selects from `from` alone.
template <class Takes>
Headers mixed(HeaderList into, HeaderList from, Takes takes) {
  FieldViews fields;
  for (const HeaderView& field : into) {
    if (!takes(field.name)) fields.push_back(field);
  }
  for (const HeaderView& field : from) {
    if (takes(field.name)) fields.push_back(field);
  }
  return Headers(fields);
}

/// The value of the first 'nonce-...' of a policy.
std::string nonce_in_policy(HeaderList fields) {
  constexpr std::string_view kNonce = "'nonce-";
  for (const HeaderView& field : fields) {
    if (!equals_ignoring_case(field.name, "content-security-policy")) continue;
    auto const at = field.value.find(kNonce);
    if (at == field.value.npos) continue;
    auto const begin = at + kNonce.size();
    auto const end = std::min(field.value.find('\'', begin), field.value.size());
    return std::string(field.value.substr(begin, end - begin));
  }
  return {};
}

/// Times of `b` as if its head had arrived when that of `a` did.
void take_body_times(Exchange& into, const Exchange& from) {
  auto const head = into.timings.first_byte;
  auto const other = from.timings.first_byte;
  into.response.chunk_times = from.response.chunk_times;
  into.response.timed_bytes.reset();
  if (!from.response.chunk_times.empty()) {
    into.response.timed_bytes = from.response.timed_size_bytes();
  }
  if (head == kNoTime || other == kNoTime) {
    into.timings.first_byte = other;
    into.timings.end = from.timings.end;
    into.timings.request_sent = from.timings.request_sent;
    into.timings.queued = from.timings.queued;
    return;
  }
  auto const moved = [&](SessionTime time) {
    return time == kNoTime ? kNoTime : time - other + head;
  };
  for (ChunkTime& chunk : into.response.chunk_times) chunk.time = moved(chunk.time);
  into.timings.end = moved(from.timings.end);
}

/// Interim responses of `from`: as long after the request as there, and not after the head.
void take_interim(Exchange& into, const Exchange& from) {
  auto const head = into.timings.first_byte;
  auto const sent = into.timings.request_sent;
  auto const other = from.timings.request_sent;
  into.interim = from.interim;
  for (StoredInterimResponse& each : into.interim) {
    if (each.time == kNoTime) continue;
    bool const known = sent != kNoTime && other != kNoTime;
    each.time = known ? each.time - other + sent : head;
    if (head != kNoTime) each.time = std::min(each.time, head);
  }
}

class Maker {
 public:
  Maker(const ExchangeIn& a, const ExchangeIn& b, const TakenParts& parts, ArchiveWriter& to)
      : a_(a), b_(b), parts_(parts), to_(to), made_(a.exchange) {}

  std::expected<Exchange, std::string> make() && {
    auto request = copy_body(a_.archive, made_.request.body, to_);
    if (!request) return cannot(a_.exchange, "its request's body is damaged in A");
    made_.request.body = std::move(*request);
    if (parts_.reply) return take_reply();
    for (auto const kind : parts_.fields) take_fields(kind);
    if (parts_.edits != nullptr || parts_.coding) return put_document_together();
    auto const& source = parts_.body ? b_ : a_;
    if (parts_.body) {
      take_fields_of_body();
      take_body_times(made_, b_.exchange);
    }
    auto const policy = nonce_in_policy(a_.exchange.response.headers.list());
    if (parts_.body && !policy.empty()) return store_fitting(policy);
    return store_body_of(source);
  }

 private:
  std::expected<Exchange, std::string> take_reply() {
    made_.response = b_.exchange.response;
    made_.outcome = b_.exchange.outcome;
    made_.failure = b_.exchange.failure;
    take_body_times(made_, b_.exchange);
    if (b_.exchange.response.status == 0) made_.timings = b_.exchange.timings;
    take_interim(made_, b_.exchange);
    return store_body_of(b_);
  }

  void take_fields(DifferenceKind kind) {
    auto& reply = made_.response;
    reply.headers = mixed(reply.headers.list(), b_.exchange.response.headers.list(),
                          [kind](std::string_view name) { return is_field_of(name, kind); });
    if (kind == DifferenceKind::kHints) take_interim(made_, b_.exchange);
    if (kind != DifferenceKind::kPolicy) return;
    auto const old_value = nonce_in_policy(b_.exchange.response.headers.list());
    auto const value = nonce_in_policy(a_.exchange.response.headers.list());
    std::vector<std::string> values;  // that the fields borrow
    for (const HeaderView& field : reply.headers.list()) {
      values.push_back(with_nonce(field.value, old_value, value));
    }
    FieldViews fields;
    for (std::size_t i = 0; i < values.size(); ++i) {
      fields.push_back({.name = reply.headers.list()[i].name, .value = values[i]});
    }
    reply.headers = Headers(fields);
  }

  void take_fields_of_body() {
    made_.response.headers =
        mixed(made_.response.headers.list(), b_.exchange.response.headers.list(), is_field_of_body);
  }

  std::expected<Exchange, std::string> store_body_of(const ExchangeIn& of) {
    auto body = copy_body(of.archive, of.exchange.response.body, to_);
    if (!body) return cannot(of.exchange, "its body is damaged");
    made_.response.body = std::move(*body);
    return std::move(made_);
  }

  std::expected<Exchange, std::string> store(const coding::Buffer& bytes) {
    auto body = store_body(to_, bytes);
    if (!body) return cannot(a_.exchange, body.error().message());
    set_body(made_.response, std::move(*body));
    return std::move(made_);
  }

  std::expected<coding::Buffer, std::string> stored_bytes(const ExchangeIn& of) const {
    auto bytes = of.archive.read_body(of.exchange.response.body, kComparedBytesMax);
    if (!bytes) return cannot(of.exchange, "its body is damaged");
    return std::move(*bytes);
  }

  /// The body of B, whose scripts the policy of A would not permit without its own nonce.
  std::expected<Exchange, std::string> store_fitting(const std::string& nonce) {
    auto bytes = stored_bytes(b_);
    if (!bytes) return store_body_of(b_);  // too large to be a document with nonces
    auto const old_value = nonce_in_policy(b_.exchange.response.headers.list());
    Reply reply{.stored = made_.response, .body = std::move(*bytes)};
    auto const plain = whatif::plain_body(reply);
    if (!plain) return store_body_of(b_);
    auto const fitting = with_nonce(text_of(*plain), old_value, nonce);
    if (fitting == text_of(*plain)) return store_body_of(b_);
    return replace(reply, fitting);
  }

  std::expected<Exchange, std::string> put_document_together() {
    auto bytes = stored_bytes(a_);
    if (!bytes) return std::unexpected(bytes.error());
    Reply reply{.stored = made_.response, .body = std::move(*bytes)};
    auto const plain = whatif::plain_body(reply);
    if (!plain) return cannot(a_.exchange, plain.error());
    if (parts_.coding) {
      auto const codings = coding::codings_of(b_.exchange.response.headers.list());
      if (!codings) return cannot(b_.exchange, codings.error().message());
      auto const coding = codings->empty() ? std::nullopt : std::optional(codings->back());
      if (auto const done = whatif::compress(reply, coding); !done) {
        return cannot(a_.exchange, done.error());
      }
    }
    std::string text(text_of(*plain));
    if (parts_.edits != nullptr) text = with_edits(text, *parts_.edits, parts_.taken_edits);
    return replace(reply, text);
  }

  std::expected<Exchange, std::string> replace(Reply& reply, std::string_view text) {
    auto const bytes = bytes_of(text);
    auto const done = whatif::replace_plain(reply, coding::Buffer(bytes.begin(), bytes.end()));
    if (!done) return cannot(a_.exchange, done.error());
    return store(reply.body);
  }

  ExchangeIn a_;
  ExchangeIn b_;
  const TakenParts& parts_;
  ArchiveWriter& to_;
  Exchange made_;
};

}  // namespace

void take_pauses(Exchange& into, const Exchange& from) {
  auto const size = into.response.body.size_bytes;
  auto const other = from.response.body.size_bytes;
  bool const timed = into.timings.first_byte != kNoTime && from.timings.first_byte != kNoTime;
  if (timed && size > 0 && other > 0) take_body_times(into, from);
}

void take_offers(Exchange& into, const Headers& from) {
  auto const is_offer = [](std::string_view name) { return equals_ignoring_case(name, "alt-svc"); };
  into.response.headers = mixed(into.response.headers.list(), from.list(), is_offer);
}

std::expected<Exchange, std::string> put_together(const ExchangeIn& a, const ExchangeIn& b,
                                                  const TakenParts& parts, ArchiveWriter& to) {
  return Maker(a, b, parts, to).make();
}

}  // namespace reprise
