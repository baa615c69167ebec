#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "proxy/quic/early_datagrams.h"
#include "proxy/quic/quic_connection.h"
#include "proxy/quic/quic_socket.h"

namespace reprise {

/// Makes what runs over the connections of an endpoint.
class QuicApplications {
 public:
  virtual ~QuicApplications() = default;
  /// For a new client. It must live until its ended() was called. Null: the client is refused.
  virtual QuicApplication* open(const QuicConnection::Endpoint& local,
                                const QuicConnection::Endpoint& client) = 0;
  /// Right after open(), with the connection, which lives until ended() has been called.
  virtual void attach(QuicApplication& application, QuicConnection& connection) = 0;
};

/// What a thread serves over QUIC: leads the datagrams of a socket to connections by their
/// identifiers, with the timers of all; answers unknown versions (RFC 9000 section 6), unknown
/// connections by stateless resets (section 10.3), and, while many handshakes are under way,
/// unknown addresses by Retry (section 8.1.2). A ClientHello of several datagrams may arrive in any
/// order. Bounded: kConnectionsMax, kRemnantsMax, kResetsPerSecond, EarlyDatagrams. All on the
/// thread of `context`.
class QuicEndpoint {
 public:
  static constexpr std::size_t kConnectionsMax = 4096;
  /// With more handshakes than this under way, addresses are validated first.
  static constexpr std::size_t kTrustingHandshakesMax = 200;
  /// Ended connections that are remembered, so that late packets get the same answer.
  static constexpr std::size_t kRemnantsMax = 1024;
  static constexpr unsigned kResetsPerSecond = 100;

  /// All references must outlive it.
  QuicEndpoint(boost::asio::io_context& context, QuicSocket socket, const QuicOptions& options,
               GnutlsCredentials& credentials, QuicApplications& applications);
  ~QuicEndpoint();
  QuicEndpoint(const QuicEndpoint&) = delete;
  QuicEndpoint& operator=(const QuicEndpoint&) = delete;

  /// Begins to serve.
  void start();
  /// Takes no new clients.
  void refuse_new() { refuses_ = true; }
  /// Ends all connections without a word, and the socket. Idempotent.
  void stop();
  /// Call it about once a second.
  void sweep(QuicConnection::TimePoint now);

  const QuicSocket::Endpoint& bound() const { return socket_.bound(); }
  std::size_t connections() const { return entries_.size(); }

 private:
  using TimePoint = QuicConnection::TimePoint;
  struct Entry;
  using Due = std::pair<TimePoint, Entry*>;
  /// Finds identifiers without a copy.
  struct IdHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view id) const { return std::hash<std::string_view>()(id); }
  };
  /// What is left of an ended connection.
  struct Remnant {
    std::vector<std::byte> packet;
    TimePoint until;
    unsigned asked = 0;
  };

  void wait_readable();
  void read_all();
  void take(const QuicSocket::Datagram& datagram, TimePoint now);
  void welcome(const QuicSocket::Datagram& datagram, TimePoint now);
  void send_version_negotiation(const QuicSocket::Datagram& datagram,
                                const ngtcp2_version_cid& ids);
  void send_retry(const QuicSocket::Datagram& datagram, const ngtcp2_pkt_hd& head, TimePoint now);
  void send_stateless_reset(const QuicSocket::Datagram& datagram, const ngtcp2_cid& id);
  void send_refusal(const QuicSocket::Datagram& datagram, const ngtcp2_pkt_hd& head,
                    std::uint64_t code);
  void answer(const QuicSocket::Datagram& datagram, Bytes packet);
  void mark(Entry& entry);
  void flush_marked();
  void flush(Entry& entry, TimePoint now);
  bool send(Entry& entry, const QuicBurst& burst);
  /// After anything happened to a connection: its end, its timer.
  void settle(Entry& entry, TimePoint now);
  void bury(Entry& entry, TimePoint now);
  void arm();
  void on_timer();

  boost::asio::io_context& context_;
  QuicSocket socket_;
  boost::asio::posix::stream_descriptor waiting_;  // the same socket, not owned
  QuicOptions options_;
  GnutlsCredentials& credentials_;
  QuicApplications& applications_;
  std::list<Entry> entries_;
  std::unordered_map<std::string, Entry*, IdHash, std::equal_to<>> by_id_;
  std::unordered_map<std::string, std::shared_ptr<Remnant>, IdHash, std::equal_to<>> remnants_;
  EarlyDatagrams early_;
  std::set<Due> due_;
  boost::asio::steady_timer timer_;
  TimePoint armed_ = TimePoint::max();
  std::vector<Entry*> marked_;
  std::vector<std::byte> out_;
  std::array<std::uint8_t, 32> secret_{};  // of tokens
  unsigned resets_left_ = kResetsPerSecond;
  bool flush_posted_ = false;
  bool in_batch_ = false;
  bool blocked_ = false;  // the socket takes no more for now
  bool refuses_ = false;
  bool stopped_ = false;
  std::size_t handshakes_ = 0;  // under way
};

}  // namespace reprise
