#include <algorithm>
#include <boost/json.hpp>
#include <cstdio>
#include <map>
#include <set>
#include <tuple>

#include "archive/edit/media_type.h"
#include "tools/archive_text.h"
#include "tools/archive_views.h"
#include "tools/commands.h"

namespace reprise {
namespace {

namespace json = boost::json;

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
