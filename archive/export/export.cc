#include "archive/export/export.h"

#include <algorithm>

#include "archive/export/job.h"

namespace reprise::exporting {

std::uint32_t choose_session(const ArchiveReader& archive, std::uint32_t asked) {
  std::uint32_t last = 0;
  std::uint32_t last_complete = 0;
  for (const SessionInfo& info : archive.sessions()) {
    if (asked != 0 && info.number == asked) return asked;
    last = info.number;
    if (info.complete) last_complete = info.number;
  }
  if (asked != 0) return 0;
  return last_complete != 0 ? last_complete : last;
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
  GzipOutput compressed(to);
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
