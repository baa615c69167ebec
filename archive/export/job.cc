#include "archive/export/job.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>

#include "base/http/message.h"

namespace reprise::exporting {
namespace {

std::uint64_t facts_of(const SessionInfo& session) {
  return (session.random_seed != 0 ? 1U : 0U) + (session.command_line.empty() ? 0U : 1U);
}

/// Percent-encodes characters that are invalid in a URL.
std::string url_text(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (char const c : text) {
    auto const byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte < 0x7f) {
      out += c;
    } else {
      out.append({'%', kHex[byte >> 4], kHex[byte & 15]});
    }
  }
  return out;
}

}  // namespace

Job::Job(const ArchiveReader& archive, const ExportOptions& options, ExportReport& report)
    : archive_(archive), options_(options), report_(report) {
  report_.session = options.session;
  for (const SessionInfo& info : archive.sessions()) {
    if (info.number == options.session) {
      session_ = info;
    } else {
      ++report_.other_sessions;
    }
  }
  for (std::uint32_t const ordinal : archive.ordinals_in_order()) {
    auto const number = archive.entries()[ordinal].session;
    if (number < options.session) ++first_number_;
    if (number == options.session) ordinals_.push_back(ordinal);
  }
  for (const ConnectionFacts& facts : archive.connections()) {
    if (facts.session != options.session) continue;
    connections_.try_emplace(facts.id, &facts);
    if (!facts.tls_version.empty()) report_.lose(Loss::kTls);
  }
  report_.lose(Loss::kSession, facts_of(session_));
  report_.lose(Loss::kDns, static_cast<std::uint64_t>(std::ranges::count_if(
                               archive.answers(), [&options](const DnsAnswer& answer) {
                                 return answer.session == options.session;
                               })));
}

void Job::damaged() {
  fail({.what = "exchange " + std::to_string(first_number_ + at_) +
                " is damaged; `reprise archive repair` keeps the undamaged exchanges",
        .system = {}});
}

std::optional<Exchange> Job::read(std::size_t position) {
  if (failed()) return std::nullopt;
  at_ = position;
  if (options_.stop && options_.stop()) {
    fail({.what = "stopped", .system = std::make_error_code(std::errc::operation_canceled)});
    return std::nullopt;
  }
  auto exchange = archive_.exchange(ordinals_[position]);
  if (!exchange) {
    damaged();
    return std::nullopt;
  }
  return std::move(*exchange);
}

bool Job::visit(const StoredBody& body, const std::function<void(std::string_view)>& take) {
  for (std::size_t i = 0; i < body.extents.size(); ++i) {
    auto const piece = archive_.extent(body, i);
    if (!piece) {
      damaged();
      return false;
    }
    take({reinterpret_cast<const char*>(piece->data()), piece->size()});
  }
  return true;
}

bool Job::visit_messages(const Exchange& exchange,
                         const std::function<void(const WebSocketMessage&)>& take) {
  for (auto const& place : archive_.messages({exchange.session, exchange.sequence})) {
    auto const message = archive_.message(place);
    if (!message) {
      damaged();
      return false;
    }
    take(*message);
  }
  return true;
}

void Job::lose_messages(const Exchange& exchange) {
  visit_messages(exchange, [this](const WebSocketMessage& message) {
    if (message.kind != MessageKind::kEnd && message.fin) report_.lose(Loss::kMessages);
  });
}

const ConnectionFacts* Job::connection_of(const Exchange& exchange) const {
  auto const found = connections_.find(exchange.origin_connection_id);
  return found == connections_.end() ? nullptr : found->second;
}

std::int64_t Job::session_start() const {
  auto const since = session_.started.time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
}

std::chrono::milliseconds Job::time_seed() const {
  auto const start = std::chrono::nanoseconds(session_start());
  return options_.time_seed.value_or(std::chrono::duration_cast<std::chrono::milliseconds>(start));
}

std::optional<std::int64_t> Job::unix_time(SessionTime time) const {
  std::int64_t sum = 0;
  if (time == kNoTime || __builtin_add_overflow(session_start(), time.count(), &sum)) {
    return std::nullopt;
  }
  return sum;
}

void Job::count(const Exchange& exchange) {
  ++report_.exchanges;
  if (exchange.response.body.size_bytes > 0) ++report_.bodies;
  report_.lose(Loss::kInterim, exchange.interim.size());
  if (!exchange.response.chunk_times.empty()) report_.lose(Loss::kChunkTimes);
  if (exchange.client_connection_id != 0 || exchange.stream_id != 0) report_.lose(Loss::kStreams);
}

std::string_view method_of(const StoredRequest& request) {
  return request.protocol == kWebSocketProtocol ? "GET" : std::string_view(request.method);
}

std::string time_text(std::int64_t unix_ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  auto seconds = static_cast<std::time_t>(unix_ns / kSecond);
  auto fraction = unix_ns % kSecond;
  if (fraction < 0) {
    fraction += kSecond;
    --seconds;
  }
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  auto const length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::string out(text.data(), length);
  int digits = 9;
  while (digits > 3 && fraction % 1000 == 0) {
    fraction /= 1000;
    digits -= 3;
  }
  std::snprintf(text.data(), text.size(), ".%0*lldZ", digits, static_cast<long long>(fraction));
  return out + text.data();
}

std::string address_of(const ConnectionFacts* facts) {
  if (facts == nullptr) return {};
  auto address = facts->address.substr(0, facts->address.rfind(':'));
  if (address.starts_with('[') && address.ends_with(']')) {
    address = address.substr(1, address.size() - 2);
  }
  auto const is_odd = [](char c) {
    return c != ':' && c != '.' && (c < '0' || c > '9') && (c < 'a' || c > 'f');
  };
  return std::ranges::any_of(address, is_odd) ? "" : address;
}

bool may_have_content(const Exchange& exchange) {
  auto const status = exchange.response.status;  // 0: there was no response
  return status >= 200 && may_have_body(exchange.request.method, status);
}

std::string safe_url(const StoredRequest& request) {
  bool const path = request.target.starts_with('/');
  return url_of(request.scheme, url_text(request.host), request.port,
                path ? url_text(request.target) : "/");
}

}  // namespace reprise::exporting
