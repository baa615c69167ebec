#include "pageload/browser/message_pipe.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace reprise {
namespace {

constexpr std::size_t kReadBytes = 256 << 10;

void make_nonblocking(int fd) {
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
}

}  // namespace

MessagePipe::MessagePipe(Descriptor write, Descriptor read, std::size_t message_bytes_max)
    : write_(std::move(write)), read_(std::move(read)), message_bytes_max_(message_bytes_max) {
  make_nonblocking(write_.get());
  make_nonblocking(read_.get());
}

void MessagePipe::send(std::string_view message) {
  outgoing_.append(message).push_back('\0');
  flush();
}

void MessagePipe::flush() {
  std::size_t done = 0;
  while (done < outgoing_.size()) {
    auto const sent =
        ::send(write_.get(), outgoing_.data() + done, outgoing_.size() - done, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno != EAGAIN) done = outgoing_.size();  // receive() will find the end
    if (sent <= 0) break;
    done += static_cast<std::size_t>(sent);
  }
  outgoing_.erase(0, done);
}

Result<std::optional<std::string>> MessagePipe::receive(TimePoint deadline) {
  for (bool looked = false;; looked = true) {
    auto message = take_message();
    if (!message || *message) return message;
    auto const now = std::chrono::steady_clock::now();
    if (looked && now >= deadline) return std::nullopt;
    auto const left = std::chrono::ceil<std::chrono::milliseconds>(deadline - now);
    struct pollfd watched[2] = {
        {.fd = read_.get(), .events = POLLIN, .revents = 0},
        {.fd = write_.get(), .events = POLLOUT, .revents = 0},
    };
    auto const count = outgoing_.empty() ? 1U : 2U;
    int const ready =
        ::poll(watched, count, static_cast<int>(std::clamp<long>(left.count(), 0, 60'000)));
    if (ready > 0 && count == 2 && watched[1].revents != 0) flush();
    if (ready > 0 && watched[0].revents != 0) {
      auto const before = incoming_.size();
      incoming_.resize(before + kReadBytes);
      auto const got = ::recv(read_.get(), incoming_.data() + before, kReadBytes, 0);
      int const error = errno;
      incoming_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
      if (got == 0 || (got < 0 && error != EAGAIN && error != EINTR)) {
        return fail(std::make_error_code(std::errc::broken_pipe));
      }
    }
  }
}

Result<std::optional<std::string>> MessagePipe::take_message() {
  auto const end = incoming_.find('\0', searched_bytes_);
  if (end == std::string::npos) {
    incoming_.erase(0, std::exchange(taken_bytes_, 0));
    searched_bytes_ = incoming_.size();
    if (incoming_.size() > message_bytes_max_) {
      return fail(std::make_error_code(std::errc::message_size));
    }
    return std::nullopt;
  }
  std::string message = incoming_.substr(taken_bytes_, end - taken_bytes_);
  taken_bytes_ = searched_bytes_ = end + 1;
  return message;
}

Result<MessagePipePair> make_message_pipe(std::size_t message_bytes_max) {
  int down[2];
  int up[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, down) != 0) {
    return fail({errno, std::system_category()});
  }
  Descriptor down_ours(down[0]);
  Descriptor down_theirs(down[1]);
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, up) != 0) {
    return fail({errno, std::system_category()});
  }
  Descriptor up_ours(up[0]);
  Descriptor up_theirs(up[1]);
  return MessagePipePair{MessagePipe(std::move(down_ours), std::move(up_ours), message_bytes_max),
                         std::move(down_theirs), std::move(up_theirs)};
}

}  // namespace reprise
