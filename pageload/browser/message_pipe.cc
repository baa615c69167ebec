#include "pageload/browser/message_pipe.h"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace reprise {

MessagePipe::MessagePipe(Descriptor write, Descriptor read)
    : MessageStream(std::move(write), std::move(read)) {}

void MessagePipe::send(std::string_view message) {
  write(std::string(message) + '\0');
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

Result<MessagePipePair> make_message_pipe() {
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
  return MessagePipePair{MessagePipe(std::move(down_ours), std::move(up_ours)),
                         std::move(down_theirs), std::move(up_theirs)};
}

}  // namespace reprise
