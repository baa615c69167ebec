#include "shaper/packet/link_log.h"

#include <fcntl.h>

#include <cerrno>
#include <cinttypes>
#include <utility>

namespace reprise {
namespace {

constexpr std::chrono::milliseconds kPeriod{100};

}  // namespace

const char* to_text(LinkLogEntry::Fate fate) {
  switch (fate) {
    case LinkLogEntry::Fate::delivered:
      return "delivered";
    case LinkLogEntry::Fate::lost:
      return "lost";
    case LinkLogEntry::Fate::queue_full:
      return "queue_full";
    case LinkLogEntry::Fate::aqm_drop:
      return "aqm_drop";
    case LinkLogEntry::Fate::outage:
      return "outage";
    case LinkLogEntry::Fate::codel_drop:
      return "codel_drop";
    case LinkLogEntry::Fate::send_failed:
      return "send_failed";
  }
  std::unreachable();
}

ShellResult<std::unique_ptr<LinkLog>> LinkLog::open(const std::filesystem::path& path,
                                                    std::size_t pending_max) {
  // It holds the addresses that a command talked to.
  int const fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  std::FILE* const file = fd < 0 ? nullptr : ::fdopen(fd, "w");
  if (file == nullptr) return shell_failure(path.string() + " cannot be written");
  std::fputs("# in_ns direction index bytes fate due_ns written_ns\n", file);
  return std::unique_ptr<LinkLog>(new LinkLog(file, pending_max));
}

LinkLog::~LinkLog() {
  static_cast<void>(close());
}

void LinkLog::append(const LinkLogEntry& entry) {
  std::lock_guard const lock(mutex_);
  if (pending_.size() < pending_max_) {
    pending_.push_back(entry);
  } else {
    ++left_out_;
  }
}

ShellResult<void> LinkLog::close() {
  if (file_ == nullptr) return {};
  {
    std::lock_guard const lock(mutex_);
    closing_ = true;
  }
  changed_.notify_one();
  writer_.join();
  if (left_out_ > 0 && std::fprintf(file_, "# left out: %" PRIu64 "\n", left_out_) < 0 &&
      error_ == 0) {
    error_ = errno;
  }
  if (std::fclose(std::exchange(file_, nullptr)) != 0 && error_ == 0) error_ = errno;
  if (error_ != 0) {
    return shell_failure("the link's log could not be written to its end", {}, error_);
  }
  return {};
}

void LinkLog::write_all() {
  std::vector<LinkLogEntry> entries;
  bool last = false;
  while (!last) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, kPeriod, [this] { return closing_; });
      last = closing_;
      entries.swap(pending_);
    }
    write(entries);
    entries.clear();
  }
}

void LinkLog::write(const std::vector<LinkLogEntry>& entries) {
  auto const from_start = [this](std::chrono::nanoseconds time) {
    return time.count() == 0 ? std::int64_t{0} : std::int64_t{(time - start_).count()};
  };
  for (const LinkLogEntry& entry : entries) {
    auto const written = std::fprintf(
        file_, "%" PRId64 " %s %" PRIu64 " %" PRIu32 " %s %" PRId64 " %" PRId64 "\n",
        from_start(entry.in), entry.side == LinkSide::down ? "down" : "up", entry.index,
        entry.bytes, to_text(entry.fate), from_start(entry.due), from_start(entry.written));
    if (written < 0 && error_ == 0) error_ = errno;
  }
}

}  // namespace reprise
