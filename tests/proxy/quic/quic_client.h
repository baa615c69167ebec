#pragma once

// A client of QUIC and HTTP/3 for tests, in memory: ngtcp2 and nghttp3 themselves, datagrams and
// times in, datagrams out. It trusts every certificate.

#include <gnutls/crypto.h>
#include <nghttp3/nghttp3.h>

#include <boost/asio/ip/udp.hpp>
#include <chrono>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "proxy/quic/ngtcp2_api.h"

namespace reprise {

class QuicClient {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Endpoint = boost::asio::ip::udp::endpoint;
  using Fields = std::vector<std::pair<std::string, std::string>>;

  struct Options {
    std::string server_name = "a.test";
    std::string alpn = "h3";
    std::uint64_t stream_window_bytes = 1 << 20;
    std::uint64_t connection_window_bytes = 16 << 20;
    bool extends_windows = true;  ///< as it reads
    bool long_hello = false;      ///< a ClientHello of two datagrams, as today's browsers send
  };

  /// What came on one stream.
  struct Answer {
    std::vector<std::string> interim;  ///< statuses
    std::string status;
    Fields fields;
    std::string body;
    Fields trailers;
    bool complete = false;               ///< its end has arrived
    std::optional<std::uint64_t> reset;  ///< the code
  };

  QuicClient(Options options, Endpoint local, Endpoint server, TimePoint now);
  ~QuicClient();
  QuicClient(const QuicClient&) = delete;
  QuicClient& operator=(const QuicClient&) = delete;

  /// The datagrams that are due.
  std::vector<std::vector<std::byte>> write(TimePoint now);
  void read(Bytes datagram, TimePoint now);
  /// When pass() is due.
  TimePoint due() const;
  void pass(TimePoint now);

  /// Asks once the handshake is done. `fields` include the pseudo fields; with a body, if given,
  /// and trailers after it. The stream's number is that of the call, times four.
  std::int64_t ask(Fields fields, std::optional<std::string> body = {}, Fields trailers = {});
  std::int64_t get(const std::string& path, Fields more = {});
  /// The content does not end, and none of it is sent.
  std::int64_t ask_unfinished(Fields fields);
  void cancel(std::int64_t stream);
  /// Sends bytes as they are on a stream that is open, after what nghttp3 has sent there: frames
  /// that it would not write.
  void send_raw(std::int64_t stream, std::string bytes);
  static constexpr std::int64_t kControlStream = 2;
  static constexpr std::int64_t kEncoderStream = 6;
  static constexpr std::int64_t kServersDecoderStream = 11;
  /// Resets the next stream, of which the server has seen nothing. Returns its number.
  std::int64_t reset_unseen();
  /// Sends PRIORITY_UPDATE (RFC 9218 section 7.2) for a request that was asked.
  void update_priority(std::int64_t stream, std::uint32_t urgency, bool incremental = false);
  /// Permits that much more on a stream and the connection.
  void extend(std::int64_t stream, std::uint64_t size_bytes);

  Answer& answer(std::int64_t stream) { return answers_[stream]; }
  /// The streams whose answers are complete, in that order.
  const std::vector<std::int64_t>& completed() const { return completed_; }
  bool handshake_done() const;
  bool told_to_go_away() const { return told_to_go_away_; }
  /// The server has closed, with this code of HTTP/3, or this one of the transport.
  bool closed() const { return closed_; }
  std::uint64_t close_code() const { return close_code_; }

 private:
  struct Callbacks;
  struct Asked {
    Fields fields;
    std::optional<std::string> body;
    Fields trailers;
    std::size_t sent_bytes = 0;
    bool submitted = false;
    bool unfinished = false;
  };
  struct Raw {
    std::int64_t stream = -1;
    std::string bytes;
    bool sent = false;
  };
  void begin_http();
  void submit();
  ngtcp2_path path();

  Options options_;
  Endpoint local_;
  Endpoint server_;
  ngtcp2_crypto_conn_ref reference_{};
  gnutls_certificate_credentials_t credentials_ = nullptr;
  gnutls_session_t tls_ = nullptr;
  ngtcp2_conn* quic_ = nullptr;
  nghttp3_conn* http_ = nullptr;
  std::map<std::int64_t, Asked> asked_;
  std::list<Raw> raw_;
  bool encodes_by_hand_ = false;
  std::map<std::int64_t, Answer> answers_;
  std::vector<std::int64_t> completed_;
  bool told_to_go_away_ = false;
  bool closed_ = false;
  std::uint64_t close_code_ = 0;
};

}  // namespace reprise
