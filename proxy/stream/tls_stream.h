#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "proxy/stream/socket_stream.h"
#include "proxy/stream/tls_error.h"
#include "proxy/tls/openssl_ptr.h"
#include "proxy/tls/record_sealer.h"
#include "proxy/tls/record_sizer.h"

namespace reprise {

/// TLS over a TCP socket, server or client side as the SSL is set up. Records are gathered, so that
/// a large body takes few system calls, and are as long as the connection's window permits
/// (RecordSizer). A server's content is encrypted straight from its pieces where RecordSealer can,
/// otherwise OpenSSL encrypts copies. `prefix`: bytes already read from the socket (a ClientHello).
class TlsStream final : public SocketStream {
 public:
  TlsStream(tcp::socket socket, SslPtr ssl, Bytes prefix = {});
  ~TlsStream() override;

  /// A server's last handshake messages (session tickets; with TLS 1.2 its Finished) are held: they
  /// are sent with the next write, in the same packets, or once read_some() has nothing to read.
  /// Errors: the socket's, or a TLS error (tls_category) whose message is OpenSSL's.
  Task<void> handshake();

  /// Errors, too: protocol_error after kEmptyBytesMax without content.
  Task<std::size_t> read_some(std::span<std::byte> buffer) override;
  Result<bool> write_now(Outgoing& pieces) override;
  awaitable<void> shutdown() override;
  bool idle() override;

  SSL* ssl() const { return ssl_.get(); }

 private:
  friend struct RecordBio;
  /// One whole record (RFC 8446 section 5.2) and the head of the next.
  static constexpr std::size_t kIncomingBytes = 5 + (16 << 10) + 256 + 5;
  /// The most ciphertext that may arrive without content before the connection ends. A handshake
  /// has less; a peer that updates its keys thousands of times keeps the thread from others.
  static constexpr std::size_t kEmptyBytesMax = 128 << 10;
  /// Ciphertext is sent after this much: 64 KiB of content, with its records and h2's frame heads.
  static constexpr std::size_t kBatchBytes = 65 << 10;

  /// The result of an OpenSSL call other than success.
  enum class Trouble : std::uint8_t { kWantsMore, kEnd };
  Result<Trouble> trouble_of(int result);
  /// The content of the next record, joined from small pieces.
  static Bytes next_content(const Outgoing& pieces, std::size_t bytes_max);
  /// Encrypts from the front of `pieces` until a batch is full. Returns the bytes taken.
  Result<std::size_t> encrypt(Outgoing& pieces);
  /// One record of it, by OpenSSL. Returns the bytes of content.
  Result<std::size_t> encrypt_by_openssl(Outgoing& pieces);
  /// The same, by sealer_.
  std::size_t seal(Outgoing& pieces);
  /// A whole message other than content.
  void seal_message(RecordType type, Bytes message);
  /// Sends the KeyUpdate that the client asked for (RFC 8446 section 4.6.3). OpenSSL alone has the
  /// next key, and encrypts from then on. It sends a KeyUpdate before its first content, too, with
  /// the old key, whose records it has not counted: that one is dropped.
  void hand_back();
  /// Sends the thread's batch as far as the socket accepts it, and keeps the rest.
  Result<void> send_batch();
  /// Keeps the thread's batch without sending any of it.
  void hold_batch();
  /// Moves the held bytes into the thread's batch, so that more can follow.
  void take_up_held();
  /// True if no ciphertext waits.
  Result<bool> send_unsent();
  Task<void> flush();
  /// Waits for ciphertext. False at the end.
  Task<bool> fill();
  /// `size_bytes` of ciphertext have arrived there; 0: the end.
  void take_incoming(std::size_t size_bytes);
  std::span<std::byte> room_for_incoming() { return {incoming_.get(), incoming_bytes_}; }

  SslPtr ssl_;
  std::unique_ptr<RecordSealer> sealer_;                    // once it encrypts what we send
  RecordType message_type_ = RecordType::kApplicationData;  // of OpenSSL's next one to seal
  bool drops_message_ = false;                              // OpenSSL's next one
  std::size_t incoming_bytes_;                              // the size of:
  std::unique_ptr<std::byte[]> incoming_;  // ciphertext as received, not yet used by OpenSSL,
  std::size_t incoming_begin_ = 0;         // from here
  std::size_t incoming_end_;               // to here
  std::size_t empty_bytes_ = 0;            // ciphertext that arrived since the last content
  bool ended_ = false;                     // the peer has ended its direction
  std::error_code broken_;                 // the error of reading the socket
  std::vector<std::byte> unsent_;          // ciphertext that the socket has not accepted,
  std::size_t unsent_begin_ = 0;           // from here
  bool held_ = false;                      // there was no attempt yet to send the unsent bytes
  RecordSizer sizer_;
};

}  // namespace reprise
