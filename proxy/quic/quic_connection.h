#pragma once

// One QUIC connection (RFC 9000), the server's side, by ngtcp2 and GnuTLS.

#include <array>
#include <boost/asio/ip/udp.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "proxy/quic/gnutls_credentials.h"
#include "proxy/quic/ngtcp2_api.h"

namespace reprise {

/// What runs over a connection. All calls come from inside the connection's own: the application
/// may call everything of it but read(), write(), pass() and abandon().
class QuicApplication {
 public:
  /// Bytes to send on a stream. They live until they are acknowledged or the stream is closed.
  struct Outgoing {
    std::int64_t stream = -1;  ///< -1: nothing to send
    std::span<const ngtcp2_vec> pieces;
    bool ends = false;  ///< the stream ends after them
  };

  virtual ~QuicApplication() = default;
  /// The chain to show to a client that asks for `server_name`; null ends the handshake.
  virtual std::shared_ptr<const GnutlsChain> chain_for(const std::string& server_name) = 0;
  /// Sending may begin; the client is not authenticated yet, nor has it the server's Finished.
  virtual void begin() = 0;
  /// The handshake is complete. `chain_for` was not called if the client resumed a session.
  virtual void on_handshake(const std::string& server_name) = 0;
  virtual void received(std::int64_t stream, Bytes bytes, bool ends) = 0;
  virtual void acknowledged(std::int64_t stream, std::uint64_t size_bytes) = 0;
  /// Both directions have ended, and everything was acknowledged; or an error ended them.
  virtual void closed(std::int64_t stream, std::uint64_t code) = 0;
  /// The client ended its direction with an error.
  virtual void was_reset(std::int64_t stream, std::uint64_t code) = 0;
  /// The client is told that it may open that many streams of requests since the start.
  virtual void permitted(std::uint64_t streams) = 0;
  /// Called after each datagram and before each write(): what had to wait until ngtcp2's own work
  /// was done.
  virtual void on_batch() = 0;
  virtual Outgoing next_to_send() = 0;
  /// ngtcp2 took `size_bytes` of the last Outgoing, and its end if that was all.
  virtual void sent(std::int64_t stream, std::size_t size_bytes) = 0;
  /// The client's window for the stream is used up; unblocked() follows.
  virtual void blocked(std::int64_t stream) = 0;
  virtual void unblocked(std::int64_t stream) = 0;
  /// Nothing can be sent on the stream any more: the client has stopped it.
  virtual void shut(std::int64_t stream) = 0;
  /// The connection is over, and will be destroyed soon. Nothing is called after this, and nothing
  /// of the connection may be called.
  virtual void ended(std::error_code why) = 0;
};

/// Why a connection ended of which an assertion in a library failed (library_assertion.h). Objects
/// of the libraries must not be freed then.
inline std::error_code failed_assertion() {
  return std::make_error_code(std::errc::state_not_recoverable);
}

/// The system that one connection lives in: its identifiers, and chance.
class QuicHost {
 public:
  virtual ~QuicHost() = default;
  /// Packets for `id` are for this connection.
  virtual void add_id(const ngtcp2_cid& id) = 0;
  virtual void remove_id(const ngtcp2_cid& id) = 0;
  /// The token of a stateless reset for that identifier.
  virtual void reset_token(const ngtcp2_cid& id,
                           std::span<std::uint8_t, NGTCP2_STATELESS_RESET_TOKENLEN> token) = 0;
  virtual void random(std::span<std::uint8_t> out) = 0;
  /// Something may be ready to send: call write() soon, not now.
  virtual void wake() = 0;
};

enum class Congestion : std::uint8_t { kCubic, kReno, kBbr };

struct QuicOptions {
  std::uint64_t streams_max = 256;  ///< of requests, at a time
  std::uint64_t stream_window_bytes = 1 << 20;
  std::uint64_t connection_window_bytes = 16 << 20;
  std::chrono::seconds idle_timeout{300};
  std::chrono::seconds handshake_timeout{60};
  Congestion congestion = Congestion::kCubic;
};

/// Packets to send in one call, as the kernel segments them (UDP_SEGMENT).
struct QuicBurst {
  std::size_t size_bytes = 0;     ///< 0: nothing to send now
  std::size_t segment_bytes = 0;  ///< of each packet but the last, which may be shorter
  std::uint32_t ecn = 0;
};

/// The length of the identifiers that this server chooses.
inline constexpr std::size_t kQuicIdBytes = 18;

/// Pure: packets and times in, packets out; no socket and no clock. Does not migrate: packets from
/// another address are the host's to drop. Not thread-safe.
class QuicConnection {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Endpoint = boost::asio::ip::udp::endpoint;
  static constexpr std::size_t kSegmentsMax = 64;        ///< of a burst (the kernel's limit)
  static constexpr std::size_t kBurstBytesMax = 65'000;  ///< of a burst, below UDP's limit

  /// Why a client's first datagram begins no handshake.
  enum class Unbegun : std::uint8_t {
    kEarly,  ///< it belongs after one that has not arrived
    kVoid,   ///< it has no part of a handshake, or is damaged
  };

  struct Arrival {
    ngtcp2_pkt_hd head;  ///< of the client's first packet, by ngtcp2_accept()
    Endpoint local;
    Endpoint client;
    /// The identifier of the first packet before a Retry, if there was one: the client's address is
    /// then valid.
    std::optional<ngtcp2_cid> before_retry;
  };

  /// A connection for a client's first packet; pass the packet to read(). All references must
  /// outlive it. Errors: not_enough_memory; the application was told by ended().
  static Result<std::unique_ptr<QuicConnection>> accept(
      const Arrival& arrival, const QuicOptions& options, GnutlsCredentials& credentials,
      QuicHost& host, QuicApplication& application, TimePoint now);
  ~QuicConnection();
  QuicConnection(const QuicConnection&) = delete;
  QuicConnection& operator=(const QuicConnection&) = delete;

  /// Takes one datagram of the client.
  void read(Bytes datagram, std::uint32_t ecn, TimePoint now);
  /// Fills `into`, of at least kBurstBytesMax, with packets that are due. Call it until there are
  /// none.
  QuicBurst write(std::span<std::byte> into, TimePoint now);
  /// Ends it without a word: an assertion failed in a call of the application, from outside.
  void abandon();
  /// When pass() is due; max: never.
  TimePoint due() const;
  /// Does what is due by time.
  void pass(TimePoint now);

  /// Whether it has ended: the application knows, and only final_packet() remains to be sent.
  bool over() const { return over_; }
  /// If so, it is over: destroy it before the client's next datagram, for which its identifiers
  /// must be free.
  std::optional<Unbegun> unbegun() const { return unbegun_; }
  /// What says the end to the client, now and in answer to later packets; may be empty.
  Bytes final_packet() const { return final_packet_; }
  /// How long later packets of the client may arrive.
  std::chrono::nanoseconds farewell_time() const;

  // For the application.
  /// Ends the connection with the application's code, in the next write().
  void close(std::uint64_t code);
  /// A stream of the server's for one direction; -1 if the client permits no more.
  std::int64_t open_stream();
  /// Ends a stream with an error, in one direction or both.
  void reset(std::int64_t stream, std::uint64_t code);
  void stop_writing(std::int64_t stream, std::uint64_t code);
  void stop_reading(std::int64_t stream, std::uint64_t code);
  /// The client may send that much more on the stream and on the connection.
  void extend(std::int64_t stream, std::uint64_t size_bytes);
  void extend_connection(std::uint64_t size_bytes);
  /// The client may open one more stream.
  void allow_stream();
  /// Whether the client's window for the stream, or for the connection, is used up.
  bool is_blocked(std::int64_t stream) const;
  void wake() { host_.wake(); }

  bool handshake_done() const;
  const Endpoint& local() const { return local_; }
  const Endpoint& client() const { return client_; }
  /// The identifiers by which the client may name it.
  const std::vector<ngtcp2_cid>& ids() const { return ids_; }
  /// As the client sent it, lower case; empty before its ClientHello.
  std::string server_name() const;

 private:
  struct Callbacks;
  QuicConnection(const Arrival& arrival, QuicHost& host, QuicApplication& application)
      : host_(host),
        application_(application),
        local_(arrival.local),
        client_(arrival.client),
        first_id_(arrival.head.dcid) {}
  Result<void> start(const Arrival& arrival, const QuicOptions& options,
                     GnutlsCredentials& credentials, TimePoint now);
  /// The only one: clients do not migrate, so written packets are for it, too.
  ngtcp2_path path();
  void read_datagram(Bytes datagram, std::uint32_t ecn, TimePoint now);
  QuicBurst write_burst(std::span<std::byte> into, TimePoint now);
  void handle_expiry(TimePoint now);
  void add_id(const ngtcp2_cid& id);
  void remove_id(const ngtcp2_cid& id);
  std::size_t write_packet(std::span<std::byte> into, std::uint32_t& ecn, TimePoint now);
  void fail_with(int library_code);
  void say_goodbye(TimePoint now);
  void end(std::error_code why);

  QuicHost& host_;
  QuicApplication& application_;
  Endpoint local_;
  Endpoint client_;
  ngtcp2_cid first_id_{};
  std::vector<ngtcp2_cid> ids_;
  ngtcp2_crypto_conn_ref reference_{};
  gnutls_session_t tls_ = nullptr;
  std::shared_ptr<const GnutlsChain> chain_;  // GnuTLS borrows it
  ngtcp2_conn* connection_ = nullptr;
  std::vector<std::byte> held_;  // a packet that did not fit the last burst
  std::uint32_t held_ecn_ = 0;
  std::optional<quic_api::CloseReason> closing_;  // to be sent
  std::vector<std::byte> final_packet_;
  std::optional<Unbegun> unbegun_;
  bool sends_ = false;  // the application has begun
  bool over_ = false;
  bool abandoned_ = false;  // the libraries' objects must not be used any more
};

}  // namespace reprise
