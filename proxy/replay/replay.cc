#include "proxy/replay/replay.h"

#include <spdlog/spdlog.h>

#include "archive/digest.h"

namespace reprise {
namespace {

constexpr const char* kNotRecorded = "not recorded";

/// A body that the archive holds in several extents.
class ArchivedBody final : public PiecewiseBody {
 public:
  ArchivedBody(const ArchiveReader& archive, const StoredBody& body)
      : archive_(archive), body_(body) {}
  std::size_t pieces() const override { return body_.extents.size(); }
  Result<Bytes> piece(std::size_t index) const override { return archive_.extent(body_, index); }

 private:
  const ArchiveReader& archive_;
  const StoredBody& body_;
};

/// Hands each request of one connection to the replay.
class Replayer final : public ConnectionHandler {
 public:
  explicit Replayer(Replay& replay) : replay_(replay) {}

  awaitable<TlsPlan> plan_tls(const ConnectionInfo& connection, const ClientHello& hello) override {
    auto host = hello.server_name;
    if (host.empty()) host = connection.tunnel_host;
    if (host.empty()) host = connection.local.address().to_string();
    auto plan = replay_.tls_plan(host);
    if (std::ranges::find(hello.alpn, plan.alpn) == hello.alpn.end()) plan.alpn.clear();
    co_return plan;
  }

  Task<void> serve(const ExchangeContext&, const RequestHead& head, BodyReader& body,
                   ResponseWriter& writer) override {
    return replay_.serve(head, body, writer);
  }

 private:
  Replay& replay_;
};

std::string url_of(const MatchKey& key) {
  std::string url(key.scheme == Scheme::kHttps ? "https://" : "http://");
  bool const v6 = key.host.find(':') != std::string_view::npos;
  url.append(v6 ? "[" : "").append(key.host).append(v6 ? "]" : "");
  if (key.port != default_port(key.scheme)) url.append(":").append(std::to_string(key.port));
  return url.append(key.target);
}

}  // namespace

/// An exchange as it is served. `problem` says why it cannot be.
struct Replay::Prepared {
  Exchange exchange;
  std::vector<HeaderView> headers;  // as served; views into exchange
  std::unique_ptr<StoredResponse> response;
  std::string problem;
};

Replay::Replay(const ArchiveReader& archive, std::uint32_t session)
    : archive_(archive),
      matcher_(archive, session),
      cursors_(archive.entries().size()),
      prepared_(archive.entries().size()),
      served_(archive.entries().size()) {
  for (const ConnectionFacts& facts : archive.connections()) {
    if (facts.session != matcher_.session() || facts.tls_version.empty()) continue;
    TlsPlan plan{.names = {.names = facts.certificate_names, .chain_bytes = facts.chain_bytes},
                 .alpn = facts.alpn == "h2" ? "h2" : "http/1.1",
                 .tls_version = facts.tls_version};
    cover(plan.names, facts.host);
    tls_plans_.insert_or_assign(facts.host, std::move(plan));
  }
}

Replay::~Replay() {
  for (auto& slot : prepared_) delete slot.load();
}

std::unique_ptr<ConnectionHandler> Replay::open(const ConnectionInfo&) {
  return std::make_unique<Replayer>(*this);
}

TlsPlan Replay::tls_plan(const std::string& host) const {
  if (auto const known = tls_plans_.find(host); known != tls_plans_.end()) return known->second;
  // Never recorded: the miss can only be told inside TLS.
  return {.names = {.names = {host}}, .alpn = "http/1.1"};
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
  hits_ = 0;
  misses_ = 0;
  damaged_ = 0;
  distinct_misses_.clear();
  miss_positions_.clear();
}

ReplayReport Replay::report() const {
  ReplayReport report{.session = matcher_.session(), .hits = hits_};
  for (std::size_t i = 0; i < served_.size(); ++i) {
    const IndexEntry& entry = archive_.entries()[i];
    if (entry.session != matcher_.session() || entry.outcome != Outcome::kComplete) continue;
    ++report.exchanges_servable;
    if (served_[i].load(std::memory_order_relaxed)) ++report.exchanges_served;
  }
  std::scoped_lock const lock(misses_mutex_);
  report.misses = misses_;
  report.damaged = damaged_;
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

std::unique_ptr<Replay::Prepared> Replay::prepare(std::uint32_t ordinal) const {
  auto made = std::make_unique<Prepared>();
  auto exchange = archive_.exchange(ordinal);
  if (!exchange) {
    made->problem = exchange.error().message();
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
    parts.pieces = std::make_unique<ArchivedBody>(archive_, reply.body);
  } else if (!reply.body.extents.empty()) {
    auto const bytes = archive_.extent(reply.body, 0);
    if (!bytes) {
      made->problem = bytes.error().message();
      return made;
    }
    parts.body = *bytes;
  }
  made->response =
      std::make_unique<StoredResponse>(made->exchange.request.method, std::move(parts));
  return made;
}

Task<void> Replay::serve(const RequestHead& head, BodyReader& body, ResponseWriter& writer) {
  MatchKey key{.method = head.method,
               .scheme = head.scheme,
               .host = head.host,
               .port = head.port,
               .target = head.target};
  if (!body.finished()) {
    Digester digester;
    std::uint64_t size = 0;
    while (!body.finished()) {
      auto const piece = co_await body.read();
      if (!piece) co_return fail(piece.error());
      digester.update(*piece);
      size += piece->size();
    }
    if (size > 0) key.body_digest = digester.finish();
  }
  auto const same_key = [this, &key](std::uint32_t ordinal) {
    const StoredRequest& request = prepared(ordinal).exchange.request;
    return request.target == key.target && request.host == key.host &&
           request.method == key.method && request.scheme == key.scheme &&
           request.port == key.port && request.body.digest == key.body_digest;
  };
  auto const decision = matcher_.match(key, cursors_, same_key);
  if (decision.kind == MatchKind::kMiss) {
    co_return co_await answer_miss(key, kNotRecorded, writer);
  }
  const Prepared& chosen = prepared(decision.ordinal);
  if (!chosen.response) {
    co_return co_await answer_miss(key, "damaged in the archive: " + chosen.problem, writer);
  }
  hits_.fetch_add(1, std::memory_order_relaxed);
  if (!served_[decision.ordinal].load(std::memory_order_relaxed)) {
    served_[decision.ordinal].store(true, std::memory_order_relaxed);
  }
  co_return co_await writer.send_stored(*chosen.response);
}

Task<void> Replay::answer_miss(const MatchKey& key, std::string reason, ResponseWriter& writer) {
  auto const miss = count_miss(key, std::move(reason));
  spdlog::info("miss: {} {} ({})", miss.method, miss.url, miss.reason);
  auto text = "reprise: " + miss.reason + ": " + miss.method + " " + miss.url + "\n";
  for (const NearMiss& near : miss.nearest) text += "near: " + near.url + " (" + near.why + ")\n";
  co_return co_await send_text(writer, 404, text);
}

Miss Replay::count_miss(const MatchKey& key, std::string reason) {
  Miss miss{.method = std::string(key.method),
            .url = url_of(key),
            .count = 1,
            .reason = std::move(reason),
            .nearest = matcher_.nearest(key)};
  std::scoped_lock const lock(misses_mutex_);
  ++misses_;
  if (miss.reason != kNotRecorded) ++damaged_;
  auto const known = miss_positions_.find(miss.method + " " + miss.url);
  if (known != miss_positions_.end()) {
    ++distinct_misses_[known->second].count;
  } else if (distinct_misses_.size() < kDistinctMissesMax) {
    miss_positions_.emplace(miss.method + " " + miss.url, distinct_misses_.size());
    distinct_misses_.push_back(miss);
  }
  return miss;
}

}  // namespace reprise
