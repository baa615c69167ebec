#include "pageload/browser/page_session.h"

#include <algorithm>
#include <deque>
#include <system_error>
#include <utility>

#include "base/system/private_file.h"
#include "base/text/base64.h"
#include "base/text/counted.h"
#include "base/text/formatted.h"
#include "base/text/json_fields.h"

namespace json = boost::json;
using namespace std::chrono_literals;

namespace reprise {
namespace {

/// The load's own timeout does not cover the steps before and after it. These limits are for a slow
/// browser on a busy machine that still works.
constexpr auto kOpenTime = 60s;
constexpr auto kAnswerTime = 10s;
/// For a browser that has already timed out and may never answer again.
constexpr auto kLastAnswerTime = 5s;
constexpr auto kBodiesTime = 60s;
constexpr auto kTraceTime = 60s;
/// An empty page has settled when the browser used at most a tenth of a processor in all looks at
/// it in a row; one that never does is used all the same.
constexpr std::size_t kSettleLooks = 5;
constexpr int kSettledPart = 10;
constexpr std::chrono::nanoseconds kSettleMax = 10s;
/// After this long without an event the body of a fetch() is taken as unread by scripts.
constexpr std::chrono::milliseconds kUnreadTime = 2s;
constexpr auto kEmptyPage = "about:blank";

auto answer_deadline(const PageLoad& load) {
  return std::chrono::steady_clock::now() +
         (load.outcome == LoadOutcome::kTimedOut ? kLastAnswerTime : kAnswerTime);
}

}  // namespace

Result<void> PageSession::run(const std::string& url, int width, int height, PageLoad& load) {
  connection_.set_event_sink([this](auto session, auto method, const json::object& params) {
    on_event(session, method, params);
    if (recording_) sample_load_event();
  });
  struct SinkReset {
    RemoteConnection& connection;
    ~SinkReset() { connection.set_event_sink({}); }
  } const reset{connection_};

  if (auto done = open(width, height, std::chrono::steady_clock::now() + kOpenTime); !done)
    return done;
  if (!refusal_.empty()) {
    load.outcome = LoadOutcome::kNavigationFailed;
    load.failure = "The browser could not open a page: " + refusal_ + ".";
    return {};
  }
  if (auto done = settle(); !done) return done;
  if (options_.warm) {
    auto const warmed = warm_up(url, load);
    if (!warmed || load.outcome != LoadOutcome::kLoaded) return warmed;
  }
  bool const traced = !options_.trace.empty();
  if (traced) {
    if (auto done = start_trace(std::chrono::steady_clock::now() + kAnswerTime); !done) return done;
  }
  machine_at_load_event_.reset();
  auto const machine_before = MachineSample::take();
  recording_ = true;
  std::chrono::duration<double, std::milli> const started =
      std::chrono::system_clock::now().time_since_epoch();
  navigate(url);
  auto navigated = wait_until_quiet(load);
  if (navigated && !options_.steps.empty()) navigated = take_steps(load);
  recording_ = false;
  PageLoad recorded = record().page_load();
  recorded.outcome = load.outcome;
  recorded.failure = std::move(load.failure);
  recorded.url = url;
  recorded.started_unix_ms = started.count();
  recorded.machine =
      activity_between(machine_before, machine_at_load_event_.value_or(MachineSample::take()));
  load = std::move(recorded);
  if (!navigated) return navigated;
  if (traced) {
    if (auto done = write_trace(std::chrono::steady_clock::now() + kTraceTime, load); !done)
      return done;
  }
  bool const watched = options_.quiet.count() >= kLastLoadGapMs;
  if (auto done = read_out(load); !done) return done;
  if (watched && load.outcome == LoadOutcome::kLoaded) load.last_load_ms = last_load_ms(load);
  if (!options_.keep_open) return close(load);
  stay();
  return {};
}

Result<std::string> PageSession::call_for(std::string_view method, json::object params,
                                          std::string_view field, TimePoint deadline) {
  auto reply = connection_.call({}, method, std::move(params), deadline);
  if (!reply) return fail(reply.error());
  std::string text(text_at(reply->result, field));
  if (text.empty()) refusal_ = reply->error.empty() ? "no " + std::string(field) : reply->error;
  return text;
}

Result<void> PageSession::settle() {
  using Clock = std::chrono::steady_clock;
  struct Moment {
    Clock::time_point at;
    std::chrono::nanoseconds busy;  ///< of the browser until then
  };
  std::chrono::nanoseconds const whole = options_.settle;
  if (whole.count() == 0) return {};
  auto const most = Clock::now() + std::max<std::chrono::nanoseconds>(kSettleMax, whole);
  std::deque<Moment> moments{{.at = Clock::now(), .busy = descendants_busy()}};
  for (;;) {
    auto const next = moments.back().at + whole / kSettleLooks;
    while (Clock::now() < next) {
      if (auto const handled = connection_.pump(next); !handled) return fail(handled.error());
    }
    moments.push_back({.at = Clock::now(), .busy = descendants_busy()});
    if (moments.size() <= kSettleLooks) continue;
    auto const used = moments.back().busy - moments.front().busy;
    if (used * kSettledPart <= whole || moments.back().at >= most) return {};
    moments.pop_front();
  }
}

/// Loads the page to fill the browser's cache, and leaves it.
Result<void> PageSession::warm_up(const std::string& url, PageLoad& load) {
  recording_ = true;
  navigate(url);
  auto const navigated = wait_until_quiet(load);
  recording_ = false;
  if (!navigated) return navigated;
  if (load.outcome != LoadOutcome::kLoaded) {
    load.failure = "In the load that fills the cache: " + load.failure;
    return {};
  }
  auto const left = leave_page();
  if (!left) return fail(left.error());
  if (!*left) {
    load.outcome = LoadOutcome::kTimedOut;
    load.failure = "The browser did not leave the page after the load that fills the cache.";
    return {};
  }
  if (auto const settled = settle(); !settled) return settled;
  // One that still runs would answer requests of the next load before it is watched.
  auto const stopped = stop_service_workers(std::chrono::steady_clock::now() + kAnswerTime);
  no_way_ = std::make_shared<std::string>();  // a late answer is about the page that was left
  start_record();
  return stopped;
}

/// Shows the empty page. False if the browser does not in time. Its events end here: after the next
/// navigation they would be taken for those of the page.
Result<bool> PageSession::leave_page() {
  start_record();
  recording_ = true;
  navigate(kEmptyPage);
  auto const left = connection_.pump_until(
      [this] { return record().loaded() && record().shown_url() == kEmptyPage; },
      std::chrono::steady_clock::now() + kAnswerTime);
  if (left && *left) recording_ = false;
  return left;
}

Result<void> PageSession::wait_until_quiet(PageLoad& load) {
  auto const deadline = std::chrono::steady_clock::now() + options_.timeout;
  auto quiet_since = std::chrono::steady_clock::now();
  std::uint64_t activity = 0;
  while (std::chrono::steady_clock::now() < deadline) {
    bool const quiet = has_ended() && record().in_flight() == record().unread();
    auto const rest =
        record().unread() == 0 ? options_.quiet : std::max(options_.quiet, kUnreadTime);
    if (activity != record().activity() || !quiet) quiet_since = std::chrono::steady_clock::now();
    activity = record().activity();
    if (quiet && std::chrono::steady_clock::now() >= quiet_since + rest) {
      judge_ending(load);
      return {};
    }
    auto const handled =
        connection_.pump(quiet ? std::min(deadline, quiet_since + rest) : deadline);
    if (!handled) return fail(handled.error());
    if (record().crashed()) {
      load.outcome = LoadOutcome::kBrowserDied;
      load.failure = "The browser process that showed the page crashed.";
      return {};
    }
    auto const no_page = record().is_download() ? "it is a download" : *no_way_;
    if (!no_page.empty()) {
      load.outcome = LoadOutcome::kNavigationFailed;
      load.failure = "The page could not be loaded: " + no_page + ".";
      return {};
    }
  }
  load.outcome = LoadOutcome::kTimedOut;
  std::chrono::duration<double> const timeout = options_.timeout;
  load.failure = formatted("After %.1f s the page ", timeout.count()) +
                 (record().loaded() ? "was not quiet" : "had not loaded") + "; " +
                 counted(record().in_flight(), "request") + " in flight";
  if (auto const first = record().first_in_flight(); !first.empty()) {
    load.failure += ", the first " + first;
  }
  load.failure += ".";
  return {};
}

Result<void> PageSession::take_steps(PageLoad& load) {
  for (Step const& step : options_.steps) {
    if (load.outcome != LoadOutcome::kLoaded) return {};
    auto const taken = take_step(connection_, input(), step,
                                 std::chrono::steady_clock::now() + options_.timeout, load);
    if (!taken) return taken;
  }
  return load.outcome == LoadOutcome::kLoaded ? wait_until_quiet(load) : Result<void>{};
}

/// Whether nothing more is to come, except requests of the page's scripts.
bool PageSession::has_ended() const {
  return record().loaded() || (record().committed() && !record().document_failure().empty());
}

/// Samples the machine at the end of a document. Those of pages that go on to another one are
/// replaced: the load's times are those of the last document.
void PageSession::sample_load_event() {
  if (!has_ended()) return;
  if (machine_at_load_event_ && load_events_sampled_ == record().load_events()) return;
  load_events_sampled_ = record().load_events();
  machine_at_load_event_ = MachineSample::take();
}

void PageSession::judge_ending(PageLoad& load) const {
  if (auto const& url = record().unreachable_url(); !url.empty()) {
    load.outcome = LoadOutcome::kNavigationFailed;
    load.failure = "The page went on to " + url +
                   ", which could not be loaded: " + record().document_failure() + ".";
  } else if (!record().loaded()) {
    load.outcome = LoadOutcome::kNavigationFailed;
    load.failure = "The page broke off: " + record().document_failure() + ".";
  } else if (auto const why = record().origin_failure(); !why.empty()) {
    load.outcome = LoadOutcome::kNavigationFailed;
    load.failure = "The recorder could not get the page: " + why + ".";
  }
}

Result<void> PageSession::read_out(PageLoad& load) {
  bool const shows_a_page = load.outcome == LoadOutcome::kLoaded ||
                            (load.outcome == LoadOutcome::kTimedOut && record().committed());
  if (!shows_a_page) return {};
  auto const readable = read_dom(load);
  if (!readable) return fail(readable.error());
  if (!*readable) return {};
  if (options_.fetch_bodies) {
    auto done = read_bodies(connection_, record(), body_questions(),
                            std::chrono::steady_clock::now() + kBodiesTime, load);
    if (!done) return done;
  }
  if (!options_.screenshot.empty()) return take_screenshot(load);
  return {};
}

/// Returns whether the page answers; one that does not has no bodies and no screenshot either.
Result<bool> PageSession::read_dom(PageLoad& load) {
  auto reply = connection_.call(dom_command(), answer_deadline(load));
  if (!reply && reply.error() == std::errc::timed_out) {
    load.remarks.emplace_back(
        "DOM, bodies and screenshot could not be read: the page's scripts do not end.");
    return false;
  }
  if (!reply) return fail(reply.error());
  take_dom(reply->result, load);
  if (!load.dom) {
    load.remarks.push_back("The DOM could not be read: " +
                           (reply->error.empty() ? "the document is empty" : reply->error) + ".");
  }
  return true;
}

Result<void> PageSession::take_screenshot(PageLoad& load) {
  auto const remark = [&](const std::string& why) {
    load.remarks.push_back("No screenshot was taken: " + why + ".");
    return Result<void>{};
  };
  auto reply = connection_.call(screenshot_command(), answer_deadline(load));
  if (!reply && reply.error() == std::errc::timed_out) return remark("the page does not paint");
  if (!reply) return fail(reply.error());
  auto const png = decode_base64(text_at(reply->result, "data"));
  if (!reply->error.empty() || !png) return remark(reply->error);
  if (auto const written = write_private_file(*png, options_.screenshot); !written) {
    load.unwritten_files.push_back(options_.screenshot.string() +
                                   " cannot be written: " + written.error().message());
  }
  return {};
}

Result<void> PageSession::close(const PageLoad& load) {
  auto const reply = connection_.call(close_command(), answer_deadline(load));
  if (!reply) return fail(reply.error());
  return {};
}

/// Ends with the browser. Until then new documents get their script, and windows and workers, which
/// wait for us, are released.
void PageSession::stay() {
  leave_to_user();
  while (connection_.pump(std::chrono::steady_clock::now() + kAnswerTime)) {
  }
}

}  // namespace reprise
