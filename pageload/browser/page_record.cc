#include "pageload/browser/page_record.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>

#include "base/text/counted.h"
#include "base/text/utf8.h"

namespace reprise {
namespace {

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [text](std::string_view prefix) { return text.starts_with(prefix); });
}

bool is_any_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

/// Types that a page can hold open forever. A media element stops reading when it has enough, so
/// its request may have no end either.
bool may_stay_open(std::string_view type) {
  return is_any_of(type, {"EventSource", "WebSocket", "Media"});
}

}  // namespace

std::string PageRecord::limited(std::string_view text) {
  return std::string(text.substr(0, 256));
}

PageRecord::Entry* PageRecord::begin(std::string_view session, std::string_view frame,
                                     std::string_view id, std::string_view url,
                                     std::string_view type) {
  if (!starts_with_any(url, {"http://", "https://", "ws://", "wss://"})) {
    current_.erase(std::string(id));
    return nullptr;
  }
  text_bytes_ += url.size() + id.size();
  if (entries_.size() >= kRequestsMax || text_bytes_ > kTextBytesMax) {
    current_.erase(std::string(id));
    ++requests_not_kept_;
    return nullptr;
  }
  current_[std::string(id)] = entries_.size();
  if (frame == main_frame_ && type == "Document") document_ = entries_.size();
  Entry& entry = entries_.emplace_back();
  entry.id = id;
  entry.session = session;
  entry.frame = frame;
  entry.request.url = url;
  entry.request.resource_type = type;
  if (!may_stay_open(type)) ++in_flight_;
  ++activity_;
  return &entry;
}

void PageRecord::end(Entry& entry, double at_s, std::string_view failure) {
  bool const was_aborted = !entry.in_flight && entry.end_s < 0;  // by us; this is the true end
  if (!entry.in_flight && !was_aborted) return;
  entry.end_s = at_s;
  entry.request.failure = limited(failure);
  if (was_aborted) return;
  note_read(entry);
  entry.in_flight = false;
  if (!may_stay_open(entry.request.resource_type)) --in_flight_;
  ++activity_;
}

void PageRecord::abort_requests(const std::function<bool(const Entry&)>& which,
                                std::string_view why) {
  for (Entry& entry : entries_) {
    if (entry.in_flight && which(entry)) end(entry, -1, why);
  }
}

PageRecord::Entry* PageRecord::find(std::string_view id) {
  auto const found = current_.find(std::string(id));
  return found == current_.end() ? nullptr : &entries_[found->second];
}

void PageRecord::note_response(Entry& entry) {
  if (!entry.in_flight || entry.request.resource_type != "Fetch") return;
  if (!std::exchange(entry.unread, true)) ++unread_;
  ++activity_;
}

void PageRecord::note_load_event(double at_s) {
  page_.load_event_s = at_s;
  ++load_events_;
  ++activity_;
}

void PageRecord::note_read(Entry& entry) {
  if (std::exchange(entry.unread, false)) --unread_;
}

void PageRecord::add_console_error(std::string text) {
  if (console_errors_.size() >= kConsoleErrorsMax) {
    ++console_errors_not_kept_;
    return;
  }
  if (text.size() > kConsoleErrorBytesMax) {
    text.resize(utf8_start(text, kConsoleErrorBytesMax).size());
    text += "...";
  }
  console_errors_.push_back(std::move(text));
}

const PageRecord::Entry* PageRecord::document() const {
  return document_ ? &entries_[*document_] : nullptr;
}

std::string PageRecord::document_failure() const {
  auto const* const entry = document();
  return entry == nullptr ? "" : entry->request.failure;
}

std::string PageRecord::origin_failure() const {
  auto const* const entry = document();
  return entry == nullptr ? "" : entry->origin_failure;
}

std::string PageRecord::origin_failure_of(std::string_view proxy_status) {
  constexpr std::string_view kDetails = "details=\"";
  auto const at = proxy_status.find(kDetails);
  if (!proxy_status.starts_with("reprise;") || at == std::string_view::npos) return {};
  std::string text;
  for (auto rest = proxy_status.substr(at + kDetails.size()); !rest.empty();
       rest.remove_prefix(1)) {
    if (rest.front() == '"') break;
    if (rest.front() == '\\' && rest.size() > 1) rest.remove_prefix(1);
    text += rest.front();
  }
  return limited(text);
}

std::string PageRecord::first_in_flight() const {
  for (Entry const& entry : entries_) {
    if (entry.in_flight && !may_stay_open(entry.request.resource_type)) return entry.request.url;
  }
  return {};
}

std::vector<PageRecord::BodyName> PageRecord::bodies() const {
  std::vector<BodyName> out;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    Entry const& e = entries_[i];
    bool const ended_well = !e.in_flight && e.end_s >= 0 && e.request.failure.empty();
    bool const has_body = !e.redirected && e.request.method != "HEAD" && e.request.status != 204 &&
                          e.request.status != 0 &&
                          !is_any_of(e.request.resource_type, {"Preflight", "WebSocket"});
    if (ended_well && has_body) out.push_back({i, e.session, e.id, e.data_bytes});
  }
  return out;
}

std::vector<PageRecord::BodyName> PageRecord::request_bodies() const {
  std::vector<BodyName> out;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    Entry const& e = entries_[i];
    if (e.request_body_missing && !e.redirected) out.push_back({i, e.session, e.id, 0});
  }
  return out;
}

PageLoad PageRecord::page_load() const {
  auto const since_start = [this](double at_s) {
    return at_s < 0 || start_s_ < 0 ? -1 : (at_s - start_s_) * 1000;
  };
  auto const if_it_came = [&](double at_s) {
    double const ms = since_start(at_s);
    return ms < 0 ? std::nullopt : std::optional(ms);
  };
  PageLoad load;
  load.final_url = page_.url;
  load.dom_content_loaded_ms = if_it_came(page_.dom_content_loaded_s);
  load.load_event_ms = if_it_came(page_.load_event_s);
  load.first_paint_ms = if_it_came(page_.first_paint_s);
  load.first_contentful_paint_ms = if_it_came(page_.first_contentful_paint_s);
  load.largest_contentful_paint_ms = if_it_came(page_.largest_contentful_paint_s);
  load.largest_contentful_paint_url = page_.largest_contentful_paint_url;
  if (tells_shifts_) load.cumulative_layout_shift = cumulative_layout_shift(page_.shifts);
  for (Entry const& entry : entries_) {
    PageRequest& request = load.requests.emplace_back(entry.request);
    request.start_ms = since_start(entry.start_s);
    request.response_ms = since_start(entry.response_s);
    request.end_ms = since_start(entry.end_s);
    request.decoded_bytes = entry.data_bytes;
    request.timing = entry.timing;
    if (start_s_ < 0) request.timing.reset();
    for (auto const& time : kRequestTimes) {
      if (!request.timing) break;
      double& at_ms = *request.timing.*time.at_ms;
      if (at_ms >= 0) at_ms -= start_s_ * 1000;
    }
    // A busy page reports cached responses late.
    if (entry.end_s >= 0) request.response_ms = std::min(request.response_ms, request.end_ms);
    if (request.end_ms >= 0) {
      load.last_resource_ms = std::max(load.last_resource_ms.value_or(0), request.end_ms);
    }
  }
  load.console_errors = console_errors_;
  load.requests_not_kept = requests_not_kept_;
  if (console_errors_not_kept_ > 0) {
    load.remarks.push_back(counted(console_errors_not_kept_, "further console error was",
                                   "further console errors were") +
                           " dropped.");
  }
  if (requests_not_kept_ > 0) {
    load.remarks.push_back(
        counted(requests_not_kept_, "further request was", "further requests were") +
        " dropped: the page made too many.");
  }
  return load;
}

}  // namespace reprise
