#include "pageload/browser/devtools_trace.h"

#include <boost/json/array.hpp>
#include <system_error>
#include <utility>

#include "base/system/private_file.h"
#include "base/text/base64.h"
#include "base/text/json_fields.h"

namespace json = boost::json;

namespace reprise {
namespace {

/// The categories of the Performance panel, with the frames that were seen, without the samples of
/// every script each millisecond.
json::array categories() {
  return {"devtools.timeline",
          "disabled-by-default-devtools.screenshot",
          "disabled-by-default-devtools.timeline",
          "disabled-by-default-devtools.timeline.frame",
          "disabled-by-default-devtools.timeline.stack",
          "v8.execute",
          "blink.console",
          "blink.user_timing",
          "latencyInfo",
          "loading",
          "navigation",
          "toplevel"};
}

}  // namespace

Result<void> DevtoolsTrace::start(const std::string& session, TimePoint deadline) {
  session_ = session;
  auto const reply = connection_.call(session_, "Tracing.start",
                                      {{"transferMode", "ReturnAsStream"},
                                       {"streamFormat", "json"},
                                       {"streamCompression", "gzip"},
                                       {"traceConfig", {{"includedCategories", categories()}}}},
                                      deadline);
  if (!reply) return fail(reply.error());
  refusal_ = reply->error;
  return {};
}

void DevtoolsTrace::on_event(std::string_view method, const json::object& params) {
  if (method != "Tracing.tracingComplete") return;
  complete_ = true;
  lost_events_ = flag_at(params, "dataLossOccurred");
  stream_ = text_at(params, "stream");
}

Result<void> DevtoolsTrace::write(const std::filesystem::path& path, TimePoint deadline,
                                  PageLoad& load) {
  auto const remark = [&load](const std::string& why) {
    load.remarks.push_back("No trace was written: " + why + ".");
    return Result<void>{};
  };
  if (!refusal_.empty()) return remark(refusal_);
  auto const stream = await_stream(deadline);
  if (!stream && stream.error() != std::errc::timed_out) return fail(stream.error());
  if (!stream || stream->empty()) return remark("the browser did not return it");
  std::string trace;
  auto const failure = read(*stream, deadline, trace);
  if (!failure && failure.error() != std::errc::timed_out) return fail(failure.error());
  if (!failure) return remark("the browser did not return it");
  if (!failure->empty()) return remark(*failure);
  if (auto const written = write_private_file(trace, path); !written) {
    load.unwritten_files.push_back(path.string() +
                                   " cannot be written: " + written.error().message());
    return {};
  }
  if (lost_events_) {
    load.remarks.emplace_back("The trace is incomplete: the browser's buffer was full.");
  }
  return {};
}

Result<std::string> DevtoolsTrace::await_stream(TimePoint deadline) {
  connection_.post(session_, "Tracing.end");
  auto const completed = connection_.pump_until([this] { return complete_; }, deadline);
  if (!completed) return fail(completed.error());
  if (!*completed) return fail(std::make_error_code(std::errc::timed_out));
  return stream_;
}

/// Returns why `trace` is incomplete; empty if it is complete.
Result<std::string> DevtoolsTrace::read(const std::string& stream, TimePoint deadline,
                                        std::string& trace) {
  for (bool more = true; more;) {
    auto const reply = connection_.call(session_, "IO.read", {{"handle", stream}}, deadline);
    if (!reply) return fail(reply.error());
    if (!reply->error.empty()) return reply->error;
    auto const data = text_at(reply->result, "data");
    auto const bytes = flag_at(reply->result, "base64Encoded") ? decode_base64(data)
                                                               : std::optional(std::string(data));
    if (!bytes) return std::string("the browser sent invalid base64");
    trace += *bytes;
    more = !flag_at(reply->result, "eof");
  }
  connection_.post(session_, "IO.close", {{"handle", stream}});
  return std::string();
}

}  // namespace reprise
