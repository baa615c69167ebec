#include "proxy/tls_stream.h"

#include <openssl/err.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace reprise {

/// The BIO between OpenSSL and the socket: first the prefix, then recv(2); send(2) without SIGPIPE.
struct SocketBio {
  static TlsStream& stream(BIO* bio) { return *static_cast<TlsStream*>(BIO_get_data(bio)); }

  static int read(BIO* bio, char* data, int size) {
    TlsStream& self = stream(bio);
    BIO_clear_retry_flags(bio);
    if (auto const kept = self.prefix_.size() - self.prefix_used_; kept > 0) {
      auto const count = std::min(kept, static_cast<std::size_t>(size));
      std::memcpy(data, self.prefix_.data() + self.prefix_used_, count);
      self.prefix_used_ += count;
      if (self.prefix_used_ == self.prefix_.size()) {
        self.prefix_ = {};
        self.prefix_used_ = 0;
      }
      return static_cast<int>(count);
    }
    auto const count =
        ::recv(self.socket_.native_handle(), data, static_cast<std::size_t>(size), 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_read(bio);
    return static_cast<int>(count);
  }

  static int write(BIO* bio, const char* data, int size) {
    BIO_clear_retry_flags(bio);
    auto const count = ::send(stream(bio).socket_.native_handle(), data,
                              static_cast<std::size_t>(size), MSG_NOSIGNAL);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_write(bio);
    return static_cast<int>(count);
  }

  static long control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

  static BIO_METHOD* method() {
    static BIO_METHOD* const made = [] {
      BIO_METHOD* const method =
          BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "reprise socket");
      BIO_meth_set_read(method, read);
      BIO_meth_set_write(method, write);
      BIO_meth_set_ctrl(method, control);
      return method;
    }();
    return made;
  }
};

namespace {

/// Heads and small bodies go out as one record of at most this size.
constexpr std::size_t kRecordBytes = 16 << 10;

/// Not a code of OpenSSL's, whose codes are positive.
constexpr int kBrokenOff = -1;

class TlsCategory final : public std::error_category {
  const char* name() const noexcept override { return "tls"; }
  std::string message(int code) const override {
    if (code == kBrokenOff) return "the peer broke off the TLS connection";
    char text[256];
    ERR_error_string_n(static_cast<unsigned long>(static_cast<unsigned>(code)), text, sizeof text);
    return text;
  }
};

}  // namespace

const std::error_category& tls_category() {
  static const TlsCategory category;
  return category;
}

TlsStream::TlsStream(tcp::socket socket, SslPtr ssl, std::vector<std::byte> prefix)
    : ByteStream(std::move(socket)), prefix_(std::move(prefix)), ssl_(std::move(ssl)) {
  BIO* const bio = BIO_new(SocketBio::method());
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_.get(), bio, bio);
  SSL_set_mode(ssl_.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                               SSL_MODE_RELEASE_BUFFERS);
}

TlsStream::~TlsStream() = default;

ByteStream::Step TlsStream::step_of(int result) {
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return {.wait = Wait::kReadable};
    case SSL_ERROR_WANT_WRITE:
      return {.wait = Wait::kWritable};
    case SSL_ERROR_ZERO_RETURN:
      return {};
    case SSL_ERROR_SYSCALL:
      if (auto const code = ERR_get_error(); code != 0) {
        return {.error = {static_cast<int>(code), tls_category()}};
      }
      if (errno != 0) return {.error = {errno, std::system_category()}};
      // An end without close_notify: many origins do it; framing tells whether bytes are missing.
      return {};
    default:
      return {.error = {static_cast<int>(ERR_get_error()), tls_category()}};
  }
}

Task<void> TlsStream::handshake() {
  while (true) {
    if (!socket_.is_open()) co_return fail(std::make_error_code(std::errc::operation_canceled));
    ERR_clear_error();
    errno = 0;
    int const result = SSL_do_handshake(ssl_.get());
    if (result == 1) co_return Result<void>{};
    Step const step = step_of(result);
    if (step.error) co_return fail(step.error);
    if (step.wait == Wait::kNone) co_return fail({kBrokenOff, tls_category()});
    if (auto const ready = co_await wait(step.wait); !ready) co_return fail(ready.error());
  }
}

ByteStream::Step TlsStream::try_read(std::span<std::byte> buffer) {
  ERR_clear_error();
  errno = 0;
  std::size_t count = 0;
  int const result = SSL_read_ex(ssl_.get(), buffer.data(), buffer.size(), &count);
  if (result == 1) return {.bytes = count};
  return step_of(result);
}

ByteStream::Step TlsStream::try_write(std::span<const Bytes> pieces) {
  // Small pieces are joined, or each would become a record of its own. A retry presents the same
  // bytes again, as OpenSSL asks, because the caller starts from the same pieces.
  alignas(64) thread_local std::array<std::byte, kRecordBytes> record;
  Bytes next = pieces.front();
  if (next.size() < kRecordBytes && pieces.size() > 1) {
    std::size_t used = 0;
    for (const Bytes piece : pieces) {
      auto const count = std::min(piece.size(), kRecordBytes - used);
      std::memcpy(record.data() + used, piece.data(), count);
      used += count;
      if (used == kRecordBytes) break;
    }
    next = Bytes(record).first(used);
  }
  ERR_clear_error();
  errno = 0;
  std::size_t count = 0;
  int const result = SSL_write_ex(ssl_.get(), next.data(), next.size(), &count);
  if (result == 1) return {.bytes = count};
  Step step = step_of(result);
  if (step.wait == Wait::kNone && !step.error) step.error = {kBrokenOff, tls_category()};
  return step;
}

bool TlsStream::idle() {
  // Session tickets may be waiting, which are no content.
  ERR_clear_error();
  std::byte next;
  std::size_t count = 0;
  int const result = SSL_peek_ex(ssl_.get(), &next, 1, &count);
  return result != 1 && SSL_get_error(ssl_.get(), result) == SSL_ERROR_WANT_READ;
}

awaitable<void> TlsStream::shutdown() {
  while (SSL_is_init_finished(ssl_.get()) && socket_.is_open()) {
    ERR_clear_error();
    int const result = SSL_shutdown(ssl_.get());
    // Only our close_notify matters; a full socket may have held it up.
    if (result >= 0 || SSL_get_error(ssl_.get(), result) != SSL_ERROR_WANT_WRITE) break;
    if (!co_await wait(Wait::kWritable)) break;
  }
  ERR_clear_error();
  boost::system::error_code ignored;  // the peer may be gone already
  socket_.shutdown(tcp::socket::shutdown_send, ignored);
  co_return;
}

}  // namespace reprise
