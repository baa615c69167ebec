#pragma once

// One page load, built from the events of either protocol: requests with their times, the
// milestones of the document, console errors. Pure; no clock of its own. Events are hostile: a page
// controls their contents.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "pageload/browser/browser.h"
#include "pageload/browser/page_times.h"

namespace reprise {

/// One load. DevtoolsRecorder and BidiRecorder fill it. Not thread-safe.
class PageRecord {
 public:
  static constexpr std::size_t kRequestsMax = 20'000;
  static constexpr std::size_t kShiftsMax = 20'000;
  static constexpr std::size_t kConsoleErrorsMax = 1'000;
  static constexpr std::size_t kConsoleErrorBytesMax = 4 << 10;
  /// Limit for URLs and other text that a page chooses, over all requests.
  static constexpr std::size_t kTextBytesMax = 256 << 20;

  /// Identifies the complete body of a request, to read it from the browser.
  struct BodyName {
    std::size_t index = 0;  ///< into PageLoad::requests
    std::string session;    ///< the session that reported the response
    std::string request_id;
    std::int64_t size_bytes = 0;  ///< decoded, according to the events
  };

  virtual ~PageRecord() = default;

  /// Whether the page of the navigation has fired its load event.
  bool loaded() const { return page_.load_event_s >= 0; }
  /// Load events of the main frame so far: those of pages that it has left count, too.
  std::uint64_t load_events() const { return load_events_; }
  /// Requests without an end, except types that can stay open forever.
  std::size_t in_flight() const { return in_flight_; }
  /// Those of them that may have ended unnoticed: Chromium does not report the end of a fetch()
  /// whose body no script reads.
  std::size_t unread() const { return unread_; }
  /// Grows whenever a request starts or ends and when the page loads.
  std::uint64_t activity() const { return activity_; }
  /// Whether the process that renders the page died.
  bool crashed() const { return crashed_; }
  /// Whether the main frame has left about:blank.
  bool committed() const { return page_.committed; }
  /// The URL that the main frame shows; empty before committed().
  const std::string& shown_url() const { return page_.url; }
  /// Whether the browser saves what it was sent to as a file, and shows no page.
  bool is_download() const { return is_download_; }
  /// The URL for which the page shows the browser's error page; empty if it shows none.
  const std::string& unreachable_url() const { return page_.unreachable_url; }
  /// The error of the main frame's latest document ("net::ERR_..."); empty if it loaded. A document
  /// that breaks off may be partly visible and never fire its load event.
  std::string document_failure() const;
  /// Why a recorder could not get that document from its origin; empty if it could.
  std::string origin_failure() const;
  /// The URL of the first request in flight, or empty.
  std::string first_in_flight() const;

  std::vector<BodyName> bodies() const;
  /// Requests whose body the events did not contain in full.
  std::vector<BodyName> request_bodies() const;

  /// Everything except outcome, failure, url, DOM and response bodies.
  virtual PageLoad page_load() const;

 protected:
  struct Entry {
    PageRequest request;
    std::string id;
    std::string session;  ///< the one that reported its start, later the one with its response
    std::string frame;
    std::string loader;
    bool in_flight = true;
    bool unread = false;
    bool redirected = false;
    bool is_object = false;  ///< of an <object> or <embed>
    bool has_extra_info = false;
    bool request_body_missing = false;
    std::string origin_failure;  ///< from the recorder's answer; empty: none
    std::int64_t data_bytes = 0;
    std::optional<RequestTiming> timing;  ///< in ms of the browser's clock
    // Seconds of the browser's clock; negative: never.
    double start_s = -1;
    double response_s = -1;
    double end_s = -1;
  };
  /// The document that the main frame shows.
  struct Page {
    bool committed = false;
    std::string url;
    std::string loader;
    std::string unreachable_url;
    double dom_content_loaded_s = -1;
    double load_event_s = -1;
    double first_paint_s = -1;
    double first_contentful_paint_s = -1;
    double largest_contentful_paint_s = -1;
    std::optional<std::string> largest_contentful_paint_url;
    std::vector<LayoutShift> shifts;
  };

  explicit PageRecord(std::string main_frame) : main_frame_(std::move(main_frame)) {}

  /// A new request of `frame`; null if it is not kept. The pointer is valid until the next begin().
  Entry* begin(std::string_view session, std::string_view frame, std::string_view id,
               std::string_view url, std::string_view type);
  /// The latest hop of a request; null if it is unknown.
  Entry* find(std::string_view id);
  void end(Entry& entry, double at_s, std::string_view failure);
  void abort_requests(const std::function<bool(const Entry&)>& which, std::string_view why);
  /// Call it when the head, or more of the body, has arrived.
  void note_response(Entry& entry);
  /// The page has fired its load event.
  void note_load_event(double at_s);
  void add_console_error(std::string text);
  void count_activity() { ++activity_; }

  /// A recorder's failure in Proxy-Status (RFC 9209); empty if it has none.
  static std::string origin_failure_of(std::string_view proxy_status);

  /// Cuts a text that is short unless it comes from an attacker.
  static std::string limited(std::string_view text);

  std::string main_frame_;
  std::vector<Entry> entries_;
  Page page_;
  double start_s_ = -1;  ///< the first document was requested
  bool tells_shifts_ = false;
  bool crashed_ = false;
  bool is_download_ = false;

 private:
  void note_read(Entry& entry);
  /// The latest document of the main frame, or null. It is asked for after every event, so nothing
  /// is searched.
  const Entry* document() const;

  std::unordered_map<std::string, std::size_t> current_;  ///< request id -> its latest hop
  std::optional<std::size_t> document_;                   ///< index of document()
  std::vector<std::string> console_errors_;
  std::size_t in_flight_ = 0;
  std::size_t unread_ = 0;
  std::size_t text_bytes_ = 0;
  std::uint64_t activity_ = 0;
  std::uint64_t load_events_ = 0;
  std::uint64_t requests_not_kept_ = 0;
  std::uint64_t console_errors_not_kept_ = 0;
};

}  // namespace reprise
