#include "archive/export/export.h"

#include "archive/export/job.h"
#include "archive/match/match.h"

namespace reprise::exporting {

std::uint32_t choose_session(const ArchiveReader& archive, std::uint32_t asked) {
  if (asked == 0) return session_to_replay(archive);
  return has_session(archive, asked) ? asked : 0;
}

std::optional<Fault> export_session(const ArchiveReader& archive, Target target,
                                    const ExportOptions& options, Output& to,
                                    ExportReport& report) {
  auto chosen = options;
  chosen.session = choose_session(archive, options.session);
  if (chosen.session == 0) {
    return Fault{.what = options.session == 0
                             ? "the archive has no session"
                             : "the archive has no session " + std::to_string(options.session),
                 .system = {}};
  }
  Job job(archive, chosen, report);
  GzipOutput compressed(to, options.effort);
  // Web Page Replay reads only compressed archives.
  Output& out = options.gzip || target == Target::kWprgo ? compressed : to;
  switch (target) {
    case Target::kHar:
      write_har(job, out);
      break;
    case Target::kWarc:
      write_warc(job, out);
      break;
    case Target::kWprgo:
      write_wprgo(job, out);
      break;
  }
  compressed.flush();
  to.flush();
  if (!job.failed() && to.error()) job.fail({.what = {}, .system = to.error()});
  return job.fault();
}

}  // namespace reprise::exporting
