#pragma once

// One observed load as what a change can act on: of each node its gap, its connection, the server's
// part and the link's part. Pure. Times are in us, as real numbers.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/dependency/dependency_graph.h"
#include "analysis/dependency/observed_page.h"
#include "analysis/prediction/page_change.h"
#include "analysis/prediction/tcp_link.h"

namespace reprise {

/// What is known of the link; 0: unknown.
struct PredictionLink {
  double bytes_per_second = 0;  ///< towards the client. Unknown: transfers do not share anything
  std::int64_t rtt_us = 0;      ///< unknown: the shortest connection or wait of a load
  WriteAhead ahead;             ///< of the servers
};

/// Of a new connection, without what its packets waited in the link's queue.
struct ConnectionSetup {
  double dns_us = 0, connect_us = 0, tls_us = 0;
  double sum() const { return dns_us + connect_us + tls_us; }
};

/// The thread's work that a node waited for: it was ready while the thread was busy, or it followed
/// a script's run and the work behind that. The first paint waited for the layout before it.
struct ThreadWait {
  std::uint32_t from = 0;  ///< the node that this work followed
  DependencyAfter after = DependencyAfter::kEnd;
  /// From that moment to the start; of a paint, to the end of its layout, and pauses after that.
  double length_us = 0;
  double processor_us = 0;     ///< the part of it in which the thread had a processor
  double after_parser_us = 0;  ///< the part of it after the last document was parsed
  double gap_us = 0;  ///< from the join to the start, had the thread been free; not of a paint
};

/// The main thread's work in one piece that is no node: layout, painting, small scripts.
struct ThreadWork {
  std::uint32_t from = 0;  ///< the node that it followed
  DependencyAfter after = DependencyAfter::kEnd;
  double gap_us = 0, busy_us = 0;  ///< from that moment to its start, as of a node
  double length_us = 0;
  double processor_us = 0;          ///< the part of it in which the thread had a processor
  bool is_of_earlier_task = false;  ///< its task began before the run that it followed
  bool is_after_parser = false;     ///< it came after the last document was parsed
};

struct NodeParts {
  bool present = false;
  double start_us = 0, end_us = 0;  ///< as observed
  double gap_us = 0;                ///< from the join to the start
  double busy_us = 0;  ///< the main thread's time on a processor in it; without tasks, all of it
  bool takes_turns = false;  ///< it runs when the main thread has done what was ready before it
  std::optional<ThreadWait> thread;
  // Of a request.
  std::size_t origin = 0;  ///< in LoadParts::origins: its URL's, and its connection's if known
  /// From the browser's cache, or it failed without an answer: nothing of it is on the network but
  /// look-ups. Of the parts below it only has these, or `think_us`, from the start to the first
  /// byte, and `tail_us`, from there to the end.
  bool is_local = false;
  /// Its name does not exist: `own_setup.dns_us` is the first look-up.
  bool is_nameless() const { return is_local && own_setup.dns_us > 0; }
  double second_look_up_us = 0;  ///< follows the first one; 0: the browser asked once
  /// By a 304: its body, whatever its size, was not sent.
  bool is_revalidated = false;
  PredictedProtocol protocol = PredictedProtocol::kH2;
  ConnectionSetup own_setup;  ///< beside the origin's first one; empty: it uses that one
  bool can_be_held_back = false, is_held_back = false;  ///< see held_requests.h
  double hold_us = 0;          ///< from the start until it asks for its connection
  double queue_us = 0;         ///< until it is its turn to be sent, though it could be
  double send_us = 0;          ///< from its turn until it is sent, after others of that moment
  double round_trip_us = 0;    ///< until the first byte, the network's part
  double think_us = 0;         ///< the server's part, without what waited in the link's queue
  double bytes = 0;            ///< through the link
  std::optional<int> urgency;  ///< unknown: unordered
  bool incremental = true;     ///< without a known urgency, it shares its connection
  double taken_up_us = 0;      ///< of the page's document, from its first byte until it is parsed
  bool is_of_head = false;     ///< a script that the body waits for
  /// A script for which, a trace says, no paint waits, whatever its urgency: a module, for example.
  bool blocks_nothing = false;
  /// Until the last byte is there, after it came out of the link and after those that came before
  /// it over the same connection: it waits for what was lost, or for a window. 0 without a rate.
  double stall_us = 0;
  double tail_us = 0;       ///< from then until the end
  double task_us = 0;       ///< the length of a task
  double task_busy_us = 0;  ///< of it, on a processor
};

struct LoadParts {
  std::vector<NodeParts> nodes;          ///< by the graph's nodes
  std::vector<ConnectionSetup> origins;  ///< of the first connection; if shared, only its look-up
  /// By origin, the one whose connection of HTTP/2 it uses: itself, or the origin that made it.
  std::vector<std::size_t> shares;
  std::size_t shared_by(std::size_t origin) const {
    return origin < shares.size() ? shares[origin] : origin;
  }
  bool is_shared(std::size_t origin) const { return shared_by(origin) != origin; }
  std::vector<ThreadWork> work;  ///< none if nothing is known of the thread
  double bytes_per_us = 0;       ///< of the link; 0: unknown
  WriteAhead ahead;              ///< of the servers
  double round_trip_us = 0;      ///< the shortest one to a server
  bool connects_ahead = false;   ///< see PredictionOptions
  std::array<std::optional<std::int64_t>, kMilestones> observed_us;
};

/// The load is sent over a TcpLink as it was observed, to know what waited in its queue, and behind
/// other responses of the same connection. What a transfer took beyond that is its tail.
LoadParts load_parts(const DependencyGraph& graph, const ObservedPage& load,
                     const PredictionLink& link);

}  // namespace reprise
