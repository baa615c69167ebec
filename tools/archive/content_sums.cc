#include "tools/archive/content_sums.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/partials/slices.h"
#include "base/http/media_type.h"
#include "base/text/percent.h"
#include "base/text/printable.h"
#include "tools/archive/messages.h"
#include "tools/archive/text.h"

namespace reprise {
namespace {

namespace json = boost::json;

constexpr std::size_t kNameBytesMax = 2'048;
/// With response bytes, the largest first; then those that are only counted.
constexpr std::array kByExchanges = {"hosts",    "types",     "methods",
                                     "statuses", "protocols", "outcomes"};
constexpr const char* kConnections = "connection_kinds";
constexpr const char* kAnswers = "dns_answer_kinds";

std::string or_none(std::string text) {
  return text.empty() ? "none" : std::move(text);
}

/// "TLSv1.3, h2" for a connection, "failed" if it could not be made.
std::string kind_of(const ConnectionFacts& facts) {
  if (!facts.failure.empty()) return "failed";
  auto kind = facts.tls_version.empty() ? "clear text" : facts.tls_version;
  return facts.alpn.empty() ? kind : kind + ", " + facts.alpn;
}

/// "A", "AAAA, failed" for a DNS answer.
std::string kind_of(const DnsAnswer& answer) {
  auto const type = dns_type_name(answer.type);
  bool const empty = answer.addresses.empty() && answer.https.empty();
  return type + (!answer.failure.empty() ? ", failed" : empty ? ", empty" : "");
}

template <class Tallies>
auto by_size(const Tallies& tallies) {
  std::vector<std::pair<std::string, ContentSums::Tally>> sorted(tallies.begin(), tallies.end());
  std::ranges::sort(sorted, [](auto const& a, auto const& b) {
    return std::tie(b.second.count, b.second.bytes, a.first) <
           std::tie(a.second.count, a.second.bytes, b.first);
  });
  return sorted;
}

std::string name_column(const std::string& name) {
  return align_left(printable(name), 42);
}

std::int64_t signed_of(std::uint64_t bytes) {
  return static_cast<std::int64_t>(bytes);
}

}  // namespace

void ContentSums::add_archive(const ArchiveReader& reader,
                              const std::function<void(const Exchange&)>& of_exchange) {
  add_facts(reader);
  Bodies bodies;
  for (std::uint32_t ordinal = 0; ordinal < reader.entries().size(); ++ordinal) {
    auto const exchange = reader.exchange(ordinal);
    if (exchange) {
      add_exchange(reader, *exchange, bodies);
      of_exchange(*exchange);
    } else {
      add(kTotals, "damaged_exchanges", {.count = 1});
    }
  }
}

void ContentSums::add(std::string_view group, std::string_view name, Tally more) {
  auto& tallies = groups_[std::string(group)];
  auto& tally = tallies[std::string(name)];
  tally.count += more.count;
  tally.bytes += more.bytes;
}

void ContentSums::add_facts(const ArchiveReader& reader) {
  add(kTotals, "archives", {1, signed_of(reader.size_bytes())});
  std::set<std::uint32_t> sessions;  // also those whose start is lost
  for (const SessionInfo& info : reader.sessions()) sessions.insert(info.number);
  for (auto const number : reader.ended_without_start()) sessions.insert(number);
  for (const ConnectionFacts& facts : reader.connections()) {
    sessions.insert(facts.session);
    add(kConnections, kind_of(facts), {.count = 1});
  }
  for (const DnsAnswer& answer : reader.answers()) {
    sessions.insert(answer.session);
    add(kAnswers, kind_of(answer), {.count = 1});
  }
  for (auto const& entry : reader.entries()) sessions.insert(entry.session);
  add(kTotals, "sessions", {.count = signed_of(sessions.size())});
}

void ContentSums::add_exchange(const ArchiveReader& reader, const Exchange& exchange,
                               Bodies& bodies) {
  auto const& response = exchange.response;
  std::string const names[] = {exchange.request.host,
                               or_none(media_type(response.headers.list())),
                               exchange.request.method,
                               response.status == 0 ? "none" : std::to_string(response.status),
                               std::string(to_string(response.version)),
                               std::string(to_string(exchange.outcome))};
  for (std::size_t i = 0; i < kByExchanges.size(); ++i) {
    add(kByExchanges[i], names[i], {1, signed_of(response.body.size_bytes)});
  }
  add(kTotals, "exchanges", {.count = 1});
  if (opens_web_socket(exchange)) {
    auto const tally = messages_of(reader, {exchange.session, exchange.sequence});
    add(kTotals, "web_sockets", {.count = 1});
    add(kTotals, "messages", {signed_of(tally.count), signed_of(tally.bytes)});
  }
  add_body(exchange.request.body, bodies);
  add_body(response.body, bodies);
}

void ContentSums::add_body(const StoredBody& body, Bodies& bodies) {
  if (body.extents.empty()) return;
  add(kTotals, "bodies", {1, signed_of(body.size_bytes)});
  if (bodies.insert(body.extents.front().record_offset).second) {
    add(kTotals, "stored_bodies", {1, signed_of(body.size_bytes)});
  }
}

void ContentSums::write_lines(const PartialSink& sink) const {
  std::map<std::string, Tally> lines;  // names can become equal in keys
  for (auto const& [group, tallies] : groups_) {
    for (auto const& [name, tally] : tallies) {
      auto key = group + '|';
      append_key_part(key, std::string_view(name).substr(0, kNameBytesMax));
      auto& line = lines[std::move(key)];
      line.count += tally.count;
      line.bytes += tally.bytes;
    }
  }
  for (auto const& [key, tally] : lines) {
    write_partial_line(key, std::array{tally.count, tally.bytes}, sink);
  }
}

bool ContentSums::is_key(std::string_view key) {
  auto const group = key.substr(0, key.find('|'));
  return key.size() > group.size() &&
         (group == kTotals || group == kConnections || group == kAnswers ||
          std::ranges::find(kByExchanges, group) != kByExchanges.end());
}

bool ContentSums::add_line(const PartialLine& line) {
  auto const parts = parts_of_key(line.key);
  if (!is_key(line.key) || parts.size() != 2 || line.sums.size() != 2) return false;
  auto& tally = groups_[std::string(parts[0])][percent_decoded(parts[1])];
  return !__builtin_add_overflow(tally.count, line.sums[0], &tally.count) &&
         !__builtin_add_overflow(tally.bytes, line.sums[1], &tally.bytes);
}

const ContentSums::Tallies& ContentSums::tallies_of(std::string_view group) const {
  static const Tallies kNone;
  auto const found = groups_.find(group);
  return found == groups_.end() ? kNone : found->second;
}

ContentSums::Tally ContentSums::total(std::string_view name) const {
  auto const& totals = tallies_of(kTotals);
  auto const found = totals.find(name);
  return found == totals.end() ? Tally{} : found->second;
}

std::int64_t ContentSums::count_of(std::string_view group) const {
  std::int64_t sum = 0;
  for (auto const& [name, tally] : tallies_of(group)) sum += tally.count;
  return sum;
}

void ContentSums::print_totals(bool of_many) const {
  auto const line = [](const char* name, std::int64_t value) {
    std::printf("%s%lld\n", align_left(name, 22).c_str(), static_cast<long long>(value));
  };
  auto const line_if_any = [&](const char* name, std::int64_t value) {
    if (value > 0) line(name, value);
  };
  if (of_many) line("archives", total("archives").count);
  line_if_any("unusable archives", total("unusable_archives").count);
  line("sessions", total("sessions").count);
  line("connections", count_of(kConnections));
  line("DNS answers", count_of(kAnswers));
  line("exchanges", total("exchanges").count);
  line_if_any("damaged exchanges", total("damaged_exchanges").count);
  if (total("web_sockets").count > 0) {
    line("WebSockets", total("web_sockets").count);
    line("messages", total("messages").count);
    line("message bytes", total("messages").bytes);
  }
  line("file bytes", total("archives").bytes);
  line("body bytes", total("bodies").bytes);
  line("body bytes stored", total("stored_bodies").bytes);
  line("body bytes shared", total("bodies").bytes - total("stored_bodies").bytes);
}

void ContentSums::print_groups() const {
  for (auto const* const group : kByExchanges) {
    std::printf("\n%s%s  %s\n", align_left(group, 44).c_str(), "exchanges", "response bytes");
    for (auto const& [name, tally] : by_size(tallies_of(group))) {
      std::printf("  %s%s%s\n", name_column(name).c_str(),
                  align_right(std::to_string(tally.count), 9).c_str(),
                  align_right(std::to_string(tally.bytes), 16).c_str());
    }
  }
  for (auto const& [group, title] :
       {std::pair{kConnections, "connections"}, {kAnswers, "DNS answers"}}) {
    auto const& tallies = tallies_of(group);
    if (!tallies.empty()) std::printf("\n%s\n", title);
    for (auto const& [name, tally] : tallies) {
      std::printf("  %s%s\n", name_column(name).c_str(),
                  align_right(std::to_string(tally.count), 9).c_str());
    }
  }
}

json::object ContentSums::totals_json(bool of_many) const {
  auto const bodies = total("bodies").bytes, stored = total("stored_bodies").bytes;
  json::object out;
  if (of_many) {
    out["archives"] = total("archives").count;
    out["unusable_archives"] = total("unusable_archives").count;
  }
  out["sessions"] = total("sessions").count;
  out["connections"] = count_of(kConnections);
  out["dns_answers"] = count_of(kAnswers);
  out["exchanges"] = total("exchanges").count;
  out["damaged_exchanges"] = total("damaged_exchanges").count;
  out["web_sockets"] = total("web_sockets").count;
  out["messages"] = total("messages").count;
  out["message_bytes"] = total("messages").bytes;
  out["file_bytes"] = total("archives").bytes;
  out["body_bytes"] = bodies;
  out["body_bytes_stored"] = stored;
  out["body_bytes_shared"] = bodies - stored;
  return out;
}

void ContentSums::add_groups_json(json::object& to) const {
  for (auto const* const group : {kConnections, kAnswers}) {
    json::object counts;
    for (auto const& [name, tally] : tallies_of(group)) counts[as_utf8(name)] = tally.count;
    to[group] = std::move(counts);
  }
  for (auto const* const group : kByExchanges) {
    json::object members;
    for (auto const& [name, tally] : by_size(tallies_of(group))) {
      members[as_utf8(name)] =
          json::object{{"exchanges", tally.count}, {"response_bytes", tally.bytes}};
    }
    to[group] = std::move(members);
  }
}

}  // namespace reprise
