#include "tools/browser/web_socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

namespace reprise {
namespace {

constexpr unsigned kText = 1;
constexpr unsigned kClose = 8;
constexpr unsigned kPing = 9;
constexpr unsigned kPong = 10;
constexpr std::size_t kControlBytesMax = 125;

std::string random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  // Against caches between client and server, which loopback has none of: any bytes would do.
  RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(count));
  return bytes;
}

std::string base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  int const size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                   reinterpret_cast<const unsigned char*>(bytes.data()),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

/// What the server makes of the client's key (section 4.2.2).
std::string accept_of(const std::string& key) {
  std::string const text = key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr);
  return base64({reinterpret_cast<const char*>(digest.data()), size});
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

/// One frame at the front of some bytes.
struct Frame {
  unsigned opcode = 0;
  bool last = false;
  std::string_view payload;
  std::size_t size_bytes = 0;  ///< with its header
};

/// nullopt when it is not whole. Errors: bad_message, message_size.
Result<std::optional<Frame>> read_frame(std::string_view bytes, std::size_t payload_max) {
  auto const at = [bytes](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  if (bytes.size() < 2) return std::nullopt;
  // Reserved bits need an extension, and a server does not mask (sections 5.1, 5.2).
  if ((at(0) & 0x70) != 0 || (at(1) & 0x80) != 0) {
    return fail(std::make_error_code(std::errc::bad_message));
  }
  std::uint64_t length = at(1);
  std::size_t header = 2;
  if (length >= 126) {
    std::size_t const more = length == 126 ? 2 : 8;
    header += more;
    if (bytes.size() < header) return std::nullopt;
    length = 0;
    for (std::size_t i = 2; i < header; ++i) length = length << 8 | at(i);
  }
  Frame frame;
  frame.opcode = at(0) & 15U;
  frame.last = (at(0) & 0x80) != 0;
  if (frame.opcode >= kClose && (length > kControlBytesMax || !frame.last)) {
    return fail(std::make_error_code(std::errc::bad_message));
  }
  if (length > payload_max) return fail(std::make_error_code(std::errc::message_size));
  frame.size_bytes = header + static_cast<std::size_t>(length);
  if (bytes.size() < frame.size_bytes) return std::nullopt;
  frame.payload = bytes.substr(header, static_cast<std::size_t>(length));
  return frame;
}

}  // namespace

Result<WebSocket> WebSocket::connect(std::uint16_t port, std::string_view path) {
  FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
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
  FileDescriptor copy(::fcntl(socket.get(), F_DUPFD_CLOEXEC, 0));
  if (!copy.is_open()) return fail(last_system_error());
  return WebSocket(std::move(socket), std::move(copy), "127.0.0.1:" + std::to_string(port), path);
}

WebSocket::WebSocket(FileDescriptor write_fd, FileDescriptor read_fd, std::string_view host,
                     std::string_view path)
    : MessageStream(std::move(write_fd), std::move(read_fd)) {
  std::string const key = base64(random_bytes(16));
  expected_accept_ = accept_of(key);
  write("GET " + std::string(path) + " HTTP/1.1\r\nHost: " + std::string(host) +
        "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: " + key +
        "\r\nSec-WebSocket-Version: 13\r\n\r\n");
}

void WebSocket::send(std::string_view message) {
  send_frame(kText, message);
}

void WebSocket::send_frame(unsigned opcode, std::string_view payload) {
  std::string frame{static_cast<char>(0x80 | opcode)};
  std::size_t const size = payload.size();
  int const length_bytes = size < 126 ? 0 : size < 65'536 ? 2 : 8;
  frame += static_cast<char>(0x80 | (length_bytes == 0 ? size : length_bytes == 2 ? 126 : 127));
  for (int i = length_bytes - 1; i >= 0; --i) frame += static_cast<char>(size >> (8 * i) & 255);
  auto mask = random_bytes(4);
  mask[0] |= 1;  // Firefox takes a mask of 0 for none
  frame += mask;
  for (std::size_t i = 0; i < size; ++i) frame += static_cast<char>(payload[i] ^ mask[i % 4]);
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
    auto const frame = read_frame(std::string_view(incoming_).substr(taken_bytes_),
                                  message_bytes_max_ - fragments_.size());
    if (!frame) return fail(frame.error());
    if (!*frame) break;
    taken_bytes_ += (*frame)->size_bytes;
    if ((*frame)->opcode == kPing) {
      send_frame(kPong, (*frame)->payload);
    } else if ((*frame)->opcode == kClose) {
      return fail(std::make_error_code(std::errc::broken_pipe));
    } else if ((*frame)->opcode < kClose) {
      fragments_ += (*frame)->payload;
      if ((*frame)->last) return std::exchange(fragments_, {});
    }
  }
  incoming_.erase(0, std::exchange(taken_bytes_, 0));
  return std::nullopt;
}

}  // namespace reprise
