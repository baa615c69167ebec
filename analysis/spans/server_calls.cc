#include "analysis/spans/server_calls.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "analysis/trench/trench_fields.h"

namespace reprise {
namespace {

/// A part of the view.
struct Room {
  std::int64_t from_us = 0;
  std::int64_t to_us = 0;

  std::int64_t length() const { return to_us - from_us; }
};

/// Rooms for durations inside `room`: one after the other; if that is too long, some ran at the
/// same time, and all begin at its start. `slack_before_us` is kept free before the first one.
std::vector<Room> lay_out(std::span<const std::int64_t> durations, const Room& room,
                          std::int64_t slack_before_us) {
  auto const sum = std::accumulate(durations.begin(), durations.end(), std::int64_t{0});
  bool const fits = sum <= room.length();
  std::vector<Room> rooms;
  auto at = fits ? room.from_us + slack_before_us : room.from_us;
  for (auto const duration : durations) {
    rooms.push_back({at, std::min(at + duration, room.to_us)});
    if (fits) at += duration;
  }
  return rooms;
}

/// As much time before as after: the way there takes as long as the way back.
std::int64_t centring(std::int64_t sum_us, const Room& room) {
  return std::max<std::int64_t>(0, (room.length() - sum_us) / 2);
}

Room room_of(const CallTree& tree, std::uint32_t call) {
  return {tree.calls[call].start_us, tree.calls[call].end_us};
}

std::uint32_t add(CallTree& tree, std::uint32_t parent, std::string name, const Room& room,
                  std::string_view source) {
  Call call{.kind = CallKind::kSpan,
            .name = std::move(name),
            .start_us = room.from_us,
            .end_us = room.to_us,
            .parent = parent};
  call.set(kSourceAttribute, std::string(source));
  tree.calls.push_back(std::move(call));
  return static_cast<std::uint32_t>(tree.calls.size() - 1);
}

void count_cut(CallTree& tree, std::int64_t duration_us, const Room& room) {
  if (duration_us > room.length()) tree.lose("server times longer than their place, cut");
}

std::string name_of(const TrenchPoint& point) {
  return point.class_name.empty() ? point.method : point.class_name + "." + point.method;
}

}  // namespace

bool tells_server_time(std::string_view field_name) {
  return equals_ignoring_case(field_name, "Server-Timing") ||
         equals_ignoring_case(field_name, kTrenchField);
}

std::uint32_t wait_of(const CallTree& tree, std::uint32_t request) {
  for (std::uint32_t i = request + 1; i < tree.calls.size(); ++i) {
    const Call& call = tree.calls[i];
    if (call.parent == request && call.kind == CallKind::kPhase && call.name == "wait") return i;
  }
  return request;
}

void add_server_timing(CallTree& tree, std::uint32_t wait, std::span<const ServerTiming> metrics) {
  std::vector<const ServerTiming*> timed;
  for (const ServerTiming& metric : metrics) {
    if (metric.duration_us.value_or(0) > 0) timed.push_back(&metric);
  }
  auto parent = wait;
  auto room = room_of(tree, wait);
  auto const add_metric = [&](const ServerTiming& metric, const Room& place) {
    count_cut(tree, *metric.duration_us, place);
    auto const added = add(tree, parent, metric.name, place, kFromServerTiming);
    if (!metric.description.empty()) tree.calls[added].set("description", metric.description);
    return added;
  };
  // By custom, "total" contains the others.
  auto const total = std::ranges::find_if(timed, [](const ServerTiming* metric) {
    return equals_ignoring_case(metric->name, "total");
  });
  bool const has_total = total != timed.end();
  if (has_total) {
    auto const duration = *(*total)->duration_us;
    room = lay_out({&duration, 1}, room, centring(duration, room))[0];
    parent = add_metric(**total, room);
    timed.erase(total);
  }
  std::vector<std::int64_t> durations;
  for (auto const* metric : timed) durations.push_back(*metric->duration_us);
  auto const sum = std::accumulate(durations.begin(), durations.end(), std::int64_t{0});
  auto const rooms = lay_out(durations, room, has_total ? 0 : centring(sum, room));
  for (std::size_t i = 0; i < timed.size(); ++i) add_metric(*timed[i], rooms[i]);
}

void add_trench(CallTree& tree, std::uint32_t wait, const TrenchTrace& trace, TraceNames& names) {
  if (tree.calls.size() + trace.nodes.size() > CallTree::kCallsMax) {
    return tree.lose("calls in servers beyond the first million calls of a view",
                     trace.nodes.size());
  }
  std::size_t names_bytes = 0;
  for (const TrenchNode& node : trace.nodes) {
    const TrenchPoint& point = trace.points[node.point];
    names_bytes += point.class_name.size() + point.method.size();
  }
  if (names_bytes > TrenchTrace::kAllNamesBytesMax) {
    return tree.lose("calls in servers of traces with more than 128 MiB of names",
                     trace.nodes.size());
  }
  if (names_bytes > TraceNames::kBytesMax - names.bytes) {
    return tree.lose("calls in servers beyond the first 256 MiB of names of a file's traces",
                     trace.nodes.size());
  }
  names.bytes += names_bytes;
  // Who is called, of each node; the last list is of those that the server calls.
  std::vector<std::vector<std::uint32_t>> called(trace.nodes.size() + 1);
  for (std::uint32_t i = 0; i < trace.nodes.size(); ++i) {
    auto const caller = trace.nodes[i].caller;
    called[caller == TrenchNode::kNoCaller ? trace.nodes.size() : caller].push_back(i);
  }
  std::vector<Room> rooms(trace.nodes.size());
  auto const lay_out_called = [&](std::size_t caller, const Room& room, bool centred) {
    std::vector<std::int64_t> durations;
    for (auto const node : called[caller]) durations.push_back(trace.nodes[node].inclusive_us);
    auto const sum = std::accumulate(durations.begin(), durations.end(), std::int64_t{0});
    auto const places = lay_out(durations, room, centred ? centring(sum, room) : 0);
    for (std::size_t i = 0; i < places.size(); ++i) rooms[called[caller][i]] = places[i];
  };
  lay_out_called(trace.nodes.size(), room_of(tree, wait), true);
  auto const first = static_cast<std::uint32_t>(tree.calls.size());
  for (std::uint32_t i = 0; i < trace.nodes.size(); ++i) {
    const TrenchNode& node = trace.nodes[i];
    const TrenchPoint& point = trace.points[node.point];
    lay_out_called(i, rooms[i], false);
    count_cut(tree, node.inclusive_us, rooms[i]);
    auto const parent = node.caller == TrenchNode::kNoCaller ? wait : first + node.caller;
    Call& call = tree.calls[add(tree, parent, name_of(point), rooms[i], kFromBanky)];
    call.set("hits", std::to_string(node.hits));
    if (point.line >= 0) call.set("line", std::to_string(point.line));
  }
}

void add_server_calls(CallTree& tree, std::uint32_t request, std::uint32_t wait, TraceNames& names,
                      HeaderList head, HeaderList trailers, const TrenchTrace* fetched) {
  auto const metrics = read_server_timing(head, trailers);
  for (const ServerTiming& metric : metrics) {
    if (metric.duration_us) continue;
    tree.calls[request].set("server-timing." + metric.name, metric.description);
  }
  auto const trench = read_trench_fields(head, trailers);
  if (!trench) {
    tree.calls[request].set("trench-error", trench.error());
    tree.lose("traces in Banky-Trace fields that cannot be read");
  } else if (!trench->url.empty()) {
    tree.calls[request].set("trench-url", trench->url);
  }
  if (trench && trench->trace) {
    add_trench(tree, wait, *trench->trace, names);
  } else if (trench && fetched != nullptr) {
    add_trench(tree, wait, *fetched, names);
  } else {
    add_server_timing(tree, wait, metrics);
  }
}

}  // namespace reprise
