#pragma once

// Turns the DevTools events of one page load into a PageLoad. Pure: events in, requests, timings
// and console errors out; no clock of its own. Events are hostile: a page decides what is in them.
// https://chromedevtools.github.io/devtools-protocol/tot/Network/

#include <boost/json/object.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tools/browser/chromium.h"

namespace reprise {

/// Records one load. Not thread-safe.
class PageRecorder {
 public:
  static constexpr std::size_t kRequestsMax = 20'000;
  static constexpr std::size_t kConsoleErrorsMax = 1'000;
  static constexpr std::size_t kConsoleErrorBytesMax = 4 << 10;
  /// Of URLs and other text that a page chooses, over all requests.
  static constexpr std::size_t kTextBytesMax = 256 << 20;

  /// Names the finished body of a request, for Network.getResponseBody.
  struct BodyName {
    std::size_t index = 0;  ///< into PageLoad::requests
    std::string session;    ///< the last one that spoke of the request
    std::string request_id;
    std::int64_t size_bytes = 0;  ///< decoded, as far as events told
  };

  /// `main_session` and `main_frame` are those of the page; events of its child sessions (frames of
  /// other sites, workers) are taken too.
  PageRecorder(std::string main_session, std::string main_frame);

  /// Takes one event. Those that say nothing about the load are ignored.
  void on_event(std::string_view session, std::string_view method,
                const boost::json::object& params);

  /// Whether the page that the navigation led to has fired its load event.
  bool loaded() const { return page_.load_event_s >= 0; }
  /// Requests without an end, but for types that may stay open for good.
  std::size_t in_flight() const { return in_flight_; }
  /// Grows whenever a request starts or ends and when the page loads.
  std::uint64_t activity() const { return activity_; }
  /// The process that renders the page died.
  bool crashed() const { return crashed_; }
  /// Whether the main frame has left about:blank.
  bool committed() const { return page_.committed; }
  /// The URL for which the page shows the browser's error page; empty when it shows none.
  const std::string& unreachable_url() const { return page_.unreachable_url; }
  /// How the latest document of the main frame failed ("net::ERR_..."); empty when it did not. A
  /// document that breaks off may show in part and never fire its load event.
  std::string document_failure() const;
  /// The URL of the first request in flight; empty when there is none.
  std::string first_in_flight() const;

  std::vector<BodyName> bodies() const;
  /// Requests whose body the events did not carry in full, for Network.getRequestPostData.
  std::vector<BodyName> request_bodies() const;

  /// Everything but outcome, failure, url, DOM and response bodies.
  PageLoad page_load() const;

 private:
  struct Entry {
    PageRequest request;
    std::string id;
    std::string session;
    std::string frame;
    std::string loader;
    bool in_flight = true;
    bool redirected = false;
    bool has_extra_info = false;
    bool request_body_missing = false;
    std::int64_t data_bytes = 0;
    // Seconds of the browser's monotonic clock; negative: never.
    double start_s = -1;
    double response_s = -1;
    double end_s = -1;
  };
  /// The document that the main frame shows now.
  struct Page {
    bool committed = false;
    std::string url;
    std::string loader;
    std::string unreachable_url;
    double dom_content_loaded_s = -1;
    double load_event_s = -1;
    double first_contentful_paint_s = -1;
  };

  void on_network_event(std::string_view session, std::string_view event,
                        const boost::json::object& params);
  void on_page_event(std::string_view session, std::string_view event,
                     const boost::json::object& params);
  void on_request(std::string_view session, const boost::json::object& params);
  void on_web_socket(std::string_view session, std::string_view event,
                     const boost::json::object& params);
  void on_frame_navigated(std::string_view session, const boost::json::object& frame);
  Entry* begin(std::string_view session, std::string_view id, std::string_view url,
               std::string_view type);
  void end(Entry& entry, double at_s, std::string_view failure);
  template <class Which>
  void abort_requests(Which&& which, std::string_view why);
  void apply_response(Entry& entry, const boost::json::object& response);
  Entry* find(std::string_view session, const boost::json::object& params);
  void add_console_error(std::string text);

  std::string main_session_;
  std::string main_frame_;
  std::vector<Entry> entries_;
  std::unordered_map<std::string, std::size_t> current_;  ///< request id -> its latest hop
  std::unordered_map<std::string, std::vector<int>> wire_statuses_;  ///< one a hop, in order
  std::vector<std::string> console_errors_;
  Page page_;
  double start_s_ = -1;
  std::size_t in_flight_ = 0;
  std::size_t text_bytes_ = 0;
  std::uint64_t activity_ = 0;
  std::uint64_t requests_not_kept_ = 0;
  std::uint64_t console_errors_not_kept_ = 0;
  bool crashed_ = false;
};

}  // namespace reprise
