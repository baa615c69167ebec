#pragma once

// A page in Firefox, driven over WebDriver BiDi. https://w3c.github.io/webdriver-bidi

#include <optional>
#include <string>
#include <string_view>

#include "pageload/browser/bidi_recorder.h"
#include "pageload/browser/page_session.h"

namespace reprise {

class BidiSession : public PageSession {
 public:
  BidiSession(RemoteConnection& connection, const PageOptions& options);

 private:
  Result<void> open(int width, int height, TimePoint deadline) override;
  void navigate(const std::string& url) override;
  void on_event(std::string_view session, std::string_view method,
                const boost::json::object& params) override;
  const PageRecord& record() const override { return *recorder_; }
  void start_record() override { recorder_.emplace(page_); }
  RemoteCommand dom_command() const override;
  void take_dom(const boost::json::object& result, PageLoad& load) const override;
  RemoteCommand screenshot_command() const override;
  RemoteCommand close_command() const override;
  void leave_to_user() override;
  BodyQuestions body_questions() const override;
  PageInput input() const override;

  std::string user_context_;
  std::string page_;       ///< its browsing context
  bool has_user_ = false;  ///< of the page, which was left to one
  std::optional<BidiRecorder> recorder_;
};

}  // namespace reprise
