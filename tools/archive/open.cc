#include "tools/archive/open.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <fstream>

#include "archive/record.h"
#include "base/text/printable.h"
#include "tools/archive/errors.h"
#include "tools/commands.h"

namespace reprise {
namespace {

/// The message for an unusable archive; for a newer one it names the format.
std::string error_text(const std::filesystem::path& path, std::error_code error) {
  if (error != archive_errc::newer_version) return archive_error_text(path, error);
  std::array<std::byte, kFileHeaderBytes> header{};
  std::ifstream(path, std::ios::binary)
      .read(reinterpret_cast<char*>(header.data()), static_cast<std::streamsize>(header.size()));
  return path.string() + ": written by a newer reprise (format " +
         std::to_string(load_u32(header.data() + 8)) + ", this version reads up to " +
         std::to_string(kFormatVersion) + "). Update reprise";
}

constexpr std::array<int, 3> kSignals = {SIGINT, SIGTERM, SIGHUP};

/// The file that a signal removes; empty: none. Written only while these signals are blocked.
std::array<char, 4096> half_made{};

extern "C" void remove_half_made(int number) {
  ::unlink(half_made.data());
  std::signal(number, SIG_DFL);
  std::raise(number);
}

/// While it lives, these signals wait.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t held;
    sigemptyset(&held);
    for (int const each : kSignals) sigaddset(&held, each);
    ::sigprocmask(SIG_BLOCK, &held, &before_);
  }
  ~SignalsHeld() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t before_{};
};

/// An empty `path`: remove nothing.
void remove_on_signal(const std::filesystem::path& path) {
  auto const text = path.string();
  if (text.size() >= half_made.size()) return;  // then the file stays, as after kill -9
  SignalsHeld const held;
  *std::ranges::copy(text, half_made.begin()).out = '\0';
  for (int const each : kSignals) {
    if (std::signal(each, text.empty() ? SIG_DFL : remove_half_made) == SIG_IGN) {
      std::signal(each, SIG_IGN);  // as under nohup
    }
  }
}

}  // namespace

int say_unusable(const std::filesystem::path& path, std::error_code error) {
  std::fprintf(stderr, "reprise: %s\n", error_text(path, error).c_str());
  return kExitArchive;
}

std::optional<OpenArchive> open_or_say(const std::filesystem::path& path) {
  auto reader = ArchiveReader::open(path, {});
  if (!reader) {
    say_unusable(path, reader.error());
    return std::nullopt;
  }
  return OpenArchive{.path = path, .reader = std::move(*reader)};
}

void print_remarks(const OpenArchive& archive) {
  auto const& report = archive.reader->report();
  auto const& remarks = report.remarks;
  for (auto const& remark : remarks) {
    std::fprintf(stderr, "reprise: %s: %s\n", archive.path.c_str(), remark.c_str());
  }
  if (!remarks.empty() && !report.facts_ignored) {
    std::fprintf(stderr,
                 "reprise: run `reprise archive repair %s` to keep the undamaged exchanges\n",
                 archive.path.c_str());
  }
}

std::optional<OpenArchive> open_with_remarks(const std::filesystem::path& path) {
  auto archive = open_or_say(path);
  if (archive) print_remarks(*archive);
  return archive;
}

bool refuses_as_damaged(const OpenArchive& archive) {
  auto const& report = archive.reader->report();
  if (!report.is_damaged() && !report.facts_ignored) return false;
  say_unusable(archive.path,
               report.facts_ignored ? archive_errc::too_large : archive_errc::corrupt);
  return true;
}

std::optional<NewArchive> NewArchive::make(const std::filesystem::path& path) {
  SignalsHeld const held;  // until it is known what to remove
  auto writer = ArchiveWriter::create(path, {});
  if (writer) return NewArchive(path, std::move(*writer));
  auto const why = writer.error() == archive_errc::already_exists
                       ? std::string("already exists and is not overwritten; choose another file")
                       : "cannot be created: " + writer.error().message();
  std::fprintf(stderr, "reprise: %s: %s\n", path.c_str(), why.c_str());
  return std::nullopt;
}

NewArchive::NewArchive(std::filesystem::path path, std::unique_ptr<ArchiveWriter> writer)
    : path_(std::move(path)), writer_(std::move(writer)) {
  remove_on_signal(path_);
}

NewArchive::NewArchive(NewArchive&&) noexcept = default;

NewArchive::~NewArchive() {
  if (!writer_) return;
  ::unlink(path_.c_str());
  remove_on_signal({});
}

int NewArchive::finish() {
  if (auto closed = writer_->close(); !closed) return say_unusable(path_, closed.error());
  writer_.reset();
  remove_on_signal({});
  return kExitDone;
}

std::optional<Filter> parse_filter(const std::string& text) {
  auto filter = Filter::parse(text);
  if (filter) return std::move(*filter);
  std::fprintf(stderr, "reprise: %s\n", caret_text(text, filter.error()).c_str());
  return std::nullopt;
}

}  // namespace reprise
