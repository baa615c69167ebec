#include "proxy/record/record_session.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "dns/wire.h"
#include "proxy/record/record_connection.h"

namespace reprise {

RecordSession::RecordSession(ArchiveWriter& archive, OriginDialer& dialer,
                             std::chrono::steady_clock::time_point started,
                             std::function<void(std::error_code)> on_archive_error,
                             std::optional<inject::InjectedScript> script,
                             const PrivateReach::Options& reach)
    : archive_(archive),
      dialer_(dialer),
      started_(started),
      on_archive_error_(std::move(on_archive_error)),
      script_(std::move(script)),
      reach_(reach) {}

std::unique_ptr<ConnectionHandler> RecordSession::open(const ConnectionInfo& connection) {
  return std::make_unique<RecordConnection>(*this, connection);
}

void RecordSession::begin_again(const SessionInfo& info) {
  if (!archive_.session()) return;
  if (auto const ended = archive_.end_session(); !ended) return archive_failed(ended.error());
  if (auto const begun = archive_.begin_session(info); !begun) return archive_failed(begun.error());
  for (auto const& each : facts_) {
    auto const facts = each.lock();
    if (!facts) continue;
    if (auto const added = archive_.add_connection(*facts); !added) {
      return archive_failed(added.error());
    }
  }
}

std::string RecordSession::why_blocked(const RequestHead& request) {
  auto why = rules_.why_blocked(request);
  if (!why.empty()) ++counters_.blocked;
  return why;
}

Result<void> RecordSession::add(Exchange exchange) {
  if (!archive_.session()) return fail(archive_error_);
  return archive_.add_exchange(std::move(exchange));
}

KeptFacts RecordSession::keep(ConnectionFacts facts) {
  facts.id = ++origin_connections_;
  auto const kept = std::make_shared<const ConnectionFacts>(std::move(facts));
  std::erase_if(facts_, [](const auto& each) { return each.expired(); });
  facts_.push_back(kept);
  if (!archive_.session()) return kept;
  if (auto const added = archive_.add_connection(*kept); !added) archive_failed(added.error());
  return kept;
}

void RecordSession::keep(const dns::LookUpAnswer& answer) {
  if (!archive_.session()) return;
  DnsAnswer kept{.host = answer.host,
                 .type = static_cast<std::uint16_t>(answer.type),
                 .failure = answer.error ? answer.error.message() : "",
                 .chain = answer.chain,
                 .ttl_s = answer.ttl_s,
                 .asked = time_of(answer.asked),
                 .answered = time_of(answer.answered)};
  if (answer.rcode) kept.rcode = static_cast<std::uint16_t>(*answer.rcode);
  for (const auto& address : answer.addresses) kept.addresses.push_back(address.to_string());
  for (const auto& record : answer.https) {
    if (auto bytes = dns::encode_svcb(record)) kept.https.push_back(std::move(*bytes));
  }
  if (auto const added = archive_.add_answer(std::move(kept)); !added) {
    archive_failed(added.error());
  }
}

void RecordSession::refuse_private(const std::string& why) {
  if (counters_.private_refused++ == 0) spdlog::warn("{}", why);
}

std::size_t RecordSession::trace_bytes_left() const {
  auto const all = trace_limits_->all_bytes;
  return std::min(trace_limits_->bytes, all - std::min(all, trace_bytes_));
}

void RecordSession::keep_trace(Exchange exchange, Bytes content) {
  trace_bytes_ += content.size();
  BodyWriter body(archive_);
  auto const written = body.append(content);
  if (!written) return archive_failed(written.error());
  auto stored = body.finish();
  if (!stored) return archive_failed(stored.error());
  exchange.sequence = next_sequence();
  exchange.response.body = std::move(*stored);
  exchange.response.chunk_times = {{.end_bytes = content.size(), .time = exchange.timings.end}};
  auto const added = add(std::move(exchange));
  if (!added) return archive_failed(added.error());
  counters_.body_bytes += content.size();
  ++counters_.complete;
  ++counters_.traces;
}

void RecordSession::refuse_trace(const std::string& why) {
  if (counters_.traces_refused++ == 0) spdlog::warn("{}", why);
}

void RecordSession::archive_failed(std::error_code error) {
  if (archive_error_) return;
  archive_error_ = error;
  on_archive_error_(error);
}

}  // namespace reprise
