#include <unistd.h>

#include <boost/json.hpp>
#include <cstdio>

#include "base/text/counted.h"
#include "base/text/printable.h"
#include "tools/archive/views.h"
#include "tools/commands.h"

namespace reprise {
namespace {

/// Prints progress if it takes long: a live line on a terminal, otherwise one line per tenth.
class Progress {
 public:
  explicit Progress(std::uint64_t file_bytes)
      : is_wanted_(file_bytes >= kLongBytes), is_terminal_(::isatty(STDERR_FILENO) == 1) {}
  ~Progress() {
    if (is_wanted_ && is_terminal_ && shown_percent_ > 0) std::fprintf(stderr, "\r\033[K");
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(std::uint64_t done, std::uint64_t total) {
    if (!is_wanted_ || total == 0) return;
    auto const percent =
        static_cast<unsigned>(static_cast<double>(done) * 100.0 / static_cast<double>(total));
    if (percent < shown_percent_ + (is_terminal_ ? 1 : 10)) return;
    shown_percent_ = percent;
    std::fprintf(stderr, is_terminal_ ? "\rverified %u %%" : "verified %u %%\n", percent);
  }

 private:
  static constexpr std::uint64_t kLongBytes = 512 << 20;
  bool is_wanted_;
  bool is_terminal_;
  unsigned shown_percent_ = 0;
};

/// A summary of a file without damage in its readable part.
std::string summary(const OpenArchive& archive) {
  auto const& reader = *archive.reader;
  auto const& report = reader.report();
  auto const holds =
      counted(reader.entries().size(), "exchange") + ", " + counted(reader.size_bytes(), "byte");
  if (report.indexed) return "whole: " + holds;
  std::string text = "not closed, but all recorded data is intact: " + holds;
  if (report.tail_lost_bytes > 0) {
    text += ", of which the last " + std::to_string(report.tail_lost_bytes) +
            " were cut off while they were written";
  }
  return text + "; it can be replayed as it is, and `reprise archive repair` closes it";
}

}  // namespace

int verify_archive(const OpenArchive& archive, bool as_json) {
  auto const& reader = *archive.reader;
  boost::json::array problems;
  std::uint64_t count = 0;
  {
    Progress progress(reader.size_bytes());
    count = reader.verify(
        [&](const std::string& problem) {
          if (as_json) {
            problems.emplace_back(as_utf8(problem));
          } else {
            std::printf("%s: %s\n", archive.path.c_str(), printable(problem).c_str());
          }
        },
        [&progress](std::uint64_t done, std::uint64_t total) { progress.show(done, total); });
  }
  auto const& report = reader.report();
  if (as_json) {
    boost::json::object const out = {{"whole", count == 0},
                                     {"closed", report.indexed},
                                     {"exchanges", reader.entries().size()},
                                     {"file_bytes", reader.size_bytes()},
                                     {"tail_lost_bytes", report.tail_lost_bytes},
                                     {"problems", std::move(problems)}};
    std::printf("%s\n", boost::json::serialize(out).c_str());
  } else if (count == 0) {
    std::printf("%s: %s\n", archive.path.c_str(), summary(archive).c_str());
  }
  if (count == 0) return kExitDone;
  std::fprintf(
      stderr, "reprise: %s: %s%s\n", archive.path.c_str(), counted(count, "problem").c_str(),
      report.facts_ignored ? "" : ". Run `reprise archive repair` to keep the undamaged exchanges");
  return kExitArchive;
}

}  // namespace reprise
