#include "proxy/record/upload_watch.h"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <system_error>
#include <utility>
#include <variant>

#include "proxy/http/event.h"

namespace reprise {

Task<void> UploadWatch::run(Task<void> upload) {
  using net::experimental::awaitable_operators::operator||;
  auto const first = co_await (std::move(upload) || wait_until_left());
  if (first.index() == 0) co_return std::get<0>(first);
  client_left_ = true;
  co_return fail(std::make_error_code(std::errc::connection_aborted));
}

awaitable<void> UploadWatch::wait_until_left() {
  // Over HTTP/1 a client may end its side after its content and wait for the response, which looks
  // like leaving. While the origin accepts pieces, the client stays.
  std::uint64_t before = 0;
  do {
    before = pieces_;
    co_await client_.client_gone();
  } while (pieces_ != before);
  // run() cancels this wait when the upload ends.
  Event never;
  if (response_ends_) co_await never.wait();
}

}  // namespace reprise
