#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "archive/match/build.h"
#include "archive/reader.h"
#include "archive/reader_state.h"
#include "archive/scan.h"

namespace reprise {
namespace {

std::string_view name_of(RecordKind kind) {
  switch (kind) {
    case RecordKind::kSessionStart:
      return "session start";
    case RecordKind::kSessionEnd:
      return "session end";
    case RecordKind::kConnection:
      return "connection";
    case RecordKind::kExchange:
      return "exchange";
    case RecordKind::kBody:
      return "body";
    case RecordKind::kChunk:
      return "body chunk";
    case RecordKind::kIndex:
      return "index";
    case RecordKind::kTrailer:
      return "trailer";
    case RecordKind::kDnsAnswer:
      return "DNS answer";
    case RecordKind::kWebSocketMessage:
      return "WebSocket message";
  }
  return "unknown";
}

/// Counts problems and passes them to the caller.
class Problems {
 public:
  explicit Problems(const std::function<void(const std::string&)>& report) : report_(report) {}
  void add(const std::string& sentence) {
    ++count_;
    report_(sentence);
  }
  std::uint64_t count() const { return count_; }

 private:
  const std::function<void(const std::string&)>& report_;
  std::uint64_t count_ = 0;
};

std::string record_at(const Record& record) {
  return "the " + std::string(name_of(record.kind)) + " record at byte " +
         std::to_string(record.offset);
}

std::string name_of(const Exchange& exchange) {
  return "exchange " + std::to_string(exchange.sequence) + " of session " +
         std::to_string(exchange.session) + " (" + exchange.request.method + " " +
         url_of(exchange.request) + ")";
}

bool same_index(const Scan& scan, const IndexView& index) {
  auto entries = scan.entries;
  std::ranges::sort(entries, comes_before);
  auto const same_entry = [](const IndexEntry& a, const IndexEntry& b) {
    return a.key_hash == b.key_hash && a.path_hash == b.path_hash && a.session == b.session &&
           a.sequence == b.sequence && a.record_offset == b.record_offset && a.outcome == b.outcome;
  };
  if (!std::ranges::equal(entries, index.entries(), same_entry) ||
      !std::ranges::equal(scan.fact_offsets, index.fact_offsets())) {
    return false;
  }
  // Every entry must also be found: the directories could hide it.
  std::uint64_t by_path = 0;
  for (std::uint32_t ordinal = 0; ordinal < index.entries().size(); ++ordinal) {
    auto const& entry = index.entries()[ordinal];
    auto const found = index.find_key(entry.key_hash);
    if (&entry < found.data() || &entry >= found.data() + found.size()) return false;
  }
  std::unordered_set<std::uint64_t> paths;
  for (auto const& entry : index.entries()) {
    if (!paths.insert(entry.path_hash).second) continue;
    index.visit_path(entry.path_hash, [&by_path](std::uint32_t) {
      ++by_path;
      return true;
    });
  }
  return by_path == index.entries().size();
}

/// Visits each exchange that messages name but that does not exist.
void for_each_orphan(const ArchiveReader& reader,
                     const std::function<void(const MessageOwner&)>& visit) {
  if (reader.messages().empty()) return;
  std::set<MessageOwner> owners;
  for (auto const& entry : reader.entries()) owners.insert({entry.session, entry.sequence});
  for (auto const& place : reader.messages()) {
    if (owners.insert(place.owner).second) visit(place.owner);
  }
}

}  // namespace

std::uint64_t ArchiveReader::verify(
    const std::function<void(const std::string&)>& problem,
    const std::function<void(std::uint64_t, std::uint64_t)>& progress) const {
  Problems problems(problem);
  auto const file = state_->bytes();
  // The file is read twice: record by record, then body by body.
  auto const total = 2 * file.size();
  std::unordered_set<std::uint64_t> damaged;
  auto const scan = scan_records(file, [&](const Record& record, RecordState found) {
    if (found == RecordState::kDamaged) {
      damaged.insert(record.offset);
      problems.add(record_at(record) + " is damaged");
    } else if (!padding_is_zero(file, record)) {
      problems.add("the padding after " + record_at(record) + " is not zero");
    }
    progress(record.end, total);
  });
  if (scan.walk.fault && (report().indexed || *scan.walk.fault == RecordFault::kDamaged)) {
    problems.add("the header of the record at byte " + std::to_string(scan.walk.end) +
                 " is damaged" +
                 (report().indexed ? "; later records are read through the index"
                                   : "; later records cannot be read"));
  }
  if (report().indexed && !scan.walk.fault && scan.damaged_records == 0 &&
      !same_index(scan, state_->index)) {
    problems.add("the index does not agree with the records");
  }
  if (auto const stored = match_index(); problems.count() == 0 &&
                                         MatchIndexView::parse(stored, entries().size()) &&
                                         !std::ranges::equal(stored, build_match_index(*this))) {
    problems.add("the match index does not agree with the records");
  }

  if (report().facts_ignored) {
    problems.add("the archive has more sessions, connections and DNS answers than fit into memory");
  }
  for_each_orphan(*this, [&problems](const MessageOwner& owner) {
    problems.add("the archive has messages of exchange " + std::to_string(owner.sequence) +
                 " of session " + std::to_string(owner.session) + ", which opened no WebSocket");
  });

  // Bodies with the same bytes are hashed once.
  std::unordered_map<std::uint64_t, StoredBody> hashed;
  auto done = file.size();
  auto const check = [&](const StoredBody& body, const char* whose, const Exchange& of) {
    if (body.extents.empty()) return;
    auto const [known, is_new] = hashed.try_emplace(body.extents.front().record_offset, body);
    if (!is_new && known->second == body) return;
    if (!check_body(body)) {
      problems.add(std::string("the ") + whose + " body of " + name_of(of) + " is damaged");
    }
    done = std::min(total, done + body.size_bytes);
    progress(done, total);
  };
  for (std::uint32_t ordinal = 0; ordinal < entries().size(); ++ordinal) {
    auto const offset = entries()[ordinal].record_offset;
    if (damaged.contains(offset)) continue;
    auto const decoded = exchange(ordinal);
    if (!decoded) {
      problems.add("the exchange record at byte " + std::to_string(offset) +
                   " does not match the index");
      continue;
    }
    check(decoded->request.body, "request", *decoded);
    check(decoded->response.body, "response", *decoded);
  }
  progress(total, total);
  return problems.count();
}

}  // namespace reprise
