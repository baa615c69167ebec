#include "archive/repair.h"

#include <set>

#include "archive/copy.h"
#include "archive/replace.h"
#include "base/text/counted.h"

namespace reprise {
namespace {

/// Drops damaged parts, with a remark.
class Rescue final : public ArchiveCopy {
 public:
  Rescue(const ArchiveReader& from, ArchiveWriter& to, RepairReport& report)
      : ArchiveCopy(from, to), report_(report) {
    for (const SessionInfo& info : from.sessions()) started_.insert(info.number);
  }

 protected:
  void change_session(SessionInfo& info) override;
  Result<void> carry(std::uint32_t ordinal, Exchange& exchange) override;
  Result<void> on_damaged(std::uint32_t ordinal) override;
  Result<void> on_damaged_message(const MessageOwner& owner) override;

 private:
  RepairReport& report_;
  std::set<std::uint32_t> started_;  ///< the sessions whose start is whole
};

void Rescue::change_session(SessionInfo& info) {
  if (started_.contains(info.number)) return;
  report_.remarks.push_back("session " + std::to_string(info.number) +
                            " lost its start time, seed and pages");
}

Result<void> Rescue::carry(std::uint32_t /*ordinal*/, Exchange& exchange) {
  // Before copying any part: half a body would be dead space.
  for (auto* body : {&exchange.request.body, &exchange.response.body}) {
    if (auto checked = from().check_body(*body); !checked) return checked;
  }
  if (auto carried = carry_bodies(exchange); !carried) return carried;
  ++report_.exchanges_kept;
  return {};
}

Result<void> Rescue::on_damaged(std::uint32_t ordinal) {
  ++report_.exchanges_lost;
  auto const& entry = from().entries()[ordinal];
  auto const exchange = from().exchange(ordinal);
  report_.remarks.push_back("exchange " + std::to_string(entry.sequence) + " of session " +
                            std::to_string(entry.session) + " is damaged and was dropped" +
                            (exchange ? ": " + url_of(exchange->request) : ""));
  return {};
}

Result<void> Rescue::on_damaged_message(const MessageOwner& owner) {
  report_.remarks.push_back("a message of exchange " + std::to_string(owner.sequence) +
                            " of session " + std::to_string(owner.session) +
                            " is damaged and was dropped");
  return {};
}

/// Adds the losses that the copy does not see, as the reader has no entries for them.
void note_unread_exchanges(const OpenReport& original, RepairReport& report) {
  report.exchanges_lost = original.damaged_exchanges;
  if (original.damaged_exchanges > 0) {
    report.remarks.push_back(counted(original.damaged_exchanges,
                                     "exchange whose record is damaged was dropped",
                                     "exchanges whose records are damaged were dropped"));
  }
  report.more_may_be_lost = original.tail_damaged;
  if (original.tail_damaged) {
    report.remarks.emplace_back(
        "the end of the file cannot be read: the number of exchanges lost there is unknown");
  }
}

}  // namespace

Result<RepairReport> repair_archive(const std::filesystem::path& path, bool keep_backup) {
  RepairReport report;
  auto replacement = Replacement::begin(path, ".repairing", Replacement::Damaged::kReplaced);
  if (!replacement) return fail(replacement.error());
  if (keep_backup) {
    report.backup_path = replacement->path();
    report.backup_path += ".bak";
  }
  if (keep_backup && std::filesystem::exists(std::filesystem::symlink_status(report.backup_path))) {
    return fail(archive_errc::already_exists);
  }
  report.remarks = replacement->original().report().remarks;
  note_unread_exchanges(replacement->original().report(), report);
  report.bytes_before = replacement->original().size_bytes();
  auto done = Rescue(replacement->original(), replacement->target(), report).run();
  if (done) done = replacement->commit(report.backup_path);
  if (!done) return fail(done.error());
  report.bytes_after = replacement->target().size_bytes();
  return report;
}

}  // namespace reprise
