#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "analysis/beacons/beacon_view.h"
#include "base/http/url_parts.h"
#include "base/text/printable.h"

namespace reprise {
namespace {

using Name = std::pair<std::string_view, std::string_view>;

/// The types of CALLS.md by initiatorType. What a `link` or a style sheet asks for is told by its
/// suffix.
constexpr std::array<Name, 18> kTypesByInitiator = {{{"navigation", "Document"},
                                                     {"html", "Document"},
                                                     {"iframe", "Document"},
                                                     {"frame", "Document"},
                                                     {"script", "Script"},
                                                     {"img", "Image"},
                                                     {"image", "Image"},
                                                     {"input", "Image"},
                                                     {"xmlhttprequest", "XHR"},
                                                     {"fetch", "Fetch"},
                                                     {"beacon", "Ping"},
                                                     {"ping", "Ping"},
                                                     {"video", "Media"},
                                                     {"audio", "Media"},
                                                     {"source", "Media"},
                                                     {"track", "TextTrack"},
                                                     {"eventsource", "EventSource"},
                                                     {"font", "Font"}}};
constexpr std::array<Name, 15> kTypesBySuffix = {{{"css", "Stylesheet"},
                                                  {"js", "Script"},
                                                  {"mjs", "Script"},
                                                  {"woff", "Font"},
                                                  {"woff2", "Font"},
                                                  {"ttf", "Font"},
                                                  {"otf", "Font"},
                                                  {"png", "Image"},
                                                  {"jpg", "Image"},
                                                  {"jpeg", "Image"},
                                                  {"gif", "Image"},
                                                  {"svg", "Image"},
                                                  {"webp", "Image"},
                                                  {"avif", "Image"},
                                                  {"ico", "Image"}}};

std::string_view type_in(std::span<const Name> types, std::string_view key) {
  auto const found = std::ranges::find(types, key, &Name::first);
  return found == types.end() ? std::string_view() : found->second;
}

/// Empty if nothing tells it.
std::string_view resource_type(const BeaconRequest& request) {
  auto const known = type_in(kTypesByInitiator, request.initiator);
  if (!known.empty()) return known;
  auto const path = without_query(request.name);
  auto const file = path.substr(path.rfind('/') + 1);
  auto const dot = file.rfind('.');
  return dot == std::string_view::npos ? "" : type_in(kTypesBySuffix, file.substr(dot + 1));
}

class TreeMaker {
 public:
  explicit TreeMaker(const BeaconView& view) : view_(view) {}

  CallTree make() {
    tree_.page = as_utf8(view_.page);
    tree_.started_unix_ms = view_.started_unix_ms;
    tree_.window_us = view_.window_us();
    for (auto const& [name, value] : view_.tags) {
      tree_.tags.emplace_back(as_utf8(name), as_utf8(value));
    }
    for (auto const& [what, count] : view_.losses) tree_.lose(what, count);
    for (BeaconRequest const& request : view_.requests) add(request);
    for (BeaconWork const& work : view_.works) add(work);
    normalize(tree_);
    return std::move(tree_);
  }

 private:
  Call& add(CallKind kind, std::string_view name, std::int64_t start_us, std::int64_t end_us) {
    return tree_.calls.emplace_back(
        Call{.kind = kind, .name = as_utf8(name), .start_us = start_us, .end_us = end_us});
  }

  void add(const BeaconRequest& request) {
    auto const place = static_cast<std::uint32_t>(tree_.calls.size());
    Call& call = add(CallKind::kRequest, request.name, request.start_us, request.end_us);
    auto const set = [&call](std::string_view name, std::string_view value) {
      if (!value.empty()) call.set(name, as_utf8(value));
    };
    set("type", resource_type(request));
    if (request.status > 0) set("status", std::to_string(request.status));
    set("protocol", request.protocol);
    set("mime", request.mime);
    if (request.bytes > 0) set("bytes", std::to_string(request.bytes));
    if (request.is_from_cache()) set("cached", "yes");

    set("server_timing",
        server_timing(static_cast<std::uint32_t>(&request - view_.requests.data())));
    for (BeaconPhase const& phase : phases_of(request)) {
      add(CallKind::kPhase, phase.name(), phase.start_us, phase.end_us).parent = place;
    }
  }

  /// As the header field was (W3C Server Timing).
  std::string server_timing(std::uint32_t request) {
    std::string field;
    for (; next_time_ < view_.server_times.size(); ++next_time_) {
      BeaconServerTime const& time = view_.server_times[next_time_];
      if (time.request != request) break;
      if (!field.empty()) field += ", ";
      field += time.name;
      if (time.duration_us != 0) {
        field += ";dur=" + std::to_string(time.duration_us / 1000);
        if (auto const rest = time.duration_us % 1000; rest != 0) {
          field += "." + std::to_string(1000 + rest).substr(1);
        }
      }
      if (time.description.empty()) continue;
      field += ";desc=\"";
      for (char const c : time.description) {
        if (c == '"' || c == '\\') field += '\\';
        field += c;
      }
      field += '"';
    }
    return field;
  }

  void add(const BeaconWork& work) {
    Call& call = add(work.kind, work.name, work.start_us, work.end_us);
    if (!work.url.empty()) call.set("url", as_utf8(work.url));
    if (!work.function.empty()) call.set("function", as_utf8(work.function));
  }

  const BeaconView& view_;
  CallTree tree_;
  std::size_t next_time_ = 0;
};

}  // namespace

CallTree tree_of(const BeaconView& view) {
  return TreeMaker(view).make();
}

}  // namespace reprise
