#include <algorithm>
#include <boost/json.hpp>
#include <cstdio>
#include <map>
#include <set>
#include <tuple>

#include "tools/archive_text.h"
#include "tools/archive_views.h"
#include "tools/commands.h"

namespace reprise {
namespace {

namespace json = boost::json;

constexpr std::size_t kTypeWidth = 24;

std::string line_of(const Exchange& exchange, std::size_t number, std::size_t number_width) {
  auto const& response = exchange.response;
  auto const status = response.status == 0 ? "-" : std::to_string(response.status);
  return align_right(std::to_string(number), number_width) + "  " + align_right(status, 3) + "  " +
         align_left(printable(exchange.request.method), 7) + " " +
         align_left(printable(media_type(response.headers.list())), kTypeWidth) + " " +
         align_right(std::to_string(response.body.size_bytes), 10) + "  " +
         align_left(std::string(to_string(exchange.outcome)), 13) + "  " +
         printable(url_of(exchange.request));
}

json::object json_of(const Exchange& exchange, std::size_t number) {
  return {{"number", number},
          {"session", exchange.session},
          {"sequence", exchange.sequence},
          {"status", exchange.response.status},
          {"method", as_utf8(exchange.request.method)},
          {"url", as_utf8(url_of(exchange.request))},
          {"version", std::string(to_string(exchange.response.version))},
          {"type", as_utf8(media_type(exchange.response.headers.list()))},
          {"size_bytes", exchange.response.body.size_bytes},
          {"outcome", std::string(to_string(exchange.outcome))}};
}

std::string session_line(const OpenArchive& archive, std::uint32_t number) {
  auto const& sessions = archive.reader->sessions();
  auto const found = std::ranges::find(sessions, number, &SessionInfo::number);
  auto line = "# session " + std::to_string(number);
  if (found == sessions.end()) return line + ": its start is lost";
  return line + ", " + utc_time(found->started) +
         (found->complete ? "" : ", not recorded to its end");
}

/// Sums by name, the largest first.
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

class Statistics {
 public:
  explicit Statistics(const OpenArchive& archive);
  void print() const;
  void print_json() const;

 private:
  void add(const Exchange& exchange);
  void add_stored(const StoredBody& body);

  const OpenArchive& archive_;
  std::size_t exchanges_ = 0;
  std::size_t damaged_ = 0;
  std::vector<std::pair<const char*, Tallies>> groups_ = {
      {"hosts", {}}, {"types", {}}, {"statuses", {}}, {"protocols", {}}, {"outcomes", {}}};
  std::uint64_t body_bytes_ = 0;    ///< of all exchanges
  std::uint64_t stored_bytes_ = 0;  ///< each stored body once
  std::set<std::uint64_t> stored_;
};

Statistics::Statistics(const OpenArchive& archive) : archive_(archive) {
  for (std::uint32_t ordinal = 0; ordinal < archive.reader->entries().size(); ++ordinal) {
    auto const exchange = archive.reader->exchange(ordinal);
    if (exchange) {
      add(*exchange);
    } else {
      ++damaged_;
    }
  }
}

void Statistics::add(const Exchange& exchange) {
  ++exchanges_;
  auto const& response = exchange.response;
  auto const type = media_type(response.headers.list());
  std::string const names[] = {exchange.request.host, type.empty() ? "none" : type,
                               response.status == 0 ? "none" : std::to_string(response.status),
                               std::string(to_string(response.version)),
                               std::string(to_string(exchange.outcome))};
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    auto& tally = groups_[i].second[names[i]];
    ++tally.exchanges;
    tally.bytes += response.body.size_bytes;
  }
  add_stored(exchange.request.body);
  add_stored(response.body);
}

void Statistics::add_stored(const StoredBody& body) {
  if (body.extents.empty()) return;
  body_bytes_ += body.size_bytes;
  if (stored_.insert(body.extents.front().record_offset).second) stored_bytes_ += body.size_bytes;
}

void Statistics::print() const {
  auto const line = [](const char* name, std::uint64_t value) {
    std::printf("%s%llu\n", align_left(name, 22).c_str(), static_cast<unsigned long long>(value));
  };
  auto const& reader = *archive_.reader;
  line("sessions", reader.sessions().size());
  line("connections", reader.connections().size());
  line("exchanges", exchanges_);
  if (damaged_ > 0) line("damaged exchanges", damaged_);
  line("file bytes", reader.size_bytes());
  line("body bytes", body_bytes_);
  line("body bytes stored", stored_bytes_);
  line("body bytes shared", body_bytes_ - stored_bytes_);
  for (auto const& [group, tallies] : groups_) {
    std::printf("\n%s%s  %s\n", align_left(group, 44).c_str(), "exchanges", "response bytes");
    for (auto const& [name, tally] : by_size(tallies)) {
      std::printf("  %s%s%s\n", align_left(printable(name), 42).c_str(),
                  align_right(std::to_string(tally.exchanges), 9).c_str(),
                  align_right(std::to_string(tally.bytes), 16).c_str());
    }
  }
}

void Statistics::print_json() const {
  auto const& reader = *archive_.reader;
  json::object out = {{"sessions", reader.sessions().size()},
                      {"connections", reader.connections().size()},
                      {"exchanges", exchanges_},
                      {"damaged_exchanges", damaged_},
                      {"file_bytes", reader.size_bytes()},
                      {"body_bytes", body_bytes_},
                      {"body_bytes_stored", stored_bytes_},
                      {"body_bytes_shared", body_bytes_ - stored_bytes_}};
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

int list_exchanges(const OpenArchive& archive, bool as_json) {
  auto const ordinals = archive.reader->ordinals_in_order();
  auto const number_width = std::to_string(ordinals.size()).size();
  auto const several_sessions = archive.reader->sessions().size() > 1;
  std::uint32_t session = 0;
  auto const* separator = "[\n";
  for (std::size_t i = 0; i < ordinals.size(); ++i) {
    auto const& entry = archive.reader->entries()[ordinals[i]];
    if (!as_json && several_sessions && entry.session != session) {
      session = entry.session;
      std::printf("%s\n", session_line(archive, session).c_str());
    }
    auto const exchange = archive.reader->exchange(ordinals[i]);
    if (!exchange) {
      report_damaged(archive, i + 1);
    } else if (as_json) {
      std::printf("%s%s", separator, json::serialize(json_of(*exchange, i + 1)).c_str());
      separator = ",\n";
    } else {
      std::printf("%s\n", line_of(*exchange, i + 1, number_width).c_str());
    }
  }
  if (as_json) std::printf("%s", *separator == '[' ? "[]\n" : "\n]\n");
  return kExitDone;
}

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
