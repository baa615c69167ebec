#pragma once

// One page in one fresh context of a running browser: opens it, waits, navigates, watches until it
// is quiet, reads it out, closes it or leaves it to the user. The commands for each step depend on
// the protocol: devtools_session.h, bidi_session.h.

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

/// Loads one page. Blocking; one thread; one at a time per connection, which must outlive it. Every
/// Result below fails only with an error of RemoteConnection: the browser died, broke the protocol,
/// or does not answer (timed_out).
class PageSession {
 public:
  using TimePoint = RemoteConnection::TimePoint;

  virtual ~PageSession() = default;

  /// The whole life of the page. After an error `load` has the data up to then; the caller sets its
  /// outcome.
  Result<void> run(const std::string& url, int width, int height, PageLoad& load);

 protected:
  PageSession(RemoteConnection& connection, const PageOptions& options)
      : connection_(connection), options_(options) {}

  /// Opens a page of this size in its own context, whose events the browser reports from now on.
  /// Sets refusal_ if the browser refuses.
  virtual Result<void> open(int width, int height, TimePoint deadline) = 0;
  /// Sends the page to `url`, without waiting. Sets *no_way_ if it cannot go there.
  virtual void navigate(const std::string& url) = 0;
  virtual void on_event(std::string_view session, std::string_view method,
                        const boost::json::object& params) = 0;
  virtual const PageRecord& record() const = 0;
  /// Clears the record, for another navigation of the same page.
  virtual void start_record() = 0;
  virtual RemoteCommand dom_command() const = 0;
  /// Stores the document and further times from the answer to dom_command().
  virtual void take_dom(const boost::json::object& result, PageLoad& load) const = 0;
  /// The answer has the PNG in "data".
  virtual RemoteCommand screenshot_command() const = 0;
  virtual RemoteCommand close_command() const = 0;
  /// Gives the page the size of its window, and leaves dialogs and downloads to the user, without
  /// waiting.
  virtual void leave_to_user() = 0;
  virtual BodyQuestions body_questions() const = 0;
  virtual PageInput input() const = 0;
  /// Ends the service workers of the page that was left, as if its user had been away; does nothing
  /// in a browser that does not report their requests.
  virtual Result<void> stop_service_workers(TimePoint) { return {}; }
  /// Starts the trace for PageOptions::trace; does nothing in a browser without traces.
  virtual Result<void> start_trace(TimePoint) { return {}; }
  virtual Result<void> write_trace(TimePoint, PageLoad&) { return {}; }

  /// Calls a method of the browser itself and returns one text field of the answer; if the browser
  /// refuses, the field is empty and refusal_ has the reason.
  Result<std::string> call_for(std::string_view method, boost::json::object params,
                               std::string_view field, TimePoint deadline);
  RemoteConnection& connection_;
  const PageOptions& options_;
  bool recording_ = false;
  std::string refusal_;  ///< the browser's message when it refused a required command
  /// The browser's message if it cannot navigate. Shared, since it may arrive late.
  std::shared_ptr<std::string> no_way_ = std::make_shared<std::string>();

 private:
  std::optional<MachineSample> machine_at_load_event_;
  std::uint64_t load_events_sampled_ = 0;  ///< of the record, when that was taken

  Result<void> settle();
  Result<void> warm_up(const std::string& url, PageLoad& load);
  Result<bool> leave_page();
  Result<void> wait_until_quiet(PageLoad& load);
  Result<void> take_steps(PageLoad& load);
  bool has_ended() const;
  void sample_load_event();
  void judge_ending(PageLoad& load) const;
  Result<void> read_out(PageLoad& load);
  Result<bool> read_dom(PageLoad& load);
  Result<void> take_screenshot(PageLoad& load);
  Result<void> close(const PageLoad& load);
  void stay();
};

}  // namespace reprise
