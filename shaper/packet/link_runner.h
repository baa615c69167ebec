#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "base/system/descriptor.h"
#include "base/system/thread_priority.h"
#include "shaper/packet/lateness_chain.h"
#include "shaper/packet/link_direction.h"
#include "shaper/packet/link_log.h"
#include "shaper/packet/link_report.h"
#include "shaper/packet/link_series.h"
#include "shaper/packet/network/netlink.h"
#include "shaper/packet/network/network.h"
#include "shaper/packet/packet_ring.h"
#include "shaper/packet/wake_plan.h"
#include "shaper/profile.h"

namespace reprise {

/// The two devices of a shell, open for a link. They outlive its links, of which there can be one
/// after the other.
class LinkDevices {
 public:
  /// Takes the packet and netlink sockets out of `network`.
  static ShellResult<LinkDevices> open(BuiltNetwork& network);

  PacketRing& client() { return client_; }
  PacketRing& server() { return server_; }
  /// Throws away what has arrived and was not read.
  void flush();
  /// What the devices have dropped by themselves since open().
  std::uint64_t drops();

 private:
  struct Device {
    NetlinkSocket* netlink;
    int index;
  };
  LinkDevices(PacketRing client, PacketRing server, BuiltNetwork& network);
  std::uint64_t count_drops();

  PacketRing client_;
  PacketRing server_;
  NetlinkSocket link_netlink_;
  NetlinkSocket client_netlink_;
  NetlinkSocket server_netlink_;
  int indices_[4];
  std::uint64_t drops_before_ = 0;
};

struct LinkRunnerOptions {
  std::uint64_t seed = 0;
  WantedPriority priority = WantedPriority::kBest;  ///< of the link's thread
  FarServers::Delays far_servers;                   ///< what some addresses add to the round trip
  LinkLog* log = nullptr;                           ///< outlives the runner
  LinkSeries* series = nullptr;  ///< outlives the runner; not to be read before stop()
};

/// Moves the packets of a shell through a link, in a thread of its own. Between events the thread
/// sleeps until shortly before the next one is due, and then watches the clock and the rings until
/// it is (WakePlan).
class LinkRunner {
 public:
  /// Starts now. `devices` outlive it. Errors: ThreadPriority::take()'s; epoll's, timerfd's.
  static ShellResult<std::unique_ptr<LinkRunner>> start(LinkDevices& devices,
                                                        const LinkProfile& profile,
                                                        const LinkRunnerOptions& options);
  /// Stops.
  ~LinkRunner();

  /// Ends the thread. What is on the link is gone.
  void stop();
  /// At any time; exact once stopped, some milliseconds old before.
  LinkReport report();

 private:
  LinkRunner(LinkDevices& devices, const LinkProfile& profile, const LinkRunnerOptions& options,
             std::chrono::nanoseconds start);
  ShellResult<void> open_events();
  void run(ThreadPriority& priority);
  bool pass();
  void wait(std::chrono::nanoseconds now);
  bool nap(std::chrono::nanoseconds time);
  /// Whether the time came, and not a packet before.
  bool sleep_until(std::optional<std::chrono::nanoseconds> time);
  std::optional<std::chrono::nanoseconds> next_event() const;
  void publish(std::chrono::nanoseconds now);

  LinkDevices& devices_;
  LinkRunnerOptions options_;
  LatenessHistogram lateness_;
  LatenessChain chain_;
  LinkDirection down_;
  LinkDirection up_;
  StampClock stamps_;
  WakePlan wake_plan_;
  /// So long it need not look at what comes, which is due at least this much later.
  std::chrono::nanoseconds nap_max_;
  std::optional<std::chrono::nanoseconds> watching_since_;
  Descriptor events_;
  Descriptor timer_;
  Descriptor wake_;
  std::atomic<bool> stopping_ = false;
  std::chrono::nanoseconds publish_at_{0};
  ThreadPriority* priority_ = nullptr;  // of thread_, while it runs

  std::mutex report_mutex_;  // over what report() counts; the link's thread never waits for it
  std::uint64_t ring_drops_ = 0;

  std::mutex mutex_;  // over what follows; locked for a copy only
  LinkReport published_;

  std::thread thread_;
};

}  // namespace reprise
