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
  /// Ends the trace and writes it, complete or not at all: JSON, gzip. A remark says if the browser
  /// dropped events.
  Result<void> write(const std::filesystem::path& path, TimePoint deadline, PageLoad& load);

 private:
  Result<std::string> await_stream(TimePoint deadline);
  Result<std::string> read(const std::string& stream, TimePoint deadline, std::string& trace);

  RemoteConnection& connection_;
  std::string session_;
  std::string refusal_;  ///< the browser's message
  bool complete_ = false;
  bool lost_events_ = false;  ///< the browser's buffer was full
  std::string stream_;
};

}  // namespace reprise
