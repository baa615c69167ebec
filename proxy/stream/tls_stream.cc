#include "proxy/stream/tls_stream.h"

#include <openssl/err.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "proxy/stream/ciphertext_batch.h"

namespace reprise {
namespace {

// The commands with which OpenSSL asks a BIO to encrypt (bio.h names them in a comment).
constexpr int kSetKey = 72;
constexpr int kHasSendKey = 73;
constexpr int kSetMessageType = 74;

/// OpenSSL reads the thread's error queue to report the result of a call.
void forget_errors() {
  if (ERR_peek_error() != 0) ERR_clear_error();
}

}  // namespace

/// The BIO between OpenSSL and the stream's buffers.
struct RecordBio {
  static TlsStream& stream(BIO* bio) { return *static_cast<TlsStream*>(BIO_get_data(bio)); }

  static int read(BIO* bio, char* data, int size) {
    TlsStream& self = stream(bio);
    BIO_clear_retry_flags(bio);
    if (self.incoming_begin_ == self.incoming_end_ && !self.ended_) {
      if (self.empty_bytes_ > TlsStream::kEmptyBytesMax) {
        self.broken_ = std::make_error_code(std::errc::protocol_error);
        return -1;
      }
      auto const count = self.receive_now(self.room_for_incoming());
      if (!count && count.error() == std::errc::operation_would_block) BIO_set_retry_read(bio);
      if (!count) {
        self.broken_ = count.error();
        return -1;
      }
      self.take_incoming(*count);
    }
    auto const count =
        std::min(self.incoming_end_ - self.incoming_begin_, static_cast<std::size_t>(size));
    std::memcpy(data, self.incoming_.get() + self.incoming_begin_, count);
    self.incoming_begin_ += count;
    return static_cast<int>(count);
  }

  static int write(BIO* bio, const char* data, int size) {
    TlsStream& self = stream(bio);
    BIO_clear_retry_flags(bio);
    if (std::exchange(self.drops_message_, false)) return size;
    auto const bytes = bytes_of(std::string_view(data, static_cast<std::size_t>(size)));
    if (self.sealer_ == nullptr) {
      batch().append(bytes);
      return size;
    }
    auto const type = std::exchange(self.message_type_, RecordType::kApplicationData);
    self.seal_message(type, bytes);
    return size;
  }

  static long control(BIO* bio, int command, long number, void* data) {
    TlsStream& self = stream(bio);
    switch (command) {
      case BIO_CTRL_FLUSH:
        return 1;
      case kSetKey: {
        bool const for_sending = number != 0;
        if (for_sending) self.sealer_ = RecordSealer::create(data);
        return for_sending && self.sealer_ != nullptr ? 1 : 0;
      }
      case kHasSendKey:
        return self.sealer_ != nullptr ? 1 : 0;
      case kSetMessageType:
        self.message_type_ = static_cast<RecordType>(number);
        return 1;
      default:
        return 0;
    }
  }

  static BIO_METHOD* method() {
    static BIO_METHOD* const made = [] {
      BIO_METHOD* const method =
          BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "reprise records");
      BIO_meth_set_read(method, read);
      BIO_meth_set_write(method, write);
      BIO_meth_set_ctrl(method, control);
      return method;
    }();
    return made;
  }
};

TlsStream::TlsStream(tcp::socket socket, SslPtr ssl, Bytes prefix)
    : SocketStream(std::move(socket)),
      ssl_(std::move(ssl)),
      incoming_bytes_(std::max(prefix.size(), kIncomingBytes)),
      incoming_(std::make_unique_for_overwrite<std::byte[]>(incoming_bytes_)),
      incoming_end_(prefix.size()) {
  std::ranges::copy(prefix, incoming_.get());
  BIO* const bio = BIO_new(RecordBio::method());
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_.get(), bio, bio);
  SSL_set_mode(ssl_.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  if (SSL_is_server(ssl_.get()) == 1) SSL_set_options(ssl_.get(), SSL_OP_ENABLE_KTLS);
}

TlsStream::~TlsStream() = default;

Result<TlsStream::Trouble> TlsStream::trouble_of(int result) {
  auto const socket_error = std::exchange(broken_, {});
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return Trouble::kWantsMore;
    case SSL_ERROR_ZERO_RETURN:
      return Trouble::kEnd;
    case SSL_ERROR_SYSCALL:
      if (socket_error) return fail(socket_error);
      if (auto const code = ERR_get_error(); code != 0) {
        return fail({static_cast<int>(code), tls_category()});
      }
      // An end without close_notify: many origins do that; framing shows whether bytes are missing.
      return Trouble::kEnd;
    default:
      return fail({static_cast<int>(ERR_get_error()), tls_category()});
  }
}

void TlsStream::take_incoming(std::size_t size_bytes) {
  incoming_begin_ = 0;
  incoming_end_ = size_bytes;
  ended_ = size_bytes == 0;
  empty_bytes_ += size_bytes;
  count_work(size_bytes);
}

Task<bool> TlsStream::fill() {
  if (held_) {
    // The next write includes it, and so does the answer to data that arrived meanwhile.
    co_await yield_turn();
    expect_more();
  }
  auto count = receive_now(room_for_incoming());
  if (!count && count.error() == std::errc::operation_would_block) {
    if (std::exchange(held_, false)) {
      if (auto const sent = co_await flush(); !sent) co_return fail(sent.error());
    }
    count = co_await receive(room_for_incoming());
  }
  if (!count) co_return fail(count.error());
  take_incoming(*count);
  co_return true;
}

Result<bool> TlsStream::send_unsent() {
  if (unsent_begin_ < unsent_.size()) {
    if (!is_open()) return fail(std::make_error_code(std::errc::operation_canceled));
    auto const count = ::send(socket_.native_handle(), unsent_.data() + unsent_begin_,
                              unsent_.size() - unsent_begin_, MSG_NOSIGNAL);
    if (count < 0 && errno != EAGAIN && errno != EINTR) {
      return fail({errno, std::system_category()});
    }
    unsent_begin_ += static_cast<std::size_t>(std::max<ssize_t>(count, 0));
    if (unsent_begin_ < unsent_.size()) return false;
  }
  unsent_ = {};
  unsent_begin_ = 0;
  return true;
}

void TlsStream::take_up_held() {
  if (!std::exchange(held_, false)) return;
  batch().append(unsent_);
  unsent_ = {};
}

Result<void> TlsStream::send_batch() {
  auto const made = batch().bytes();
  if (made.empty()) return {};
  std::size_t sent = 0;
  std::error_code error;
  if (unsent_.empty()) {
    if (!is_open()) error = std::make_error_code(std::errc::operation_canceled);
    auto const count =
        error ? -1 : ::send(socket_.native_handle(), made.data(), made.size(), MSG_NOSIGNAL);
    if (!error && count < 0 && errno != EAGAIN && errno != EINTR) {
      error = {errno, std::system_category()};
    }
    sent = static_cast<std::size_t>(std::max<ssize_t>(count, 0));
  }
  auto const rest = made.subspan(sent);
  unsent_.insert(unsent_.end(), rest.begin(), rest.end());
  batch().clear();
  if (error) return fail(error);
  return {};
}

void TlsStream::hold_batch() {
  auto const made = batch().bytes();
  unsent_.insert(unsent_.end(), made.begin(), made.end());
  batch().clear();
  held_ = !unsent_.empty();
}

Task<void> TlsStream::flush() {
  while (true) {
    auto const done = send_unsent();
    if (!done) co_return fail(done.error());
    if (*done) co_return Result<void>{};
    co_await wait_writable();
  }
}

Task<void> TlsStream::handshake() {
  while (true) {
    if (!is_open()) co_return fail(std::make_error_code(std::errc::operation_canceled));
    forget_errors();
    int const result = SSL_do_handshake(ssl_.get());
    auto const trouble = result == 1 ? Trouble::kWantsMore : trouble_of(result);
    if (result == 1 && SSL_is_server(ssl_.get()) == 1) {
      // OpenSSL's buffer for sending was the last message itself, which is gone.
      if (sealer_ != nullptr && SSL_free_buffers(ssl_.get()) != 1) {
        co_return fail({kTlsBrokenOff, tls_category()});
      }
      hold_batch();
      co_return Result<void>{};
    }
    // An alert is sent even if it is our reason to end.
    auto const sent = send_batch();
    if (!trouble) co_return fail(trouble.error());
    if (!sent) co_return fail(sent.error());
    if (auto const flushed = co_await flush(); !flushed) co_return flushed;
    if (result == 1) co_return Result<void>{};
    if (*trouble == Trouble::kEnd) co_return fail({kTlsBrokenOff, tls_category()});
    if (auto const filled = co_await fill(); !filled) co_return fail(filled.error());
  }
}

Task<std::size_t> TlsStream::read_some(std::span<std::byte> buffer) {
  if (turn_is_over()) co_await yield_turn();
  while (true) {
    if (!is_open()) co_return fail(std::make_error_code(std::errc::operation_canceled));
    forget_errors();
    std::size_t count = 0;
    int const result = SSL_read_ex(ssl_.get(), buffer.data(), buffer.size(), &count);
    auto const trouble = result == 1 ? Trouble::kWantsMore : trouble_of(result);
    // Reading may have to answer (a key update, an alert). Bytes that cannot be sent now are sent
    // with the next write.
    auto const sent = send_batch();
    if (result == 1) {
      count_content(count);
      empty_bytes_ = 0;
      co_return count;
    }
    if (!trouble) co_return fail(trouble.error());
    if (!sent) co_return fail(sent.error());
    if (*trouble == Trouble::kEnd) co_return std::size_t{0};
    if (auto const filled = co_await fill(); !filled) co_return fail(filled.error());
  }
}

Bytes TlsStream::next_content(const Outgoing& pieces, std::size_t bytes_max) {
  const Bytes front = pieces.front().bytes;
  if (front.size() >= bytes_max) return front.first(bytes_max);
  if (pieces.behind().empty()) return front;
  // Small pieces are joined, or each would become a separate record.
  alignas(64) thread_local std::array<std::byte, RecordSizer::kRecordBytesMax> record;
  std::memcpy(record.data(), front.data(), front.size());
  std::size_t used = front.size();
  for (const Piece& piece : pieces.behind()) {
    auto const count = std::min(piece.bytes.size(), bytes_max - used);
    if (count > 0) std::memcpy(record.data() + used, piece.bytes.data(), count);
    used += count;
    if (used == bytes_max) break;
  }
  return Bytes(record).first(used);
}

Result<std::size_t> TlsStream::encrypt_by_openssl(Outgoing& pieces) {
  const Bytes content = next_content(pieces, sizer_.next_bytes());
  forget_errors();
  std::size_t count = 0;
  int const result = SSL_write_ex(ssl_.get(), content.data(), content.size(), &count);
  if (result != 1) {
    auto const trouble = trouble_of(result);
    return fail(trouble ? std::error_code(kTlsBrokenOff, tls_category()) : trouble.error());
  }
  pieces.advance(count);
  return count;
}

std::size_t TlsStream::seal(Outgoing& pieces) {
  auto const content_bytes = pieces.size_up_to(sizer_.next_bytes());
  sealer_->begin(RecordType::kApplicationData, content_bytes,
                 batch().room(content_bytes + RecordSealer::kOverheadBytes));
  for (auto rest = content_bytes; rest > 0;) {
    const Bytes front = pieces.front().bytes;
    auto const part = front.first(std::min(front.size(), rest));
    sealer_->add(part);
    pieces.advance(part.size());
    rest -= part.size();
  }
  batch().grow(sealer_->end());
  return content_bytes;
}

void TlsStream::seal_message(RecordType type, Bytes message) {
  sealer_->begin(type, message.size(), batch().room(message.size() + RecordSealer::kOverheadBytes));
  sealer_->add(message);
  batch().grow(sealer_->end());
}

void TlsStream::hand_back() {
  static constexpr std::array kKeyUpdate = {std::byte{24}, std::byte{0}, std::byte{0}, std::byte{1},
                                            std::byte{0}};
  seal_message(RecordType::kHandshake, kKeyUpdate);
  sealer_ = nullptr;
  drops_message_ = true;
}

Result<std::size_t> TlsStream::encrypt(Outgoing& pieces) {
  std::size_t taken = 0;
  while (!pieces.empty() && batch().size() < kBatchBytes) {
    bool const asked = SSL_get_key_update_type(ssl_.get()) != SSL_KEY_UPDATE_NONE;
    if (sealer_ != nullptr && asked) hand_back();
    auto const count =
        sealer_ != nullptr ? Result<std::size_t>(seal(pieces)) : encrypt_by_openssl(pieces);
    if (!count) return fail(count.error());
    taken += *count;
    sizer_.sent(*count);
  }
  return taken;
}

Result<bool> TlsStream::write_now(Outgoing& pieces) {
  auto const now = std::chrono::steady_clock::now();
  if (unsent_.empty() || held_) {
    sizer_.begin(now);
  } else {
    sizer_.go_on(now);
    auto const flushed = send_unsent();
    if (!flushed || !*flushed) return flushed;
  }
  while (!pieces.empty()) {
    if (turn_is_over()) return false;
    take_up_held();
    auto const taken = encrypt(pieces);
    auto const sent = send_batch();
    if (!taken) return fail(taken.error());
    if (!sent) return fail(sent.error());
    count_written(*taken);
    if (!unsent_.empty()) return false;
  }
  return true;
}

bool TlsStream::idle() {
  // Session tickets may be waiting, which are not content.
  expect_more();
  forget_errors();
  std::byte next;
  std::size_t count = 0;
  int const result = SSL_peek_ex(ssl_.get(), &next, 1, &count);
  if (result == 1) return false;
  auto const trouble = trouble_of(result);
  return send_batch() && trouble && *trouble == Trouble::kWantsMore;
}

awaitable<void> TlsStream::shutdown() {
  if (SSL_is_init_finished(ssl_.get()) && is_open()) {
    forget_errors();
    // Only our close_notify matters; a full socket may delay it.
    SSL_shutdown(ssl_.get());
    if (send_batch()) (void)co_await flush();
    forget_errors();
  }
  boost::system::error_code ignored;  // the peer may have closed
  socket_.shutdown(tcp::socket::shutdown_send, ignored);
  co_return;
}

}  // namespace reprise
