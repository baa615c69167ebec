#include "proxy/quic/quic_endpoint.h"

#include <algorithm>
#include <boost/asio/post.hpp>

#include "proxy/quic/library_assertion.h"
#include "proxy/quic/octets.h"
#include "proxy/quic/quic_time.h"

namespace reprise {
namespace {

/// How long the token of a Retry is valid.
constexpr std::chrono::seconds kTokenTime{10};
/// A client's first packets fill datagrams (section 14.1).
constexpr std::size_t kFirstDatagramBytesMin = 1200;
/// The rounds of receive() between two flushes, so that answers are not late.
constexpr int kRoundsMax = 4;
/// Room for one more packet than a burst has.
constexpr std::size_t kMarginBytes = 2048;

std::string_view key_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}
std::string key_of(const ngtcp2_cid& id) {
  return std::string(key_of(id.data, id.datalen));
}

/// RFC 9000 section 17.2.
bool is_long_header(Bytes datagram) {
  return (std::to_integer<unsigned>(datagram[0]) & 0x80) != 0;
}

}  // namespace

/// One connection of the endpoint.
struct QuicEndpoint::Entry final : public QuicHost {
  explicit Entry(QuicEndpoint& owner) : endpoint(owner) {}

  void add_id(const ngtcp2_cid& id) override { endpoint.by_id_[key_of(id)] = this; }
  void remove_id(const ngtcp2_cid& id) override { endpoint.by_id_.erase(key_of(id)); }
  void reset_token(const ngtcp2_cid& id,
                   std::span<std::uint8_t, NGTCP2_STATELESS_RESET_TOKENLEN> token) override {
    auto const& secret = endpoint.secret_;
    ngtcp2_crypto_generate_stateless_reset_token(token.data(), secret.data(), secret.size(), &id);
  }
  void random(std::span<std::uint8_t> out) override { fill_random(out); }
  void wake() override { endpoint.mark(*this); }

  QuicEndpoint& endpoint;
  std::list<Entry>::iterator place;
  std::unique_ptr<QuicConnection> connection;
  TimePoint due = TimePoint::max();  // as in due_
  bool marked = false;
  bool handshaking = true;
  /// Packets that wait for the socket.
  std::vector<std::byte> waiting;
  QuicBurst waiting_burst;
};

QuicEndpoint::QuicEndpoint(boost::asio::io_context& context, QuicSocket socket,
                           const QuicOptions& options, GnutlsCredentials& credentials,
                           QuicApplications& applications)
    : context_(context),
      socket_(std::move(socket)),
      waiting_(context, socket_.descriptor()),
      options_(options),
      credentials_(credentials),
      applications_(applications),
      timer_(context),
      out_(QuicConnection::kBurstBytesMax + kMarginBytes) {
  fill_random(secret_);
}

QuicEndpoint::~QuicEndpoint() {
  stop();
}

void QuicEndpoint::start() {
  wait_readable();
}

void QuicEndpoint::stop() {
  if (std::exchange(stopped_, true)) return;
  due_.clear();
  timer_.cancel();
  waiting_.cancel();
  waiting_.release();
  marked_.clear();
  entries_.clear();
}

void QuicEndpoint::wait_readable() {
  waiting_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                      [this](boost::system::error_code error) {
                        if (error || stopped_) return;
                        read_all();
                        wait_readable();
                      });
}

void QuicEndpoint::read_all() {
  auto const now = std::chrono::steady_clock::now();
  in_batch_ = true;
  for (int round = 0; round < kRoundsMax; ++round) {
    auto const datagrams = socket_.receive();
    if (!datagrams || datagrams->empty()) break;
    for (const auto& datagram : *datagrams) take(datagram, now);
    if (!socket_.may_have_more()) break;
  }
  in_batch_ = false;
  flush_marked();
}

void QuicEndpoint::take(const QuicSocket::Datagram& datagram, TimePoint now) {
  ngtcp2_version_cid ids{};
  int code = 0;
  bool const read = survives_assertions([&] {
    code = ngtcp2_pkt_decode_version_cid(&ids, octets(datagram.bytes), datagram.bytes.size(),
                                         kQuicIdBytes);
  });
  if (!read) return;
  if (code == NGTCP2_ERR_VERSION_NEGOTIATION) {
    if (datagram.bytes.size() >= kFirstDatagramBytesMin) send_version_negotiation(datagram, ids);
    return;
  }
  if (code != 0) return;
  auto const key = key_of(ids.dcid, ids.dcidlen);
  if (auto const known = by_id_.find(key); known != by_id_.end()) {
    Entry& entry = *known->second;
    auto& connection = *entry.connection;
    // Clients are told not to migrate, so other addresses are not theirs.
    if (connection.client() != datagram.client || connection.local() != datagram.local) return;
    connection.read(datagram.bytes, datagram.ecn, now);
    mark(entry);
    return;
  }
  if (auto const ended = remnants_.find(key); ended != remnants_.end()) {
    auto& remnant = *ended->second;
    // Less and less often (RFC 9000 section 10.2.1).
    if (auto const asked = ++remnant.asked; (asked & (asked - 1)) == 0) {
      answer(datagram, remnant.packet);
    }
    return;
  }
  if (ids.version == 0) {
    // Clients send no Version Negotiation, whose identifiers can be longer than any of ours.
    if (is_long_header(datagram.bytes)) return;
    ngtcp2_cid id;
    ngtcp2_cid_init(&id, ids.dcid, ids.dcidlen);
    send_stateless_reset(datagram, id);
    return;
  }
  welcome(datagram, now);
}

void QuicEndpoint::welcome(const QuicSocket::Datagram& datagram, TimePoint now) {
  QuicConnection::Arrival arrival{.local = datagram.local, .client = datagram.client};
  auto& head = arrival.head;
  int code = -1;
  bool const read = survives_assertions(
      [&] { code = ngtcp2_accept(&head, octets(datagram.bytes), datagram.bytes.size()); });
  if (!read || code != 0) return;
  if (refuses_ || entries_.size() >= kConnectionsMax) {
    send_refusal(datagram, head, NGTCP2_CONNECTION_REFUSED);
    return;
  }
  auto const token = quic_api::token_of(head);
  if (!token.empty() &&
      static_cast<std::uint8_t>(token.front()) == NGTCP2_CRYPTO_TOKEN_MAGIC_RETRY) {
    ngtcp2_cid first;
    int const valid = ngtcp2_crypto_verify_retry_token(
        &first, reinterpret_cast<const std::uint8_t*>(token.data()), token.size(), secret_.data(),
        secret_.size(), head.version, datagram.client.data(),
        static_cast<ngtcp2_socklen>(datagram.client.size()), &head.dcid, quic_stamp(kTokenTime),
        quic_stamp(now));
    if (valid != 0) {
      send_refusal(datagram, head, NGTCP2_INVALID_TOKEN);
      return;
    }
    arrival.before_retry = first;
  } else if (handshakes_ >= kTrustingHandshakesMax) {
    send_retry(datagram, head, now);
    return;
  }

  auto* const application = applications_.open(datagram.local, datagram.client);
  if (application == nullptr) return;
  auto const place = entries_.emplace(entries_.end(), *this);
  Entry& entry = *place;
  entry.place = place;
  auto connection =
      QuicConnection::accept(arrival, options_, credentials_, entry, *application, now);
  if (!connection) {
    entries_.erase(place);
    return;
  }
  entry.connection = std::move(*connection);
  ++handshakes_;
  auto& made = *entry.connection;
  applications_.attach(*application, made);
  made.read(datagram.bytes, datagram.ecn, now);
  auto const id = key_of(head.dcid);
  if (auto const unbegun = made.unbegun()) {
    if (*unbegun == QuicConnection::Unbegun::kEarly) early_.hold(datagram, id, now);
    settle(entry, now);
    return;
  }
  for (auto const& held : early_.take(datagram, id, now)) made.read(held.bytes, held.ecn, now);
  mark(entry);
}

void QuicEndpoint::mark(Entry& entry) {
  if (!std::exchange(entry.marked, true)) marked_.push_back(&entry);
  if (in_batch_ || blocked_ || std::exchange(flush_posted_, true)) return;
  boost::asio::post(context_, [this] {
    flush_posted_ = false;
    if (!stopped_) flush_marked();
  });
}

void QuicEndpoint::flush_marked() {
  auto const now = std::chrono::steady_clock::now();
  bool const was_in_batch = std::exchange(in_batch_, true);
  while (!marked_.empty() && !blocked_) {
    Entry& entry = *marked_.back();
    marked_.pop_back();
    entry.marked = false;
    flush(entry, now);
  }
  in_batch_ = was_in_batch;
  arm();
}

/// Sends what is due. The entry may be gone afterwards.
void QuicEndpoint::flush(Entry& entry, TimePoint now) {
  auto& connection = *entry.connection;
  if (!entry.waiting.empty()) {
    auto const packets = std::exchange(entry.waiting, {});
    std::ranges::copy(packets, out_.begin());
    if (!send(entry, entry.waiting_burst)) return;
  }
  while (true) {
    auto const burst = connection.write(out_, now);
    if (burst.size_bytes == 0) break;
    if (!send(entry, burst)) return;
  }
  settle(entry, now);
}

/// The burst is in out_. False: it waits until the socket is writable.
bool QuicEndpoint::send(Entry& entry, const QuicBurst& burst) {
  auto const packets = Bytes(out_).first(burst.size_bytes);
  auto const& connection = *entry.connection;
  if (socket_.send(packets, burst, connection.local(), connection.client())) return true;
  entry.waiting.assign(packets.begin(), packets.end());
  entry.waiting_burst = burst;
  if (!std::exchange(entry.marked, true)) marked_.push_back(&entry);
  blocked_ = true;
  waiting_.async_wait(boost::asio::posix::stream_descriptor::wait_write,
                      [this](boost::system::error_code error) {
                        if (error || stopped_) return;
                        blocked_ = false;
                        flush_marked();
                      });
  return false;
}

void QuicEndpoint::settle(Entry& entry, TimePoint now) {
  auto& connection = *entry.connection;
  if (entry.handshaking && (connection.over() || connection.handshake_done())) {
    entry.handshaking = false;
    --handshakes_;
  }
  if (connection.over()) {
    bury(entry, now);
    return;
  }
  auto const due = connection.due();
  if (due == entry.due) return;
  auto place = due_.extract({std::exchange(entry.due, due), &entry});
  if (due == TimePoint::max()) return;
  if (place.empty()) {
    due_.emplace(due, &entry);
  } else {
    place.value().first = due;
    due_.insert(std::move(place));
  }
}

void QuicEndpoint::bury(Entry& entry, TimePoint now) {
  auto& connection = *entry.connection;
  auto const packet = connection.final_packet();
  auto remnant = std::make_shared<Remnant>();
  remnant->packet.assign(packet.begin(), packet.end());
  remnant->until = now + connection.farewell_time();
  if (!packet.empty() && !blocked_) {
    QuicBurst const burst{.size_bytes = packet.size(), .segment_bytes = packet.size()};
    (void)socket_.send(packet, burst, connection.local(), connection.client());
  }
  auto const ids = connection.ids();
  bool const begun = !connection.unbegun();
  if (entry.due != TimePoint::max()) due_.erase({entry.due, &entry});
  if (entry.marked) std::erase(marked_, &entry);
  entries_.erase(entry.place);
  // The client's next datagram may begin the handshake: it must not meet a remnant.
  if (!begun || remnants_.size() + ids.size() > kRemnantsMax) return;
  for (const ngtcp2_cid& id : ids) remnants_[key_of(id)] = remnant;
}

void QuicEndpoint::arm() {
  auto const next = due_.empty() ? TimePoint::max() : due_.begin()->first;
  // Most timers are moved on before they are due. One that is early finds nothing to do, and costs
  // less than a system call each time.
  if (next >= armed_ || stopped_) return;
  armed_ = next;
  timer_.expires_at(next);
  timer_.async_wait([this](boost::system::error_code error) {
    if (!error && !stopped_) on_timer();
  });
}

void QuicEndpoint::on_timer() {
  armed_ = TimePoint::max();
  auto const now = std::chrono::steady_clock::now();
  in_batch_ = true;
  while (!due_.empty() && due_.begin()->first <= now) {
    Entry& entry = *due_.begin()->second;
    due_.erase(due_.begin());
    entry.due = TimePoint::max();
    entry.connection->pass(now);
    mark(entry);
  }
  in_batch_ = false;
  flush_marked();
}

void QuicEndpoint::sweep(TimePoint now) {
  resets_left_ = kResetsPerSecond;
  early_.drop_old(now);
  std::erase_if(remnants_, [now](auto const& each) { return each.second->until < now; });
}

}  // namespace reprise
