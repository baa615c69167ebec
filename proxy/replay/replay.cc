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

Replay::Replay(const ArchiveReader& archive, Options options)
    : archive_(archive),
      matcher_(archive, options.session),
      tls_plans_(archive, matcher_.session(), options.protocol),
      cursors_(archive.entries().size()),
      script_(std::move(options.script)),
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
    if (archive_.entries()[ordinal].session != matcher_.session()) continue;
    auto const& exchange = prepared(ordinal);
    if (script_) exchange.injected(*script_, inject::Destination::kDocument);
  }
}

void Replay::warm_documents(const std::stop_token& stop) {
  if (!script_) return;
  std::size_t bytes = 0;
  for (std::uint32_t ordinal : archive_.ordinals_in_order()) {
    if (stop.stop_requested() || bytes > kWarmDocumentBytesMax) return;
    if (archive_.entries()[ordinal].session != matcher_.session()) continue;
    auto const* const made = prepared(ordinal).injected(*script_, inject::Destination::kDocument);
    if (made != nullptr) bytes += made->rewritten.body.size();
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
  injected_ = 0;
  injected_bytes_ = 0;
  visit_injected([](const PreparedExchange&, inject::Destination, InjectedResponse& injected) {
    injected.served = 0;
    return true;
  });
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
          .exchanges_served = served_count_,
          .injected = injected_,
          .injected_bytes = injected_bytes_};
}

void Replay::visit_injected(const InjectedVisitor& visit) const {
  if (!script_) return;
  for (auto const& slot : prepared_) {
    const PreparedExchange* const exchange = slot.load(std::memory_order_acquire);
    if (exchange == nullptr) continue;
    for (auto const destination : {inject::Destination::kDocument, inject::Destination::kWorker}) {
      InjectedResponse* const injected = exchange->known_injected(destination);
      if (injected != nullptr && !visit(*exchange, destination, *injected)) return;
    }
  }
}

ReplayReport Replay::report() const {
  ReplayReport report{.session = matcher_.session(),
                      .counts = counts(),
                      .synthesised = synthesis_.total(),
                      .tls_hosts = tls_plans_.hosts()};
  visit_injected([&report](const PreparedExchange& exchange, inject::Destination destination,
                           const InjectedResponse& injected) {
    if (injected.served == 0) return true;
    report.documents.push_back({.url = shortened(url_of(exchange.exchange().request)),
                                .destination = destination,
                                .served = injected.served,
                                .report = injected.rewritten.report});
    return report.documents.size() < kDocumentsMax;
  });
  std::scoped_lock const lock(misses_mutex_);
  report.distinct_misses = distinct_misses_;
  return report;
}

const PreparedExchange& Replay::prepared(std::uint32_t ordinal) {
  auto& slot = prepared_[ordinal];
  if (const auto* const done = slot.load(std::memory_order_acquire)) return *done;
  auto made = std::make_unique<PreparedExchange>(
      archive_, ordinal, [this](const StoredRequest& request, const std::string& problem) {
        turn_hit_into_damage(request, damage_text(problem));
      });
  const PreparedExchange* expected = nullptr;
  // Two threads may prepare the same exchange; one of them is kept.
  if (slot.compare_exchange_strong(expected, made.get(), std::memory_order_acq_rel)) {
    return *made.release();
  }
  return *expected;
}

Decision Replay::find(MatchKey key, RequestBody recorded) {
  if (recorded == RequestBody::kPartial) key.body_digest = {};
  return matcher_.match(key, cursors_, [this, &key, recorded](std::uint32_t ordinal) {
    const StoredRequest& request = prepared(ordinal).exchange().request;
    // A record that cannot be read has only its hash to speak for it, which is enough to tell what
    // the miss is due to.
    if (request.method.empty()) return recorded == RequestBody::kWhole;
    return request.target == key.target && request.host == key.host &&
           request.method == key.method && request.scheme == key.scheme &&
           request.port == key.port && key_of(request).body_digest == key.body_digest &&
           request.body_partial == (recorded == RequestBody::kPartial);
  });
}

const StoredResponse* Replay::choose_form(const PreparedExchange& chosen, const RequestHead& head) {
  if (!script_) return chosen.response();
  auto* const injected = chosen.injected(*script_, inject::destination_of(head.headers));
  if (injected == nullptr) return chosen.response();
  injected->served.fetch_add(1, std::memory_order_relaxed);
  if (!injected->response) return chosen.response();
  injected_.fetch_add(1, std::memory_order_relaxed);
  injected_bytes_.fetch_add(injected->rewritten.report.added_wire_bytes, std::memory_order_relaxed);
  return injected->response.get();
}

const StoredResponse* Replay::stored(const RequestHead& head) {
  auto const decision = find(key_of(head), RequestBody::kWhole);
  if (decision.kind == MatchKind::kMiss) return nullptr;
  const auto* const response = choose_form(prepared(decision.ordinal), head);
  if (response != nullptr) count_hit(decision.ordinal, head.version);
  return response;
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
  const PreparedExchange& chosen = prepared(decision.ordinal);
  const auto* const response = choose_form(chosen, head);
  if (response == nullptr) {
    co_return co_await answer_miss(key, damage_text(chosen.problem()), writer);
  }
  count_hit(decision.ordinal, head.version);
  co_return co_await writer.send_stored(*response);
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
  if (const Exchange& exchange = prepared(ordinal).exchange();
      exchange.response.version != version) {
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
