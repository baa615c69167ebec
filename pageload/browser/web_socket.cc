#include "pageload/browser/web_socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/rand.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/system/last_error.h"

namespace reprise {
namespace {

template <std::size_t kSize>
std::array<std::byte, kSize> random_bytes() {
  std::array<std::byte, kSize> bytes{};
  // Against caches between client and server, which loopback has none of: any bytes would do.
  RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), kSize);
  return bytes;
}

bool is_lower_case_of(std::string_view lower, std::string_view text) {
  if (lower.size() != text.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char const c = text[i];
    if (lower[i] != (c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c)) return false;
  }
  return true;
}

/// The value of a field in a response head; `name` in lower case.
std::string_view field_of(std::string_view head, std::string_view name) {
  for (auto at = head.find("\r\n"); at != head.npos; at = head.find("\r\n", at)) {
    at += 2;
    auto const line = head.substr(at, head.find("\r\n", at) - at);
    auto const colon = line.find(':');
    if (colon == line.npos || !is_lower_case_of(name, line.substr(0, colon))) continue;
    auto value = line.substr(colon + 1);
    while (value.starts_with(' ')) value.remove_prefix(1);
    while (value.ends_with(' ')) value.remove_suffix(1);
    return value;
  }
  return {};
}

}  // namespace

Result<WebSocket> WebSocket::connect(std::uint16_t port, std::string_view path) {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return fail(last_system_error());
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int const no_delay = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &no_delay, sizeof no_delay);
  if (::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    return fail(last_system_error());
  }
  Descriptor copy(::fcntl(socket.get(), F_DUPFD_CLOEXEC, 0));
  if (!copy.is_open()) return fail(last_system_error());
  return WebSocket(std::move(socket), std::move(copy), "127.0.0.1:" + std::to_string(port), path);
}

WebSocket::WebSocket(Descriptor write_fd, Descriptor read_fd, std::string_view host,
                     std::string_view path)
    : MessageStream(std::move(write_fd), std::move(read_fd)) {
  std::string const key = web_socket_key(random_bytes<16>());
  expected_accept_ = web_socket_accept(key);
  write("GET " + std::string(path) + " HTTP/1.1\r\nHost: " + std::string(host) +
        "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: " + key +
        "\r\nSec-WebSocket-Version: 13\r\n\r\n");
}

void WebSocket::send(std::string_view message) {
  send_frame(MessageKind::kText, std::as_bytes(std::span(message)));
}

void WebSocket::send_frame(MessageKind kind, std::span<const std::byte> payload) {
  auto mask = random_bytes<4>();
  mask[0] |= std::byte(1);  // Firefox takes a mask of 0 for none
  FrameHeader const header(kind, payload.size(), true, false, mask);
  std::vector<std::byte> masked(payload.begin(), payload.end());
  apply_mask(mask, 0, masked);
  auto const frame = std::string(text_of(header.bytes())).append(text_of(masked));
  // Firefox loses what comes before it has answered.
  if (answered_) {
    write(frame);
  } else {
    held_ += frame;
  }
}

/// Whether the server has agreed. Errors: bad_message when it has not.
Result<bool> WebSocket::take_answer() {
  if (answered_) return true;
  auto const end = incoming_.find("\r\n\r\n");
  if (end == std::string::npos) {
    if (incoming_.size() > kAnswerBytesMax) {
      return fail(std::make_error_code(std::errc::bad_message));
    }
    return false;
  }
  auto const head = std::string_view(incoming_).substr(0, end);
  if (!head.starts_with("HTTP/1.1 101") ||
      field_of(head, "sec-websocket-accept") != expected_accept_) {
    return fail(std::make_error_code(std::errc::bad_message));
  }
  taken_bytes_ = end + 4;
  answered_ = true;
  write(std::exchange(held_, {}));
  return true;
}

Result<std::optional<std::string>> WebSocket::take_message() {
  auto const answered = take_answer();
  if (!answered) return fail(answered.error());
  while (*answered) {
    auto const step =
        parser_.next(std::as_bytes(std::span(std::string_view(incoming_).substr(taken_bytes_))));
    if (!step) return fail(std::make_error_code(std::errc::bad_message));
    taken_bytes_ += step->consumed;
    if (!step->piece) break;
    auto const& [kind, ends, payload] = *step->piece;
    if (kind == MessageKind::kPing) send_frame(MessageKind::kPong, payload);
    if (kind == MessageKind::kClose) return fail(std::make_error_code(std::errc::broken_pipe));
    if (kind != MessageKind::kText && kind != MessageKind::kBinary) continue;
    if (payload.size() > message_bytes_max_ - fragments_.size()) {
      return fail(std::make_error_code(std::errc::message_size));
    }
    fragments_ += text_of(payload);
    if (ends) return std::exchange(fragments_, {});
  }
  incoming_.erase(0, std::exchange(taken_bytes_, 0));
  return std::nullopt;
}

}  // namespace reprise
