#include "proxy/http/h3/h3_server.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <utility>

#include "base/http/h1_parser.h"

namespace reprise {
namespace {

RequestHead head_of(const H2Target& target, HeaderList headers) {
  return {.method = target.method,
          .scheme = target.scheme,
          .host = target.authority.host,
          .port = target.authority.port,
          .target = target.path,
          .version = HttpVersion::kH3,
          .headers = headers,
          .protocol = target.protocol};
}

}  // namespace

Task<void> H3Server::run() {
  while (!over_) co_await over_event_.wait();
  handler_.close();
  while (serving_ > 0) co_await all_served_.wait();
  co_return fail(why_);
}

void H3Server::on_over(std::error_code why) {
  why_ = why;
  over_ = true;
  over_event_.set();
}

ExchangeContext H3Server::context_of(const H3ServerStream& stream) const {
  return {.connection = info_,
          .stream_id = static_cast<std::uint64_t>(stream.id()),
          .arrived = std::chrono::steady_clock::now()};
}

bool H3Server::tells_alt_svc(std::string_view host) const {
  auto const& hosts = options().alt_svc_hosts;
  return hosts == nullptr || hosts->contains(host);
}

void H3Server::prepare(H3ServerStream& stream, const H2Target& target, bool expects_continue) {
  stream.set_request(target.method, expects_continue);
  if (tells_alt_svc(target.authority.host)) {
    auto const port = target.authority.port;
    if (std::exchange(alt_svc_port_, port) != port) {
      alt_svc_ = "h3=\":" + std::to_string(port) + "\"";
    }
    stream.set_alt_svc(alt_svc_);
  }
}

void H3Server::serve(H3ServerStream& stream) {
  if (answer_at_once(stream)) return;
  stream.running = true;
  ++serving_;
  // Not from inside the library that calls this: what a handler's first step throws, a failed
  // assertion too (library_assertion.h), would reach its coroutine, and no one else.
  net::post(executor_, [this, &stream] {
    net::co_spawn(executor_, serve_one(stream), [this, &stream](std::exception_ptr broken) {
      release(stream);
      if (--serving_ == 0) all_served_.set();
      if (broken) std::rethrow_exception(broken);
    });
  });
}

/// The common case without any wait: no coroutine.
bool H3Server::answer_at_once(H3ServerStream& stream) {
  if (!stream.finished() || stream.head.too_long()) return false;
  stream.head.read_into(fields_);
  auto const target = read_h2_target(fields_, headers_);
  if (!target || !target->protocol.empty()) return false;
  auto response = handler_.stored(context_of(stream), head_of(*target, headers_));
  if (response == nullptr) return false;
  prepare(stream, *target, false);
  stream.answer(std::move(response));
  drop_head(stream);
  return true;
}

awaitable<void> H3Server::serve_one(H3ServerStream& stream) {
  auto const arrived = std::exchange(stream.head, {});
  if (arrived.too_long()) {
    if (!co_await send_text(stream, 431, "reprise: the request's head is too long\n")) {
      reset_soon(stream.id(), NGHTTP3_H3_EXCESSIVE_LOAD);
    }
    co_return;
  }
  auto const fields = arrived.fields();
  std::vector<HeaderView> headers;
  headers.reserve(fields.size());
  auto const target = read_h2_target(fields, headers);
  if (!target) {
    reset_soon(stream.id(), NGHTTP3_H3_MESSAGE_ERROR);
    co_return;
  }
  prepare(stream, *target, header_has_token(headers, "expect", "100-continue"));
  auto const head = head_of(*target, headers);
  if (!head.protocol.empty()) {
    (void)co_await send_text(stream, 501, "reprise: this protocol is not supported\n");
    co_return;
  }
  auto const context = context_of(stream);
  auto const served = co_await handler_.serve(context, head, stream, stream);
  if (!served || !stream.finished_sending()) {
    reset_soon(stream.id(), NGHTTP3_H3_INTERNAL_ERROR);
  }
}

}  // namespace reprise
