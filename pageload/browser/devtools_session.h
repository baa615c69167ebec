#pragma once

// A page in Chromium, driven over DevTools.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "pageload/browser/devtools_recorder.h"
#include "pageload/browser/devtools_trace.h"
#include "pageload/browser/page_session.h"

namespace reprise {

class DevtoolsSession : public PageSession {
 public:
  /// Where the page is opened.
  enum class Context : std::uint8_t {
    kNormal,   ///< a window of the profile, which must be unused
    kPrivate,  ///< a private window of its own: Chromium ignores preconnects in it
  };
  DevtoolsSession(RemoteConnection& connection, const PageOptions& options, Context context);

 private:
  Result<void> open(int width, int height, TimePoint deadline) override;
  void navigate(const std::string& url) override;
  void on_event(std::string_view session, std::string_view method,
                const boost::json::object& params) override;
  const PageRecord& record() const override { return *recorder_; }
  void start_record() override { recorder_.emplace(session_, frame_); }
  RemoteCommand dom_command() const override;
  void take_dom(const boost::json::object& result, PageLoad& load) const override;
  RemoteCommand screenshot_command() const override;
  RemoteCommand close_command() const override;
  void leave_to_user() override;
  BodyQuestions body_questions() const override;
  PageInput input() const override;
  Result<void> stop_service_workers(TimePoint deadline) override;
  Result<void> start_trace(TimePoint deadline) override { return trace_.start(session_, deadline); }
  Result<void> write_trace(TimePoint deadline, PageLoad& load) override {
    return trace_.write(options_.trace, deadline, load);
  }

  std::shared_ptr<std::size_t> watch_target(const std::string& session, bool is_page);
  void on_attached(const boost::json::object& params);
  /// "deny", or "allow" into `folder`.
  void set_downloads(std::string_view behavior, const std::string& folder = {});

  bool const private_;
  bool has_user_ = false;        ///< of the page, which was left to one
  std::string browser_version_;  ///< "156.0.8078.73"
  std::string context_;          // if private_
  std::string target_;
  std::string session_;
  std::string frame_;
  std::unordered_map<std::string, std::string> watched_;  ///< children: target -> session
  std::optional<DevtoolsRecorder> recorder_;
  DevtoolsTrace trace_;
};

}  // namespace reprise
