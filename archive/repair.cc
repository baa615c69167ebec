#include "archive/repair.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <utility>

#include "archive/file.h"
#include "archive/reader.h"
#include "archive/writer.h"

namespace reprise {
namespace {

class Copy {
 public:
  Copy(const ArchiveReader& from, ArchiveWriter& to, RepairReport& report)
      : from_(from), to_(to), report_(report) {}

  Result<void> run();

 private:
  struct Session {
    SessionInfo info;
    std::vector<const ConnectionFacts*> connections;
    std::vector<const DnsAnswer*> answers;
    std::vector<std::uint32_t> ordinals;
  };

  std::map<std::uint32_t, Session> sessions() const;
  Result<void> copy_session(const Session& session);
  Result<void> copy_exchange(std::uint32_t ordinal);
  Result<StoredBody> copy_body(const StoredBody& body);
  void lose(std::uint32_t ordinal);

  const ArchiveReader& from_;
  ArchiveWriter& to_;
  RepairReport& report_;
};

std::map<std::uint32_t, Copy::Session> Copy::sessions() const {
  std::map<std::uint32_t, Session> sessions;
  for (const SessionInfo& info : from_.sessions()) {
    sessions[info.number].info = info;
  }
  for (const ConnectionFacts& facts : from_.connections()) {
    sessions[facts.session].connections.push_back(&facts);
  }
  for (const DnsAnswer& answer : from_.answers()) {
    sessions[answer.session].answers.push_back(&answer);
  }
  auto const entries = from_.entries();
  for (std::uint32_t ordinal = 0; ordinal < entries.size(); ++ordinal) {
    sessions[entries[ordinal].session].ordinals.push_back(ordinal);
  }
  for (auto& [number, session] : sessions) {
    // A session whose own record is lost keeps its number, for the sake of its exchanges.
    session.info.number = number;
    std::ranges::sort(session.ordinals, {},
                      [entries](std::uint32_t ordinal) { return entries[ordinal].record_offset; });
  }
  return sessions;
}

Result<void> Copy::run() {
  for (auto const& [number, session] : sessions()) {
    if (auto copied = copy_session(session); !copied) return copied;
  }
  return {};
}

Result<void> Copy::copy_session(const Session& session) {
  if (auto begun = to_.begin_session(session.info); !begun) return fail(begun.error());
  for (const ConnectionFacts* facts : session.connections) {
    if (auto added = to_.add_connection(*facts); !added) return added;
  }
  for (const DnsAnswer* answer : session.answers) {
    if (auto added = to_.add_answer(*answer); !added) return added;
  }
  for (auto const ordinal : session.ordinals) {
    if (auto copied = copy_exchange(ordinal); !copied) return copied;
  }
  return session.info.complete ? to_.end_session() : Result<void>();
}

void Copy::lose(std::uint32_t ordinal) {
  ++report_.exchanges_lost;
  auto const& entry = from_.entries()[ordinal];
  auto const exchange = from_.exchange(ordinal);
  report_.remarks.push_back("exchange " + std::to_string(entry.sequence) + " of session " +
                            std::to_string(entry.session) + " is damaged and left out" +
                            (exchange ? ": " + url_of(exchange->request) : ""));
}

Result<void> Copy::copy_exchange(std::uint32_t ordinal) {
  auto exchange = from_.exchange(ordinal);
  if (!exchange || !from_.check_body(exchange->request.body) ||
      !from_.check_body(exchange->response.body)) {
    lose(ordinal);
    return {};
  }
  for (auto* body : {&exchange->request.body, &exchange->response.body}) {
    auto copied = copy_body(*body);
    if (!copied) return fail(copied.error());
    *body = std::move(*copied);
  }
  if (auto added = to_.add_exchange(std::move(*exchange)); !added) return added;
  ++report_.exchanges_kept;
  return {};
}

Result<StoredBody> Copy::copy_body(const StoredBody& body) {
  BodyWriter writer(to_);
  for (std::size_t i = 0; i < body.extents.size(); ++i) {
    auto const piece = from_.extent(body, i);
    if (!piece) return fail(piece.error());
    if (auto appended = writer.append(*piece); !appended) return fail(appended.error());
  }
  return writer.finish();
}

Result<void> system_result(int returned) {
  return returned == 0 ? Result<void>() : Result<void>(fail(last_system_error()));
}

}  // namespace

Result<RepairReport> repair_archive(const std::filesystem::path& path, bool keep_backup) {
  // Held to the end: nobody else reads, appends or repairs meanwhile.
  auto const lock = open_regular_file(path, FileLock::kExclusive);
  if (!lock) return fail(lock.error());
  auto const from = ArchiveReader::open(path, {.lock = false, .populate = false});
  if (!from) return fail(from.error());
  RepairReport report;
  report.remarks = (*from)->report().remarks;
  report.bytes_before = (*from)->size_bytes();
  auto const with_suffix = [&path](const char* suffix) {
    auto changed = path;
    changed += suffix;
    return changed;
  };
  if (keep_backup) {
    report.backup_path = with_suffix(".bak");
    if (std::filesystem::exists(std::filesystem::symlink_status(report.backup_path))) {
      return fail(archive_errc::already_exists);
    }
  }
  auto const new_path = with_suffix(".repairing");
  ::unlink(new_path.c_str());  // left by a repair that was killed: this one holds the lock
  auto const to = ArchiveWriter::create(new_path, {.fsync = false});
  if (!to) return fail(to.error());
  auto done = Copy(**from, **to, report).run();
  if (done) done = (*to)->close();
  if (done) done = sync_file(new_path);
  report.bytes_after = (*to)->size_bytes();
  if (done && keep_backup) done = system_result(::link(path.c_str(), report.backup_path.c_str()));
  if (done) done = system_result(::rename(new_path.c_str(), path.c_str()));
  if (!done) {
    ::unlink(new_path.c_str());
    return fail(done.error());
  }
  return report;
}

}  // namespace reprise
