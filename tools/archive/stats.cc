#include <algorithm>
#include <boost/json.hpp>
#include <cstdio>
#include <map>
#include <set>
#include <tuple>

#include "base/http/media_type.h"
#include "base/text/printable.h"
#include "base/text/times.h"
#include "tools/archive/messages.h"
#include "tools/archive/text.h"
#include "tools/archive/views.h"
#include "tools/commands.h"

namespace reprise {
namespace {

namespace json = boost::json;

/// Sums by name, sorted from the largest.
struct Tally {
  std::uint64_t exchanges = 0;
  std::uint64_t bytes = 0;
};
using Tallies = std::map<std::string, Tally>;

std::vector<std::pair<std::string, Tally>> by_size(const Tallies& tallies) {
  std::vector<std::pair<std::string, Tally>> sorted(tallies.begin(), tallies.end());
  std::ranges::sort(sorted, [](auto const& a, auto const& b) {
    return std::tie(b.second.exchanges, b.second.bytes, a.first) <
           std::tie(a.second.exchanges, a.second.bytes, b.first);
  });
  return sorted;
}

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

/// Counts of single items, not by exchanges.
using Counts = std::map<std::string, std::uint64_t>;

class Statistics {
 public:
  explicit Statistics(const OpenArchive& archive);
  void print() const;
  void print_json() const;

 private:
  struct Session {
    SessionInfo info;  ///< only the number if the session's start is lost
    std::uint64_t exchanges = 0;
    std::uint64_t connections = 0;
    std::uint64_t answers = 0;
  };

  void add(const Exchange& exchange);
  void add_stored(const StoredBody& body);
  void print_sessions() const;
  void print_counts(const char* title, const Counts& counts) const;
  json::array sessions_json() const;

  const OpenArchive& archive_;
  std::size_t exchanges_ = 0;
  std::size_t damaged_ = 0;
  std::map<std::uint32_t, Session> sessions_;
  std::vector<std::pair<const char*, Tallies>> groups_ = {{"hosts", {}},     {"types", {}},
                                                          {"methods", {}},   {"statuses", {}},
                                                          {"protocols", {}}, {"outcomes", {}}};
  Counts connections_;
  Counts answers_;
  std::uint64_t body_bytes_ = 0;    ///< of all exchanges
  std::uint64_t stored_bytes_ = 0;  ///< each stored body once
  std::uint64_t web_sockets_ = 0;
  MessageTally messages_;  ///< of all WebSockets
  std::set<std::uint64_t> stored_;
};

Statistics::Statistics(const OpenArchive& archive) : archive_(archive) {
  auto const& reader = *archive.reader;
  for (const SessionInfo& info : reader.sessions()) sessions_[info.number].info = info;
  for (const ConnectionFacts& facts : reader.connections()) {
    ++sessions_[facts.session].connections;
    ++connections_[kind_of(facts)];
  }
  for (const DnsAnswer& answer : reader.answers()) {
    ++sessions_[answer.session].answers;
    ++answers_[kind_of(answer)];
  }
  for (std::uint32_t ordinal = 0; ordinal < reader.entries().size(); ++ordinal) {
    auto const exchange = reader.exchange(ordinal);
    if (exchange) {
      add(*exchange);
    } else {
      ++damaged_;
    }
  }
}

void Statistics::add(const Exchange& exchange) {
  ++exchanges_;
  ++sessions_[exchange.session].exchanges;
  auto const& response = exchange.response;
  std::string const names[] = {exchange.request.host,
                               or_none(media_type(response.headers.list())),
                               exchange.request.method,
                               response.status == 0 ? "none" : std::to_string(response.status),
                               std::string(to_string(response.version)),
                               std::string(to_string(exchange.outcome))};
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    auto& tally = groups_[i].second[names[i]];
    ++tally.exchanges;
    tally.bytes += response.body.size_bytes;
  }
  if (opens_web_socket(exchange)) {
    auto const tally = messages_of(*archive_.reader, {exchange.session, exchange.sequence});
    ++web_sockets_;
    messages_.count += tally.count;
    messages_.bytes += tally.bytes;
  }
  add_stored(exchange.request.body);
  add_stored(response.body);
}

void Statistics::add_stored(const StoredBody& body) {
  if (body.extents.empty()) return;
  body_bytes_ += body.size_bytes;
  if (stored_.insert(body.extents.front().record_offset).second) stored_bytes_ += body.size_bytes;
}

void Statistics::print_sessions() const {
  for (auto const& [number, session] : sessions_) {
    auto const& info = session.info;
    bool const has_start = info.number == number;
    std::printf("\nsession %u, %s%s\n", number,
                has_start ? utc_time(info.started).c_str() : "its start is lost",
                has_start && !info.complete ? ", incomplete" : "");
    if (!info.tool_version.empty()) {
      std::printf("  version         %s\n", printable(info.tool_version).c_str());
    }
    for (auto const& page : info.pages)
      std::printf("  page            %s\n", printable(page).c_str());
    std::printf("  exchanges       %llu\n  connections     %llu\n  DNS answers     %llu\n",
                static_cast<unsigned long long>(session.exchanges),
                static_cast<unsigned long long>(session.connections),
                static_cast<unsigned long long>(session.answers));
  }
}

void Statistics::print_counts(const char* title, const Counts& counts) const {
  if (counts.empty()) return;
  std::printf("\n%s\n", title);
  for (auto const& [name, count] : counts) {
    std::printf("  %s%s\n", align_left(printable(name), 42).c_str(),
                align_right(std::to_string(count), 9).c_str());
  }
}

void Statistics::print() const {
  auto const line = [](const char* name, std::uint64_t value) {
    std::printf("%s%llu\n", align_left(name, 22).c_str(), static_cast<unsigned long long>(value));
  };
  auto const& reader = *archive_.reader;
  line("sessions", sessions_.size());
  line("connections", reader.connections().size());
  line("DNS answers", reader.answers().size());
  line("exchanges", exchanges_);
  if (damaged_ > 0) line("damaged exchanges", damaged_);
  if (web_sockets_ > 0) {
    line("WebSockets", web_sockets_);
    line("messages", messages_.count);
    line("message bytes", messages_.bytes);
  }
  line("file bytes", reader.size_bytes());
  line("body bytes", body_bytes_);
  line("body bytes stored", stored_bytes_);
  line("body bytes shared", body_bytes_ - stored_bytes_);
  print_sessions();
  for (auto const& [group, tallies] : groups_) {
    std::printf("\n%s%s  %s\n", align_left(group, 44).c_str(), "exchanges", "response bytes");
    for (auto const& [name, tally] : by_size(tallies)) {
      std::printf("  %s%s%s\n", align_left(printable(name), 42).c_str(),
                  align_right(std::to_string(tally.exchanges), 9).c_str(),
                  align_right(std::to_string(tally.bytes), 16).c_str());
    }
  }
  print_counts("connections", connections_);
  print_counts("DNS answers", answers_);
}

json::array Statistics::sessions_json() const {
  json::array list;
  for (auto const& [number, session] : sessions_) {
    auto const& info = session.info;
    json::array pages;
    for (auto const& page : info.pages) pages.emplace_back(as_utf8(page));
    bool const has_start = info.number == number;
    list.push_back(
        json::object{{"number", number},
                     {"started", has_start ? json::value(utc_time(info.started)) : json::value()},
                     {"complete", info.complete},
                     {"tool_version", as_utf8(info.tool_version)},
                     {"pages", std::move(pages)},
                     {"exchanges", session.exchanges},
                     {"connections", session.connections},
                     {"dns_answers", session.answers}});
  }
  return list;
}

void Statistics::print_json() const {
  auto const& reader = *archive_.reader;
  auto const counts_json = [](const Counts& counts) {
    json::object out;
    for (auto const& [name, count] : counts) out[as_utf8(name)] = count;
    return out;
  };
  json::object out = {{"sessions", sessions_.size()},
                      {"connections", reader.connections().size()},
                      {"dns_answers", reader.answers().size()},
                      {"exchanges", exchanges_},
                      {"damaged_exchanges", damaged_},
                      {"web_sockets", web_sockets_},
                      {"messages", messages_.count},
                      {"message_bytes", messages_.bytes},
                      {"file_bytes", reader.size_bytes()},
                      {"body_bytes", body_bytes_},
                      {"body_bytes_stored", stored_bytes_},
                      {"body_bytes_shared", body_bytes_ - stored_bytes_},
                      {"session_list", sessions_json()},
                      {"connection_kinds", counts_json(connections_)},
                      {"dns_answer_kinds", counts_json(answers_)}};
  for (auto const& [group, tallies] : groups_) {
    json::object members;
    for (auto const& [name, tally] : by_size(tallies)) {
      members[as_utf8(name)] =
          json::object{{"exchanges", tally.exchanges}, {"response_bytes", tally.bytes}};
    }
    out[group] = std::move(members);
  }
  std::printf("%s\n", json::serialize(out).c_str());
}

}  // namespace

int print_statistics(const OpenArchive& archive, bool as_json) {
  Statistics const statistics(archive);
  if (as_json) {
    statistics.print_json();
  } else {
    statistics.print();
  }
  return kExitDone;
}

}  // namespace reprise
