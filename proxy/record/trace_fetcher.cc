#include "proxy/record/trace_fetcher.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <utility>

#include "base/bytes.h"
#include "base/http/trace_lines.h"
#include "base/http/url.h"
#include "base/text/ascii.h"
#include "base/text/white_space.h"

namespace reprise {
namespace {

constexpr std::string_view kField = "Banky-Trace";
constexpr std::string_view kInline = "base64lines=";
/// What the server may need to give the trace to the same user.
constexpr auto kPassedOn =
    std::to_array<std::string_view>({"Authorization", "Banky-Trace", "Cookie", "User-Agent"});

}  // namespace

void TraceMention::add(HeaderList fields) {
  for (const HeaderView& field : fields) {
    if (!equals_ignoring_case(field.name, kField)) continue;
    for (auto rest = field.value; !rest.empty();) {
      auto const line = take_trace_line(rest);
      if (starts_with_ignoring_case(line, kTraceUrl)) {
        url = trim_blanks(line.substr(kTraceUrl.size()));
      } else {
        is_inline = is_inline || contains_ignoring_case(line, kInline);
      }
    }
  }
}

std::optional<std::string> TraceMention::target_for(const RequestHead& request,
                                                    std::string& why) const {
  if (is_inline || url.empty()) return std::nullopt;
  auto const base =
      absolute_url(url_of(request.scheme, request.host, request.port, request.target));
  auto const resolved = base ? resolved_url(url, *base) : std::nullopt;
  if (!resolved) {
    why = "its URL is invalid";
    return std::nullopt;
  }
  auto const origin = origin_of_url(*resolved);
  if (origin != origin_of_url(*base)) {
    why = "its URL is of another origin: " + *resolved;
    return std::nullopt;
  }
  return resolved->substr(origin.size());
}

struct TraceFetcher::Wanted {
  OriginDialer::Target from;
  std::string target;
  Reach reach = Reach::kAll;
  Headers fields;  ///< as archived

  /// The trace of `request`.
  static Wanted of(const RequestHead& request, std::string target, Reach reach);
  /// Borrows from this.
  RequestHead head() const {
    return {.method = "GET",
            .scheme = from.scheme,
            .host = from.host,
            .port = from.port,
            .target = target,
            .headers = fields.list()};
  }
};

TraceFetcher::Wanted TraceFetcher::Wanted::of(const RequestHead& request, std::string target,
                                              Reach reach) {
  auto const authority = authority_of(request.scheme, request.host, request.port);
  std::vector<HeaderView> fields{{.name = "Host", .value = authority}};
  for (const HeaderView& field : request.headers) {
    if (std::ranges::any_of(kPassedOn,
                            [&](auto name) { return equals_ignoring_case(field.name, name); })) {
      fields.push_back(field);
    }
  }
  fields.push_back({.name = "Accept", .value = "application/json"});
  return {.from = {.scheme = request.scheme,
                   .host = std::string(request.host),
                   .port = request.port,
                   .h1_only = true},
          .target = std::move(target),
          .reach = reach,
          .fields = Headers(fields)};
}

TraceFetcher::TraceFetcher(RecordSession& session, const ConnectionInfo& client)
    : session_(session), client_(client) {}
TraceFetcher::~TraceFetcher() = default;

void TraceFetcher::consider(const RequestHead& request, const TraceMention& mention, Reach reach,
                            const net::any_io_executor& executor) {
  std::string why;
  auto target = mention.target_for(request, why);
  std::optional<Wanted> wanted;
  if (target) wanted = Wanted::of(request, std::move(*target), reach);
  if (wanted && ends_at_) why = "the client has closed";
  if (wanted && waiting_.size() == kWaitingMax) why = "too many are waiting";
  if (wanted && why.empty()) why = session_.rules().why_blocked(wanted->head());
  if (!why.empty()) {
    auto const url = url_of(request.scheme, request.host, request.port, request.target);
    return session_.refuse_trace("the trace of " + url + " is not fetched: " + why);
  }
  if (!wanted) return;
  waiting_.push_back(std::move(*wanted));
  if (!std::exchange(fetching_, true)) spawn(executor, run());
}

void TraceFetcher::close() {
  if (session_.trace_limits() == nullptr || ends_at_) return;
  ends_at_ = std::chrono::steady_clock::now() + session_.trace_limits()->time;
  if (!fetching_ && connection_) connection_->close();
}

awaitable<void> TraceFetcher::ended() {
  while (running_ > 0) co_await all_ended_.wait();
}

void TraceFetcher::spawn(const net::any_io_executor& executor, awaitable<void> part) {
  ++running_;
  net::co_spawn(executor, std::move(part), [this](std::exception_ptr broken) {
    if (--running_ == 0) all_ended_.set();
    if (broken) std::rethrow_exception(broken);
  });
}

awaitable<void> TraceFetcher::run() {
  while (!waiting_.empty()) {
    auto const wanted = std::move(waiting_.front());
    waiting_.pop_front();
    auto const why = co_await fetch(wanted);
    if (!why.empty()) {
      auto const url =
          url_of(wanted.from.scheme, wanted.from.host, wanted.from.port, wanted.target);
      session_.refuse_trace("the trace " + url + " is not in the archive: " + why);
    }
  }
  fetching_ = false;
  if (ends_at_ && connection_) connection_->close();
}

awaitable<void> TraceFetcher::cut_at(net::steady_timer& deadline, std::uint64_t number) {
  auto const [interrupted] = co_await deadline.async_wait(kTuple);
  if (interrupted || number != number_) co_return;
  is_cut_ = true;
  if (dialling_) dialling_->cancel();
  if (connection_) connection_->close();
}

awaitable<std::string> TraceFetcher::fetch(const Wanted& wanted) {
  auto const time = session_.trace_limits()->time;
  auto const now = std::chrono::steady_clock::now();
  if (ends_at_ && now >= *ends_at_) co_return "the client has closed";
  auto const executor = co_await net::this_coro::executor;
  net::steady_timer deadline(executor, ends_at_ ? std::min(now + time, *ends_at_) : now + time);
  is_cut_ = false;
  spawn(executor, cut_at(deadline, ++number_));
  auto why = co_await ask(wanted);
  ++number_;
  if (is_cut_ && !why.empty()) {
    why =
        "it was not complete after " + std::to_string(time / std::chrono::milliseconds(1)) + " ms";
  }
  co_return why;
}

awaitable<std::string> TraceFetcher::connect(const Wanted& wanted) {
  connection_.reset();
  dialling_.emplace();
  auto dialled = co_await session_.dialer().dial(
      wanted.from, nullptr, *dialling_, [this](auto at) { return session_.time_of(at); },
      wanted.reach);
  dialling_.reset();
  if (!dialled.stream) co_return dialled.facts.failure;
  if (is_cut_) co_return "too late";
  connection_ =
      make_origin_connection(std::move(dialled.stream), "", client_, std::move(dialled.forward));
  target_ = wanted.from;
  facts_ = std::move(dialled.facts);
  co_return "";
}

awaitable<std::string> TraceFetcher::ask(const Wanted& wanted) {
  while (true) {
    auto const asked = session_.now();
    bool const is_open = connection_ && target_ == wanted.from && connection_->available();
    if (!is_open) {
      if (auto why = co_await connect(wanted); !why.empty()) co_return why;
    }
    auto const exchange = connection_->begin();
    auto why = co_await send(wanted, *exchange);
    if (why.empty()) why = co_await archive(wanted, *exchange, asked);
    if (why.empty()) co_return "";
    bool const is_stale = is_open && !exchange->response_started() && !is_cut_;
    exchange->abort();
    connection_->close();
    if (!is_stale) co_return why;
  }
}

awaitable<std::string> TraceFetcher::send(const Wanted& wanted, OriginExchange& exchange) {
  auto head = wanted.head();
  std::vector<HeaderView> fields(head.headers.begin(), head.headers.end());
  session_.rules().add_fields(head, fields);
  head.headers = fields;
  auto sent = co_await exchange.send_head(head, false);
  if (sent) sent = co_await exchange.finish({});
  co_return sent ? "" : sent.error().message();
}

awaitable<std::string> TraceFetcher::archive(const Wanted& wanted, OriginExchange& exchange,
                                             SessionTime asked) {
  Exchange kept{.request = {.method = "GET",
                            .scheme = wanted.from.scheme,
                            .host = wanted.from.host,
                            .port = wanted.from.port,
                            .target = wanted.target,
                            .version = HttpVersion::kHttp11,
                            .headers = wanted.fields}};
  kept.timings.queued = asked;
  kept.timings.request_sent = session_.now();
  while (kept.response.status == 0) {
    auto const head = co_await exchange.read_head();
    if (!head) co_return head.error().message();
    if (is_interim(head->status)) continue;
    if (head->status != 200) co_return "its status is " + std::to_string(head->status);
    kept.timings.first_byte = session_.now();
    kept.response.status = head->status;
    kept.response.reason = head->reason;
    kept.response.version = head->version;
    kept.response.headers = Headers(head->headers);
  }
  std::string content;
  auto const bytes_max = session_.trace_bytes_left();
  auto& body = exchange.body();
  while (!body.finished()) {
    auto const piece = co_await body.read();
    if (!piece) co_return piece.error().message();
    content += text_of(*piece);
    if (content.size() > bytes_max) {
      co_return "it has more than " + std::to_string(bytes_max) + " bytes";
    }
  }
  kept.timings.end = session_.now();
  kept.response.trailers = Headers(body.trailers());
  if (facts_) connection_->facts = session_.keep(*std::exchange(facts_, std::nullopt));
  kept.origin_connection_id = connection_->facts->id;
  session_.keep_trace(std::move(kept), bytes_of(content));
  co_return "";
}

}  // namespace reprise
