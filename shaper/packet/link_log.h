#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "shaper/packet/network/shell_error.h"

namespace reprise {

enum class LinkSide : std::uint8_t { down, up };

/// The end of one packet: how it came, what the link made of it, and when it was passed on.
struct LinkLogEntry {
  enum class Fate : std::uint8_t {
    delivered,
    lost,
    queue_full,
    aqm_drop,
    outage,
    codel_drop,
    send_failed,
  };
  std::chrono::nanoseconds in{0};
  std::chrono::nanoseconds left{0};     ///< the wire, or, dropped by CoDel, the queue; else 0
  std::chrono::nanoseconds due{0};      ///< of a dropped packet: when
  std::chrono::nanoseconds written{0};  ///< of a dropped packet: 0
  std::uint64_t index = 0;              ///< among the packets of its direction, from 0
  std::uint32_t bytes = 0;              ///< of the IP packet
  LinkSide side = LinkSide::down;
  Fate fate = Fate::delivered;
};

const char* to_text(LinkLogEntry::Fate fate);

/// A log of packets, as text: `in_ns direction index bytes fate due_ns written_ns`, a line each, in
/// the order in which they left; times from the link's start. One thread appends, and never waits
/// for the disk: another one writes. If more than kPendingMax wait, the rest is not written, and
/// the last line counts it.
class LinkLog {
 public:
  static constexpr std::size_t kPendingMax = std::size_t{4} << 20;

  /// Replaces `path`. At most `pending_max` entries wait. Errors: open(2)'s.
  static ShellResult<std::unique_ptr<LinkLog>> open(const std::filesystem::path& path,
                                                    std::size_t pending_max = kPendingMax);
  ~LinkLog();

  /// `entry` with times by the link's clock.
  void append(const LinkLogEntry& entry);
  void set_start(std::chrono::nanoseconds start) { start_ = start; }
  /// Writes what waits, and ends the log. Errors: write(2)'s.
  ShellResult<void> close();
  /// How many entries were not written because too many waited; after close().
  std::uint64_t left_out() const { return left_out_; }

 private:
  LinkLog(std::FILE* file, std::size_t pending_max)
      : file_(file), pending_max_(pending_max), writer_([this] { write_all(); }) {}
  void write_all();
  void write(const std::vector<LinkLogEntry>& entries);

  std::FILE* file_;
  std::size_t pending_max_;
  std::chrono::nanoseconds start_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<LinkLogEntry> pending_;
  std::uint64_t left_out_ = 0;
  int error_ = 0;  // of the first write that failed
  bool closing_ = false;
  std::thread writer_;
};

}  // namespace reprise
