#include "proxy/replay/replay.h"

#include <spdlog/spdlog.h>

#include "archive/digest.h"
#include "proxy/replay/replayer.h"

namespace reprise {
namespace {

constexpr const char* kNotRecorded = "not recorded";

MatchKey key_of(const RequestHead& head) {
  return {.method = head.method,
          .scheme = head.scheme,
          .host = head.host,
          .port = head.port,
          .target = head.target};
}

/// All zero for an empty body, as MatchKey has it.
Task<Sha256> digest_of(BodyReader& body) {
  Digester digester;
  std::uint64_t size = 0;
  while (!body.finished()) {
    auto const piece = co_await body.read();
    if (!piece) co_return fail(piece.error());
    digester.update(*piece);
    size += piece->size();
  }
  co_return size > 0 ? digester.finish() : Sha256{};
}

std::string url_of(const MatchKey& key) {
  std::string url(key.scheme == Scheme::kHttps ? "https://" : "http://");
  bool const v6 = key.host.find(':') != std::string_view::npos;
  url.append(v6 ? "[" : "").append(key.host).append(v6 ? "]" : "");
  if (key.port != default_port(key.scheme)) url.append(":").append(std::to_string(key.port));
  return url.append(key.target);
}

std::string shortened(std::string text) {
  if (text.size() <= Replay::kMissTextMax) return text;
  text.resize(Replay::kMissTextMax);
  text.shrink_to_fit();
  return text += "...";
}

std::string damage_text(const std::string& problem) {
  return "damaged in the archive: " + problem;
}

}  // namespace

/// An exchange as it is served. `problem` says why it cannot be.
struct Replay::Prepared {
  Exchange exchange;
  std::vector<HeaderView> headers;  // as served; views into exchange
  std::unique_ptr<StoredResponse> response;
  std::string problem;
};

/// A body that the archive holds in several extents. What is damaged shows when it is sent.
class Replay::ArchivedBody final : public PiecewiseBody {
 public:
  /// `exchange` is of the `replay`, and outlives this as that does.
  ArchivedBody(Replay& replay, const Exchange& exchange) : replay_(replay), exchange_(exchange) {}
  std::size_t pieces() const override { return body().extents.size(); }
  Result<Bytes> piece(std::size_t index) const override {
    auto const bytes = replay_.archive_.extent(body(), index);
    if (!bytes) {
      auto const at = std::to_string(body().extents[index].record_offset);
      replay_.turn_hit_into_damage(
          exchange_.request,
          damage_text("the body's record at byte " + at + ": " + bytes.error().message()));
    }
    return bytes;
  }

 private:
  const StoredBody& body() const { return exchange_.response.body; }
  Replay& replay_;
  const Exchange& exchange_;
};

Replay::Replay(const ArchiveReader& archive, std::uint32_t session, Protocol protocol)
    : archive_(archive),
      matcher_(archive, session),
      tls_plans_(archive, matcher_.session(), protocol),
      cursors_(archive.entries().size()),
      prepared_(archive.entries().size()),
      served_(archive.entries().size()) {
  for (const IndexEntry& entry : archive.entries()) {
    if (entry.session != matcher_.session() || entry.outcome != Outcome::kComplete) continue;
    ++servable_count_;
  }
}

Replay::~Replay() {
  for (auto& slot : prepared_) delete slot.load();
}

std::unique_ptr<ConnectionHandler> Replay::open(const ConnectionInfo&) {
  return std::make_unique<Replayer>(*this);
}

void Replay::warm() {
  for (std::uint32_t ordinal = 0; ordinal < prepared_.size(); ++ordinal) {
    if (archive_.entries()[ordinal].session == matcher_.session()) prepared(ordinal);
  }
}

void Replay::reset() {
  cursors_.reset();
  std::scoped_lock const lock(misses_mutex_);
  for (auto& served : served_) served = false;
  served_count_ = 0;
  hits_ = 0;
  misses_ = 0;
  damaged_ = 0;
  misdirected_ = 0;
  synthesis_.reset();
  distinct_misses_.clear();
  miss_positions_.clear();
}

ReplayCounts Replay::counts() const {
  std::scoped_lock const lock(misses_mutex_);
  return {.hits = hits_,
          .misses = misses_,
          .damaged = damaged_,
          .misdirected = misdirected_,
          .exchanges_servable = servable_count_,
          .exchanges_served = served_count_};
}

ReplayReport Replay::report() const {
  ReplayReport report{.session = matcher_.session(),
                      .counts = counts(),
                      .synthesised = synthesis_.total(),
                      .tls_hosts = tls_plans_.hosts()};
  std::scoped_lock const lock(misses_mutex_);
  report.distinct_misses = distinct_misses_;
  return report;
}

const Replay::Prepared& Replay::prepared(std::uint32_t ordinal) {
  auto& slot = prepared_[ordinal];
  if (const Prepared* const done = slot.load(std::memory_order_acquire)) return *done;
  auto made = prepare(ordinal);
  const Prepared* expected = nullptr;
  // Two threads may prepare the same exchange; one of them is kept.
  if (slot.compare_exchange_strong(expected, made.get(), std::memory_order_acq_rel)) {
    return *made.release();
  }
  return *expected;
}

std::unique_ptr<Replay::Prepared> Replay::prepare(std::uint32_t ordinal) {
  auto made = std::make_unique<Prepared>();
  auto exchange = archive_.exchange(ordinal);
  if (!exchange) {
    made->problem = "the record at byte " +
                    std::to_string(archive_.entries()[ordinal].record_offset) + ": " +
                    exchange.error().message();
    return made;
  }
  made->exchange = std::move(*exchange);
  const StoredReply& reply = made->exchange.response;
  for (const HeaderView& field : reply.headers.list()) {
    // It would lead the client past this replay.
    if (!equals_ignoring_case(field.name, "Alt-Svc")) made->headers.push_back(field);
  }
  StoredResponse::Parts parts;
  for (const StoredInterimResponse& interim : made->exchange.interim) {
    if (interim.status == 100) continue;  // between the client and its server of the moment
    parts.interim.push_back({.version = reply.version,
                             .status = interim.status,
                             .reason = interim.reason,
                             .headers = interim.headers.list()});
  }
  parts.head = {.version = reply.version,
                .status = reply.status,
                .reason = reply.reason,
                .headers = made->headers};
  parts.trailers = reply.trailers.list();
  if (reply.body.extents.size() > 1) {
    parts.pieces = std::make_unique<ArchivedBody>(*this, made->exchange);
  } else if (!reply.body.extents.empty()) {
    auto const bytes = archive_.extent(reply.body, 0);
    if (!bytes) {
      made->problem = "the body's record at byte " +
                      std::to_string(reply.body.extents[0].record_offset) + ": " +
                      bytes.error().message();
      return made;
    }
    auto const place = archive_.place_of(*bytes);
    parts.body = {*bytes, place.file, place.offset};
  }
  made->response =
      std::make_unique<StoredResponse>(made->exchange.request.method, std::move(parts));
  return made;
}

Decision Replay::find(MatchKey key, RequestBody recorded) {
  if (recorded == RequestBody::kPartial) key.body_digest = {};
  return matcher_.match(key, cursors_, [this, &key, recorded](std::uint32_t ordinal) {
    const Prepared& candidate = prepared(ordinal);
    const StoredRequest& request = candidate.exchange.request;
    // A record that cannot be read has only its hash to speak for it, which is enough to tell what
    // the miss is due to.
    if (request.method.empty()) return recorded == RequestBody::kWhole;
    return request.target == key.target && request.host == key.host &&
           request.method == key.method && request.scheme == key.scheme &&
           request.port == key.port && key_of(request).body_digest == key.body_digest &&
           request.body_partial == (recorded == RequestBody::kPartial);
  });
}

const StoredResponse* Replay::stored(const RequestHead& head) {
  auto const decision = find(key_of(head), RequestBody::kWhole);
  if (decision.kind == MatchKind::kMiss) return nullptr;
  const Prepared& chosen = prepared(decision.ordinal);
  if (!chosen.response) return nullptr;
  count_hit(decision.ordinal, head.version);
  return chosen.response.get();
}

Task<void> Replay::serve(const RequestHead& head, BodyReader& body, ResponseWriter& writer) {
  MatchKey key = key_of(head);
  Decision decision;
  if (!body.finished() && header_has_token(head.headers, "Expect", "100-continue")) {
    // Where the origin refused it unseen, asking for the content would be another conversation.
    decision = find(key, RequestBody::kPartial);
  }
  if (decision.kind == MatchKind::kMiss && !body.finished()) {
    auto const digest = co_await digest_of(body);
    if (!digest) co_return fail(digest.error());
    key.body_digest = *digest;
  }
  if (decision.kind == MatchKind::kMiss) decision = find(key, RequestBody::kWhole);
  if (decision.kind == MatchKind::kMiss && key.body_digest != Sha256{}) {
    decision = find(key, RequestBody::kPartial);
  }
  if (decision.kind == MatchKind::kMiss) {
    co_return co_await answer_miss(key, kNotRecorded, writer);
  }
  const Prepared& chosen = prepared(decision.ordinal);
  if (!chosen.response) {
    co_return co_await answer_miss(key, damage_text(chosen.problem), writer);
  }
  count_hit(decision.ordinal, head.version);
  co_return co_await writer.send_stored(*chosen.response);
}

Task<void> Replay::answer_miss(const MatchKey& key, std::string reason, ResponseWriter& writer) {
  auto const miss = count_miss(key, std::move(reason));
  spdlog::info("miss: {} {} ({})", miss.method, miss.url, miss.reason);
  auto text = "reprise: " + miss.reason + ": " + miss.method + " " + miss.url + "\n";
  for (const NearMiss& near : miss.nearest) text += "near: " + near.url + " (" + near.why + ")\n";
  co_return co_await send_text(writer, 404, text);
}

Task<void> Replay::answer_misdirected(const RequestHead& head, const std::string& connection_host,
                                      ResponseWriter& writer) {
  misdirected_.fetch_add(1, std::memory_order_relaxed);
  auto const text = "reprise: " + std::string(head.host) +
                    " is not to be asked for on a connection to " + connection_host + "\n";
  co_return co_await send_text(writer, 421, text);
}

void Replay::count_hit(std::uint32_t ordinal, HttpVersion version) {
  hits_.fetch_add(1, std::memory_order_relaxed);
  if (const Exchange& exchange = prepared(ordinal).exchange; exchange.response.version != version) {
    synthesis_.add(synthesised(exchange.request, exchange.response, version));
  }
  auto& served = served_[ordinal];
  // Looked at first: writing each time would bounce the line between the threads.
  if (served.load(std::memory_order_relaxed) || served.exchange(true)) return;
  served_count_.fetch_add(1, std::memory_order_relaxed);
}

void Replay::turn_hit_into_damage(const StoredRequest& request, std::string reason) {
  auto hits = hits_.load();
  // A reset in between has taken the hit back already.
  while (hits > 0 && !hits_.compare_exchange_weak(hits, hits - 1)) continue;
  count_miss(key_of(request), std::move(reason));
}

Miss Replay::count_miss(const MatchKey& key, std::string reason) {
  auto const url = url_of(key);
  Miss miss{.method = shortened(std::string(key.method)),
            .url = shortened(url),
            .count = 1,
            .reason = std::move(reason),
            .nearest = matcher_.nearest(key)};
  for (NearMiss& near : miss.nearest) {
    near.url = shortened(std::move(near.url));
    near.why = shortened(std::move(near.why));
  }
  bool const damaged = miss.reason != kNotRecorded;
  auto const identity = std::hash<std::string>()(std::string(key.method) + " " + url);
  std::scoped_lock const lock(misses_mutex_);
  ++misses_;
  if (damaged) ++damaged_;
  auto const known = miss_positions_.find(identity);
  if (known != miss_positions_.end()) {
    ++distinct_misses_[known->second].count;
  } else if (distinct_misses_.size() < kDistinctMissesMax) {
    if (damaged) spdlog::warn("{} {}: {}", miss.method, miss.url, miss.reason);
    miss_positions_.emplace(identity, distinct_misses_.size());
    distinct_misses_.push_back(miss);
  }
  return miss;
}

}  // namespace reprise
