#include "tools/wpr/wprgo_file.h"

#include <fcntl.h>
#include <stdlib.h>

#include <cstdio>
#include <system_error>

#include "archive/export/export.h"
#include "base/system/descriptor.h"
#include "base/system/last_error.h"
#include "base/system/private_file.h"
#include "base/text/counted.h"
#include "tools/archive/errors.h"

namespace reprise::wpr {
namespace {

namespace fs = std::filesystem;

/// Writes it to the file `part`, which is to be `to`.
std::string write_part(const fs::path& path, const fs::path& part, const fs::path& to,
                       exporting::Effort effort, exporting::ExportReport& report) {
  auto const archive = ArchiveReader::open(path, {});
  if (!archive) return archive_error_text(path, archive.error());
  Descriptor file(::open(part.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.is_open()) return to.string() + ": " + last_system_error().message();
  auto const session = exporting::choose_session(**archive, 0);
  exporting::FileOutput out(std::move(file));
  auto const fault = exporting::export_session(**archive, exporting::Target::kWprgo,
                                               {.session = session,
                                                .effort = effort,
                                                .answered_only = true,
                                                .time_seed = time_seed_of(**archive, session)},
                                               out, report);
  if (!fault) return {};
  return to.string() + ": " + (fault->system ? fault->system.message() : fault->what);
}

std::vector<std::string> losses_of(const exporting::ExportReport& report) {
  std::vector<std::string> sentences;
  using exporting::Loss;
  for (Loss const what : {Loss::kCut, Loss::kMessages, Loss::kUnwritable}) {
    auto const& text = exporting::loss_texts()[static_cast<std::size_t>(what)];
    auto const count = report.count_of(what);
    if (count > 0) sentences.push_back(counted(count, text.one, text.many));
  }
  return sentences;
}

}  // namespace

fs::path behind_links(fs::path path) {
  constexpr int kLinksMax = 40;  // as open(2)
  for (int links = 0; links < kLinksMax; ++links) {
    std::error_code not_a_link;
    auto const target = fs::read_symlink(path, not_a_link);
    if (not_a_link) break;
    path = path.parent_path() / target;
  }
  return path;
}

std::string why_not_writable(const fs::path& to) {
  std::error_code unknown;
  auto const status = fs::status(to, unknown);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    return to.string() + ": not a regular file; give another name for the archive";
  }
  auto const writable = check_writable(behind_links(to));
  return writable ? std::string() : to.string() + ": " + writable.error().message();
}

std::string replace_once_whole(const fs::path& to,
                               const std::function<std::string(const fs::path& part)>& write) {
  if (auto problem = why_not_writable(to); !problem.empty()) return problem;
  auto const place = behind_links(to);
  auto part = place.string() + ".XXXXXX";
  // A name that is free: what the user has beside the archive stays.
  if (!Descriptor(::mkostemp(part.data(), O_CLOEXEC)).is_open()) {
    return to.string() + ": " + last_system_error().message();
  }
  auto problem = write(part);
  std::error_code error;
  if (problem.empty()) {
    fs::rename(part, place, error);
    if (error) problem = to.string() + ": " + error.message();
  }
  if (!problem.empty()) fs::remove(part, error);
  return problem;
}

std::expected<std::vector<std::string>, std::string> write_wprgo(const fs::path& archive,
                                                                 const fs::path& to,
                                                                 exporting::Effort effort) {
  exporting::ExportReport report;
  auto problem = replace_once_whole(
      to, [&](const fs::path& part) { return write_part(archive, part, to, effort, report); });
  if (!problem.empty()) return std::unexpected(std::move(problem));
  return losses_of(report);
}

void print_kept(std::span<const std::string> lost, const fs::path& recording) {
  for (const std::string& sentence : lost) std::fprintf(stderr, "  %s\n", sentence.c_str());
  std::fprintf(stderr, "reprise: the recording with all of it is in %s\n", recording.c_str());
}

fs::path name_to_keep(const fs::path& archive) {
  auto kept = archive.string() + ".kept.reprise";
  std::error_code error;
  for (int number = 2; fs::exists(fs::symlink_status(kept, error)); ++number) {
    kept = archive.string() + ".kept-" + std::to_string(number) + ".reprise";
  }
  return kept;
}

std::chrono::milliseconds time_seed_of(const ArchiveReader& archive, std::uint32_t session) {
  using std::chrono::milliseconds;
  for (const SessionInfo& info : archive.sessions()) {
    if (info.number != session) continue;
    if (info.injected_clock) return info.injected_clock->start;
    return std::chrono::duration_cast<milliseconds>(info.started.time_since_epoch());
  }
  return milliseconds(0);
}

}  // namespace reprise::wpr
