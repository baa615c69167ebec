#pragma once

// One page in one fresh context of a running browser: opened, let rest, navigated, watched until
// quiet, read out, closed. What is said to the browser for each of these is the protocol's matter:
// devtools_session.h, bidi_session.h.

#include <memory>
#include <string>
#include <string_view>

#include "base/system/machine_sample.h"
#include "pageload/browser/browser.h"
#include "pageload/browser/page_bodies.h"
#include "pageload/browser/page_record.h"
#include "pageload/browser/page_steps.h"
#include "pageload/browser/remote_connection.h"

namespace reprise {

/// Loads one page. Blocking; one thread; one at a time on a connection, which must outlive it.
/// Every Result below fails with an error of RemoteConnection only: the browser died (or broke
/// the protocol), or, timed_out, it does not answer.
class PageSession {
 public:
  using TimePoint = RemoteConnection::TimePoint;

  virtual ~PageSession() = default;

  /// The whole life of the page. What was gathered before an error is in `load`, whose outcome is
  /// the caller's to set in that case.
  Result<void> run(const std::string& url, int width, int height, PageLoad& load);

 protected:
  PageSession(RemoteConnection& connection, const PageOptions& options)
      : connection_(connection), options_(options) {}

  /// A page of this size in a context of its own, about which the browser tells everything from now
  /// on. Sets refusal_ when the browser does not want to.
  virtual Result<void> open(int width, int height, TimePoint deadline) = 0;
  /// Sends the page to `url`, without waiting. Sets *no_way_ when it cannot go there.
  virtual void navigate(const std::string& url) = 0;
  virtual void on_event(std::string_view session, std::string_view method,
                        const boost::json::object& params) = 0;
  virtual const PageRecord& record() const = 0;
  /// Forgets what was recorded, for another navigation of the same page.
  virtual void start_record() = 0;
  virtual RemoteCommand dom_command() const = 0;
  /// Takes document and further times from the answer to dom_command().
  virtual void take_dom(const boost::json::object& result, PageLoad& load) const = 0;
  /// The answer has the PNG in "data".
  virtual RemoteCommand screenshot_command() const = 0;
  virtual RemoteCommand close_command() const = 0;
  virtual BodyQuestions body_questions() const = 0;
  virtual PageInput input() const = 0;
  /// Starts to note what the browser does, for PageOptions::trace; a browser that cannot does
  /// nothing.
  virtual Result<void> start_trace(TimePoint) { return {}; }
  virtual Result<void> write_trace(TimePoint, PageLoad&) { return {}; }

  /// Calls a method of the browser itself and returns one text field of the answer; when the
  /// browser refuses, the field is empty and refusal_ says why.
  Result<std::string> call_for(std::string_view method, boost::json::object params,
                               std::string_view field, TimePoint deadline);
  RemoteConnection& connection_;
  const PageOptions& options_;
  bool recording_ = false;
  std::string refusal_;  ///< the browser's words when it refused a command that must work
  /// The browser's words when it cannot go where it was sent. Shared, since they may come late.
  std::shared_ptr<std::string> no_way_ = std::make_shared<std::string>();

 private:
  std::optional<MachineSample> machine_at_load_event_;

  Result<void> settle();
  Result<void> warm_up(const std::string& url, PageLoad& load);
  Result<void> wait_until_quiet(PageLoad& load);
  Result<void> take_steps(PageLoad& load);
  bool has_ended() const;
  void judge_ending(PageLoad& load) const;
  Result<void> read_out(PageLoad& load);
  Result<bool> read_dom(PageLoad& load);
  Result<void> take_screenshot(PageLoad& load);
  Result<void> close(const PageLoad& load);
};

}  // namespace reprise
