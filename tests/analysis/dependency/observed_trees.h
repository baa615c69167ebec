#pragma once

// Loads for tests, written down.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "analysis/dependency/dependency_graph.h"
#include "analysis/dependency/observed_page.h"

namespace reprise {

inline const std::string kWrittenPage = "https://a.test/page";

/// The end of a request's URL, the name of a milestone.
inline std::string short_name(const DependencyGraph& graph, std::uint32_t node) {
  auto const label = graph.nodes[node].label();
  return label.starts_with("GET ") ? label.substr(label.rfind('/') + 1) : label;
}

/// What `to` waits for, by short names.
inline std::vector<std::string> waited_for(const DependencyGraph& graph, const std::string& to) {
  std::vector<std::string> from;
  for (DependencyEdge const& edge : graph.edges) {
    if (short_name(graph, edge.to) == to) from.push_back(short_name(graph, edge.from));
  }
  return from;
}

struct WrittenRequest {
  std::string url;
  const char* type;
  std::int64_t start_ms;
  std::int64_t first_byte_ms;
  std::int64_t end_ms;
  std::string initiator;
  const char* status = "200";
  std::int64_t sent_ms = -1;  ///< -1: at the start
};

inline ObservedPage written_load(std::initializer_list<WrittenRequest> requests) {
  ObservedPage page{.calls = {.page = "https://a.test/"}, .milestones = {}};
  for (WrittenRequest const& request : requests) {
    Call call{
        .name = request.url, .start_us = request.start_ms * 1000, .end_us = request.end_ms * 1000};
    call.set("method", "GET");
    call.set("type", request.type);
    call.set("status", request.status);
    call.set("initiator", request.initiator);
    auto const parent = static_cast<std::uint32_t>(page.calls.calls.size());
    page.calls.calls.push_back(std::move(call));
    auto const sent = request.sent_ms < 0 ? request.start_ms : request.sent_ms;
    for (auto const& [name, from, to] :
         {std::tuple("queued", request.start_ms, sent),
          std::tuple("wait", sent, request.first_byte_ms),
          std::tuple("receive", request.first_byte_ms, request.end_ms)}) {
      if (from == to) continue;
      page.calls.calls.push_back({.kind = CallKind::kPhase,
                                  .name = name,
                                  .start_us = from * 1000,
                                  .end_us = to * 1000,
                                  .parent = parent});
    }
  }
  return page;
}

/// A script's run, or a callback: `function` of it, as a listener of `event`.
inline void add_task(ObservedPage& page, const std::string& url, std::int64_t start_ms,
                     std::int64_t end_ms, const std::string& function = {},
                     const std::string& event = {}) {
  Call around{.kind = CallKind::kTask,
              .name = "task",
              .start_us = start_ms * 1000,
              .end_us = end_ms * 1000};
  auto const parent = static_cast<std::uint32_t>(page.calls.calls.size());
  if (!event.empty()) around.set("event", event);
  page.calls.calls.push_back(around);
  Call script = around;
  script.name = "script";
  script.parent = parent;
  script.set("url", url);
  if (!function.empty()) script.set("function", function);
  page.calls.calls.push_back(script);
  script.parent = parent + 1;
  page.calls.calls.push_back(std::move(script));
}

}  // namespace reprise
