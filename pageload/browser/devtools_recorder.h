#pragma once

// Turns the DevTools events of one page load into a PageLoad. Pure.
// https://chromedevtools.github.io/devtools-protocol/tot/Network/

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "pageload/browser/page_record.h"

namespace reprise {

/// Records one load. Not thread-safe.
class DevtoolsRecorder : public PageRecord {
 public:
  /// `main_session` and `main_frame` are those of the page; events of its child sessions (frames of
  /// other sites, workers) are recorded, too.
  DevtoolsRecorder(std::string main_session, std::string main_frame);

  /// Records one event. Events that do not concern the load are ignored.
  void on_event(std::string_view session, std::string_view method,
                const boost::json::object& params);

  PageLoad page_load() const override;

 private:
  void on_network_event(std::string_view session, std::string_view event,
                        const boost::json::object& params);
  void on_page_event(std::string_view session, std::string_view event,
                     const boost::json::object& params);
  void on_request(std::string_view session, const boost::json::object& params);
  void on_web_socket(std::string_view session, std::string_view event,
                     const boost::json::object& params);
  void on_frame_navigated(std::string_view session, const boost::json::object& frame);
  void on_timeline(const boost::json::object& event);
  static void apply_response(Entry& entry, const boost::json::object& response);

  std::string main_session_;
  double epoch_s_ = 0;  ///< start of the browser's clock, in seconds since the epoch; 0: unknown
  std::unordered_map<std::string, std::vector<int>> wire_statuses_;  ///< one per hop, in order
};

}  // namespace reprise
