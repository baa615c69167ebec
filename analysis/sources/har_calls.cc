#include "analysis/sources/har_calls.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "analysis/sources/json_walk.h"
#include "analysis/sources/request_call.h"
#include "analysis/spans/server_calls.h"
#include "archive/import/collect/http_text.h"
#include "base/http/media_type.h"
#include "base/http/version.h"

namespace reprise {
namespace {

using importing::JsonKind;
using importing::JsonReader;

/// In ns since 1970.
using UnixTime = std::optional<std::int64_t>;

struct Timings {
  double blocked = -1, dns = -1, connect = -1, ssl = -1, send = -1, wait = -1, receive = -1;
};
constexpr std::pair<std::string_view, double Timings::*> kTimings[] = {
    {"blocked", &Timings::blocked}, {"dns", &Timings::dns},   {"connect", &Timings::connect},
    {"ssl", &Timings::ssl},         {"send", &Timings::send}, {"wait", &Timings::wait},
    {"receive", &Timings::receive},
};

struct Field {
  std::string name;
  std::string value;
};

struct Entry {
  std::string page;
  UnixTime started;
  double time_ms = -1;  ///< of the whole entry
  Timings timings;
  Call call;
  std::vector<Field> response_fields;  ///< those of servers about their own time
};

struct Page {
  std::string url;  ///< empty if the title is not a URL
  UnixTime started;
  double load_ms = -1;
  std::vector<Entry> entries;
};

std::int64_t us_of(double ms) {
  return std::llround(std::clamp(ms, 0.0, 1e9) * 1000);
}

class HarCalls {
 public:
  explicit HarCalls(importing::ByteReader& from) : from_(from), json_(from) {}

  std::expected<std::vector<CallTree>, std::string> run() {
    for_members(json_,
                [this](std::string_view name) { name == "log" ? read_log() : json_.skip(); });
    json_.end();
    if (from_.failed()) return std::unexpected(from_.fault()->what);
    std::vector<CallTree> trees;
    for (auto& [id, page] : pages_) {
      if (!page.entries.empty()) trees.push_back(tree_of(page));
    }
    if (trees.empty()) return std::unexpected("it has no entries with a time");
    std::ranges::sort(
        trees, {}, [](const CallTree& tree) { return std::pair(tree.started_unix_ms, tree.page); });
    if (lost_entries_ > 0)
      trees.front().lose("entries without URL or time, skipped", lost_entries_);
    if (cut_entries_ > 0) trees.front().lose("entries with a text above 1 MiB, cut", cut_entries_);
    return trees;
  }

 private:
  std::string text() { return limited_text(json_, is_cut_); }
  std::string url() { return limited_url(json_, is_cut_); }
  UnixTime time() { return importing::parse_time(text()); }

  void read_log() {
    for_members(json_, [this](std::string_view name) {
      if (name == "pages") {
        for_elements(json_, [this] { read_page(); });
      } else if (name == "entries") {
        for_elements(json_, [this] { read_entry(); });
      } else {
        json_.skip();
      }
    });
  }

  Page& page_called(const std::string& id) {
    if (pages_.size() < kHarPagesMax || pages_.contains(id)) return pages_[id];
    return pages_[""];
  }

  void read_page() {
    Page page;
    std::string id;
    for_members(json_, [&](std::string_view name) {
      if (name == "id") {
        id = text();
      } else if (name == "title") {
        auto const title = text();
        if (importing::parse_url(title)) page.url = title;
      } else if (name == "_URL") {
        page.url = url();
      } else if (name == "startedDateTime") {
        page.started = time();
      } else if (name == "pageTimings") {
        for_members(json_, [&](std::string_view timing) {
          if (timing == "onLoad") {
            page.load_ms = json_.number().value_or(-1);
          } else {
            json_.skip();
          }
        });
      } else {
        json_.skip();
      }
    });
    Page& known = page_called(id);
    page.entries = std::move(known.entries);  // some tools write the entries first
    known = std::move(page);
  }

  void read_entry() {
    Entry entry;
    is_cut_ = false;
    for_members(json_, [&](std::string_view name) {
      if (name == "pageref") {
        entry.page = text();
      } else if (name == "startedDateTime") {
        entry.started = time();
      } else if (name == "time") {
        entry.time_ms = json_.number().value_or(-1);
      } else if (name == "request") {
        read_request(entry.call);
      } else if (name == "response") {
        read_response(entry);
      } else if (name == "timings") {
        read_timings(entry.timings);
      } else if (name == "serverIPAddress") {
        set_if_any(entry.call, "address", text());
      } else if (name == "_resourceType") {
        set_if_any(entry.call, "type", resource_type(text()));
      } else if (name == "_priority") {
        set_if_any(entry.call, "priority", text());
      } else if (name == "_initiator") {
        read_initiator(entry.call);
      } else if (name == "_fromCache") {
        auto const cache = text();
        if (!cache.empty() && cache != "false") entry.call.set("cached", "yes");
      } else {
        json_.skip();
      }
    });
    if (json_.failed()) return;
    if (entry.call.name.empty() || !entry.started) {
      ++lost_entries_;
    } else {
      if (is_cut_) ++cut_entries_;
      page_called(entry.page).entries.push_back(std::move(entry));
    }
  }

  void read_request(Call& call) {
    for_members(json_, [&](std::string_view name) {
      if (name == "method") {
        set_if_any(call, "method", text());
      } else if (name == "url") {
        call.name = url();
      } else if (name == "headers") {
        auto const fields = read_headers();
        auto const parent = find_header(views_of(fields), "traceparent");
        set_if_any(call, "traceparent", std::string(parent.value_or("")));
      } else {
        json_.skip();
      }
    });
  }

  void read_response(Entry& entry) {
    Call& call = entry.call;
    for_members(json_, [&](std::string_view name) {
      if (name == "status") {
        auto const status = json_.number().value_or(0);
        if (status >= 100 && status < 1000) {
          call.set("status", std::to_string(static_cast<int>(status)));
        }
      } else if (name == "httpVersion") {
        set_if_any(call, "protocol", protocol_id(text()));
      } else if (name == "headers") {
        auto fields = read_headers();
        set_if_any(call, "cdn", cdn_answer(views_of(fields)));
        std::erase_if(fields, [](const Field& field) { return !tells_server_time(field.name); });
        entry.response_fields = std::move(fields);
      } else if (name == "content") {
        for_members(json_, [&](std::string_view member) {
          if (member == "mimeType") {
            auto const type = text();
            HeaderView const field{.name = "content-type", .value = type};
            set_if_any(call, "mime", media_type({&field, 1}));
          } else {
            json_.skip();
          }
        });
      } else if (name == "_transferSize") {
        auto const bytes = json_.number().value_or(-1);
        if (bytes >= 0) call.set("bytes", std::to_string(std::llround(std::min(bytes, 1e15))));
      } else if (name == "_error") {
        set_if_any(call, "failure", text());
      } else {
        json_.skip();
      }
    });
  }

  static std::vector<HeaderView> views_of(const std::vector<Field>& fields) {
    std::vector<HeaderView> views;
    for (Field const& field : fields) views.push_back({.name = field.name, .value = field.value});
    return views;
  }
  std::vector<Field> read_headers() {
    std::vector<Field> fields;
    for_elements(json_, [&] {
      Field field;
      for_members(json_, [&](std::string_view name) {
        if (name == "name") {
          field.name = text();
        } else if (name == "value") {
          field.value = text();
        } else {
          json_.skip();
        }
      });
      fields.push_back(std::move(field));
    });
    return fields;
  }

  void read_timings(Timings& timings) {
    for_members(json_, [&](std::string_view name) {
      for (auto const& [known, member] : kTimings) {
        if (known == name) return void(timings.*member = json_.number().value_or(-1));
      }
      json_.skip();
    });
  }

  /// A URL as text (our older files), or Chromium's object: `url`, or the first script on its
  /// stack.
  void read_initiator(Call& call) {
    if (json_.peek() == JsonKind::kString) return set_if_any(call, "initiator", url());
    std::string asked_by;
    std::string script;
    for_members(json_, [&](std::string_view name) {
      if (name == "url") {
        asked_by = url();
      } else if (name == "stack") {
        for_members(json_, [&](std::string_view member) {
          if (member != "callFrames") return json_.skip();
          for_elements(json_, [&] {
            for_members(json_, [&](std::string_view part) {
              auto const value = part == "url" ? url() : (json_.skip(), std::string());
              if (script.empty()) script = value;
            });
          });
        });
      } else {
        json_.skip();
      }
    });
    set_if_any(call, "initiator", asked_by.empty() ? script : asked_by);
  }

  /// The ALPN id for "HTTP/2.0" and other forms; unknown words stay.
  static std::string protocol_id(const std::string& word) {
    auto const version = importing::parse_version(word);
    return version == HttpVersion::kUnknown ? word : lower_case(to_string(version));
  }

  /// Chromium writes "xhr", DevTools' own protocol "XHR".
  static std::string resource_type(const std::string& word) {
    static constexpr std::string_view kWords[] = {
        "Document", "Stylesheet", "Script",    "Image",     "Font",           "Media",
        "XHR",      "Fetch",      "WebSocket", "Ping",      "EventSource",    "Preflight",
        "Manifest", "Other",      "Prefetch",  "TextTrack", "SignedExchange", "CSPViolationReport"};
    for (std::string_view const known : kWords) {
      if (equals_ignoring_case(known, word)) return std::string(known);
    }
    return word;
  }

  CallTree tree_of(Page& page) {
    auto const first = std::ranges::min_element(page.entries, {}, &Entry::started);
    auto const start = std::min(page.started.value_or(*first->started), *first->started);
    CallTree tree{.page = page.url.empty() ? first->call.name : page.url};
    tree.started_unix_ms = static_cast<double>(start) / 1e6;
    for (Entry& entry : page.entries) add(tree, entry, start);
    auto const begin = page.started ? (*page.started - start) / 1000 : 0;
    if (page.load_ms > 0) {
      tree.window_us = begin + us_of(page.load_ms);
    } else {
      end_with_last_call(tree);
    }
    normalize(tree);
    return tree;
  }

  void add(CallTree& tree, Entry& entry, std::int64_t start) {
    auto at = static_cast<double>(*entry.started - start) / 1e6;  // in ms
    entry.call.start_us = us_of(at);
    Timings const& timings = entry.timings;
    RequestTimes times;
    auto const spend = [&at](double ms, std::int64_t* begin, std::int64_t* end) {
      if (ms < 0) return;
      if (begin != nullptr) *begin = us_of(at);
      at += ms;
      if (end != nullptr) *end = us_of(at);
    };
    spend(timings.blocked, nullptr, nullptr);
    spend(timings.dns, &times.dns_start, &times.dns_end);
    spend(timings.connect, &times.connect_start, &times.connect_end);
    if (timings.ssl >= 0 && timings.connect >= timings.ssl) {
      times.tls_start = times.connect_end - us_of(timings.ssl);
    }
    spend(timings.send, &times.send_start, &times.send_end);
    spend(timings.wait, nullptr, &times.first_byte);
    spend(timings.receive, nullptr, nullptr);
    auto const whole = static_cast<double>(entry.call.start_us) / 1000 + entry.time_ms;
    entry.call.end_us = std::max(us_of(at), us_of(timings.receive < 0 ? whole : at));
    auto const request = static_cast<std::uint32_t>(tree.calls.size());
    add_request(tree, std::move(entry.call), times);
    auto const fields = views_of(entry.response_fields);
    add_server_calls(tree, request, wait_of(tree, request), names_, fields);
  }

  importing::ByteReader& from_;
  JsonReader json_;
  std::map<std::string, Page> pages_;
  TraceNames names_;
  bool is_cut_ = false;  ///< a text of the entry that is being read
  std::uint64_t lost_entries_ = 0;
  std::uint64_t cut_entries_ = 0;
};

}  // namespace

std::expected<std::vector<CallTree>, std::string> read_har_calls(importing::ByteReader& from) {
  return HarCalls(from).run();
}

}  // namespace reprise
