#pragma once

// Turns the WebDriver BiDi events of one page load into a PageLoad. Pure.
// https://w3c.github.io/webdriver-bidi/#module-network

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <unordered_set>

#include "pageload/browser/page_record.h"

namespace reprise {

/// Records one load. Not thread-safe.
class BidiRecorder : public PageRecord {
 public:
  /// `page`: the page's browsing context; events of its frames are recorded, too.
  explicit BidiRecorder(std::string page);

  /// Records one event. Events that do not concern the load are ignored.
  void on_event(std::string_view method, const boost::json::object& params);

  /// When the first document was requested, in ms since the epoch; negative if it was not.
  double start_ms() const { return start_s_ < 0 ? -1 : start_s_ * 1000; }

 private:
  void on_network_event(std::string_view event, const boost::json::object& params);
  void on_context_event(std::string_view event, const boost::json::object& params);
  void on_page_event(std::string_view event, const boost::json::object& params);
  void on_request(const boost::json::object& params);
  /// Firefox reports a style sheet that it has in memory twice: for the preload and for the page.
  /// `frame` is a context, whose latest document counts.
  bool has_cached_style_sheet(std::string_view frame, std::string_view url) const;
  /// Firefox does not report the response to an <object> that becomes a frame: its load event ends
  /// the request, whose status stays unknown.
  void end_object(std::string_view url, double at_s);
  static void apply_response(Entry& entry, const boost::json::object& params);

  std::unordered_set<std::string> contexts_;
};

}  // namespace reprise
