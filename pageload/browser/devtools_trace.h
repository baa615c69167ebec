#pragma once

// What Chromium did during a load, as its own Performance panel and Perfetto read it.
// https://chromedevtools.github.io/devtools-protocol/tot/Tracing

#include <boost/json/object.hpp>
#include <filesystem>
#include <string>
#include <string_view>

#include "pageload/browser/browser.h"
#include "pageload/browser/remote_connection.h"

namespace reprise {

/// One trace of a browser, which can be at one at a time. Every Result fails with errors of
/// RemoteConnection only; what the browser refuses becomes a remark.
class DevtoolsTrace {
 public:
  using TimePoint = RemoteConnection::TimePoint;

  explicit DevtoolsTrace(RemoteConnection& connection) : connection_(connection) {}

  Result<void> start(TimePoint deadline);
  /// To be called with every event until write() has returned.
  void on_event(std::string_view method, const boost::json::object& params);
  /// Ends the trace and writes it: JSON, gzip. A file that could not be written in full is removed.
  Result<void> write(const std::filesystem::path& path, TimePoint deadline, PageLoad& load);

 private:
  Result<std::string> await_stream(TimePoint deadline);
  Result<std::string> copy(const std::string& stream, const std::filesystem::path& path,
                           TimePoint deadline);

  RemoteConnection& connection_;
  std::string refusal_;  ///< the browser's words
  bool complete_ = false;
  std::string stream_;
};

}  // namespace reprise
