#pragma once

#include <cstdint>
#include <vector>

#include "proxy/stream/socket_stream.h"
#include "proxy/tls/openssl_ptr.h"
#include "proxy/tls/record_sizer.h"

namespace reprise {

/// TLS over a TCP socket, server or client side as the SSL was set up. Records are gathered, so
/// that a large body takes few system calls, and are as long as the connection's window allows
/// (RecordSizer). Bytes that were read from the socket already (a ClientHello) are given as
/// `prefix`.
class TlsStream final : public SocketStream {
 public:
  TlsStream(tcp::socket socket, SslPtr ssl, std::vector<std::byte> prefix = {});
  ~TlsStream() override;

  /// A server's last handshake messages (session tickets; with TLS 1.2 its Finished) are held: they
  /// are sent with the next write, in the same packets, or once read_some() has nothing to read.
  /// Errors: the socket's, or a TLS error (tls_category) whose message is OpenSSL's.
  Task<void> handshake();

  Task<std::size_t> read_some(std::span<std::byte> buffer) override;
  Result<bool> write_now(Outgoing& pieces) override;
  awaitable<void> shutdown() override;
  bool idle() override;

  SSL* ssl() const { return ssl_.get(); }

 private:
  friend struct RecordBio;
  /// One whole record (RFC 8446 section 5.2) and the head of the next.
  static constexpr std::size_t kIncomingBytes = 5 + (16 << 10) + 256 + 5;
  /// After so much of ciphertext it is sent.
  static constexpr std::size_t kBatchBytes = 64 << 10;

  /// What a call of OpenSSL came to when it was not success.
  enum class Trouble : std::uint8_t { kWantsMore, kEnd };
  Result<Trouble> trouble_of(int result);
  /// The record's content that goes next, joined from small pieces.
  static Bytes next_content(const Outgoing& pieces, std::size_t bytes_max);
  /// Encrypts from the front of `pieces` until a batch is full. Returns the bytes taken.
  Result<std::size_t> encrypt(Outgoing& pieces);
  /// Sends the thread's batch as far as the socket takes it, and keeps the rest.
  Result<void> send_batch();
  /// Keeps the thread's batch without sending any of it.
  void hold_batch();
  /// Puts what is held back into the thread's batch, for more to follow it.
  void take_up_held();
  /// True when no ciphertext waits any more.
  Result<bool> send_unsent();
  Task<void> flush();
  /// Waits for ciphertext. False at the end.
  Task<bool> fill();

  SslPtr ssl_;
  std::vector<std::byte> incoming_;  // ciphertext as received, not yet taken by OpenSSL:
  std::size_t incoming_begin_ = 0;   // from here
  std::size_t incoming_end_ = 0;     // to here
  bool ended_ = false;               // the peer has ended its direction
  std::error_code broken_;           // what reading the socket came to
  std::vector<std::byte> unsent_;    // ciphertext that the socket did not take,
  std::size_t unsent_begin_ = 0;     // from here
  bool held_ = false;                // nobody has tried to send what is unsent
  RecordSizer sizer_;
};

/// Errors of OpenSSL, by its packed error code.
const std::error_category& tls_category();
/// One of them, and no code of OpenSSL's, which are positive: the peer ended the connection.
inline constexpr int kTlsBrokenOff = -1;

}  // namespace reprise
