#pragma once

// A trace of Chromium during a load, for its own Performance panel and Perfetto.
// https://chromedevtools.github.io/devtools-protocol/tot/Tracing

#include <boost/json/object.hpp>
#include <filesystem>
#include <string>
#include <string_view>

#include "pageload/browser/browser.h"
#include "pageload/browser/remote_connection.h"

namespace reprise {

/// One trace of a browser, which can record one at a time. Every Result fails only with errors of
/// RemoteConnection; a refusal of the browser becomes a remark.
class DevtoolsTrace {
 public:
  using TimePoint = RemoteConnection::TimePoint;

  explicit DevtoolsTrace(RemoteConnection& connection) : connection_(connection) {}

  /// `session` is that of the page: a trace of the browser itself has no frames.
  Result<void> start(const std::string& session, TimePoint deadline);
  /// Call it with every event until write() has returned.
  void on_event(std::string_view method, const boost::json::object& params);
  /// Ends the trace and writes it: JSON, gzip. An incomplete file is removed.
  Result<void> write(const std::filesystem::path& path, TimePoint deadline, PageLoad& load);

 private:
  Result<std::string> await_stream(TimePoint deadline);
  Result<std::string> copy(const std::string& stream, const std::filesystem::path& path,
                           TimePoint deadline);

  RemoteConnection& connection_;
  std::string session_;
  std::string refusal_;  ///< the browser's message
  bool complete_ = false;
  std::string stream_;
};

}  // namespace reprise
