#include "proxy/quic/quic_connection.h"

#include <algorithm>

#include "base/text/ascii.h"
#include "proxy/quic/library_assertion.h"
#include "proxy/quic/quic_error.h"
#include "proxy/quic/quic_time.h"

namespace reprise {
namespace {

constexpr std::size_t kServerNameBytesMax = 255;

}  // namespace

QuicConnection::~QuicConnection() {
  end(std::make_error_code(std::errc::operation_canceled));
  for (const ngtcp2_cid& id : ids_) host_.remove_id(id);
  if (abandoned_) {
    keep_forever(connection_);
    keep_forever(tls_);
    return;
  }
  (void)survives_assertions([this] {
    if (connection_ != nullptr) ngtcp2_conn_del(connection_);
    if (tls_ != nullptr) gnutls_deinit(tls_);
  });
}

void QuicConnection::abandon() {
  abandoned_ = true;
  final_packet_.clear();
  end(failed_assertion());
  wake();
}

void QuicConnection::add_id(const ngtcp2_cid& id) {
  ids_.push_back(id);
  host_.add_id(id);
}

void QuicConnection::remove_id(const ngtcp2_cid& id) {
  std::erase_if(ids_, [&id](const ngtcp2_cid& each) { return ngtcp2_cid_eq(&each, &id) != 0; });
  host_.remove_id(id);
}

ngtcp2_path QuicConnection::path() {
  auto const address = [](Endpoint& at) {
    return ngtcp2_addr{.addr = at.data(), .addrlen = static_cast<ngtcp2_socklen>(at.size())};
  };
  return {.local = address(local_), .remote = address(client_), .user_data = nullptr};
}

bool QuicConnection::handshake_done() const {
  return ngtcp2_conn_get_handshake_completed(connection_) != 0;
}

std::string QuicConnection::server_name() const {
  std::array<char, kServerNameBytesMax + 1> text{};
  std::size_t size = text.size();
  unsigned type = 0;
  if (gnutls_server_name_get(tls_, text.data(), &size, &type, 0) != 0) return {};
  std::string name(text.data(), size);
  std::ranges::transform(name, name.begin(), to_lower);
  return name;
}

void QuicConnection::end(std::error_code why) {
  if (std::exchange(over_, true)) return;
  application_.ended(why);
}

void QuicConnection::fail_with(int library_code) {
  if (over_ || closing_) return;
  auto& reason = closing_.emplace();
  if (library_code == NGTCP2_ERR_CRYPTO) {
    quic_api::set_tls_alert(reason, ngtcp2_conn_get_tls_alert(connection_));
  } else {
    quic_api::set_library_error(reason, library_code);
  }
}

void QuicConnection::read(Bytes datagram, std::uint32_t ecn, TimePoint now) {
  if (over_) return;
  if (!survives_assertions([&] { read_datagram(datagram, ecn, now); })) abandon();
}

void QuicConnection::read_datagram(Bytes datagram, std::uint32_t ecn, TimePoint now) {
  auto const where = path();
  ngtcp2_pkt_info const info{.ecn = ecn};
  int const code = ngtcp2_conn_read_pkt(connection_, &where, &info,
                                        reinterpret_cast<const std::uint8_t*>(datagram.data()),
                                        datagram.size(), quic_stamp(now));
  switch (code) {
    case 0:
      break;
    case NGTCP2_ERR_DRAINING: {
      // The client has closed: nothing more may be sent (RFC 9000 section 10.2.2).
      auto const said = quic_api::received_close(connection_);
      bool const failed = quic_api::is_transport_error(said) && said.error_code != NGTCP2_NO_ERROR;
      end(failed ? quic_closed_with(said.error_code) : quic_error(code));
      return;
    }
    // Only for a first datagram.
    case NGTCP2_ERR_RETRY:
    case NGTCP2_ERR_DROP_CONN:
      unbegun_ = code == NGTCP2_ERR_RETRY ? Unbegun::kEarly : Unbegun::kVoid;
      end(quic_error(code));
      return;
    default:
      fail_with(code);
      return;
  }
  application_.on_batch();
}

std::size_t QuicConnection::write_packet(std::span<std::byte> into, std::uint32_t& ecn,
                                         TimePoint now) {
  ngtcp2_pkt_info info{};
  auto const size = std::min(into.size(), ngtcp2_conn_get_max_tx_udp_payload_size(connection_));
  bool begun = false;  // ngtcp2 has a packet under way, and needs to finish it
  while (!closing_ || begun) {
    QuicApplication::Outgoing next;
    if (!closing_ && sends_ && ngtcp2_conn_get_max_data_left(connection_) > 0) {
      next = application_.next_to_send();
    }
    if (closing_) next = {};
    std::uint32_t flags = next.stream < 0 ? 0 : NGTCP2_WRITE_STREAM_FLAG_MORE;
    if (next.ends) flags |= NGTCP2_WRITE_STREAM_FLAG_FIN;
    ngtcp2_ssize taken = -1;
    auto const made = ngtcp2_conn_writev_stream(
        connection_, nullptr, &info, reinterpret_cast<std::uint8_t*>(into.data()), size, &taken,
        flags, next.stream, next.pieces.data(), next.pieces.size(), quic_stamp(now));
    if (taken >= 0) application_.sent(next.stream, static_cast<std::size_t>(taken));
    if (made >= 0) {
      ecn = info.ecn;
      return static_cast<std::size_t>(made);
    }
    switch (made) {
      case NGTCP2_ERR_WRITE_MORE:
        begun = true;
        break;
      case NGTCP2_ERR_STREAM_DATA_BLOCKED:
        application_.blocked(next.stream);
        break;
      case NGTCP2_ERR_STREAM_SHUT_WR:
      case NGTCP2_ERR_STREAM_NOT_FOUND:
        application_.shut(next.stream);
        break;
      default:
        fail_with(static_cast<int>(made));
        return 0;
    }
  }
  return 0;
}

QuicBurst QuicConnection::write(std::span<std::byte> into, TimePoint now) {
  QuicBurst burst;
  if (over_) return burst;
  if (survives_assertions([&] { burst = write_burst(into, now); })) return burst;
  abandon();
  return {};
}

QuicBurst QuicConnection::write_burst(std::span<std::byte> into, TimePoint now) {
  QuicBurst burst;
  application_.on_batch();
  if (!held_.empty()) {
    std::ranges::copy(held_, into.begin());
    burst = {.size_bytes = held_.size(), .segment_bytes = held_.size(), .ecn = held_ecn_};
    held_.clear();
  }
  auto const quantum = std::min(
      {into.size(), kBurstBytesMax, std::size_t{ngtcp2_conn_get_send_quantum(connection_)}});
  auto const packet_max = ngtcp2_conn_get_max_tx_udp_payload_size(connection_);
  // A longer packet probes the path's MTU. The system may refuse it, and with it the whole burst:
  // it is sent alone.
  auto const path_max = ngtcp2_conn_get_path_max_tx_udp_payload_size(connection_);
  for (std::size_t packets = 0; packets < kSegmentsMax; ++packets) {
    bool const room = burst.size_bytes == 0 ||
                      (burst.segment_bytes <= path_max && burst.size_bytes + packet_max <= quantum);
    if (!room) break;
    std::uint32_t ecn = 0;
    auto const place = into.subspan(burst.size_bytes);
    auto const size = write_packet(place, ecn, now);
    if (size == 0) break;
    if (burst.size_bytes == 0) {
      burst.segment_bytes = size;
      burst.ecn = ecn;
    } else if (size > burst.segment_bytes || ecn != burst.ecn) {
      held_.assign(place.begin(), place.begin() + static_cast<std::ptrdiff_t>(size));
      held_ecn_ = ecn;
      break;
    }
    burst.size_bytes += size;
    if (size < burst.segment_bytes) break;
  }
  // Pacing counts a probe with the burst after it, which may follow at once.
  if (burst.segment_bytes <= path_max) {
    ngtcp2_conn_update_pkt_tx_time(connection_, quic_stamp(now));
  }
  if (burst.size_bytes == 0 && closing_) say_goodbye(now);
  return burst;
}

void QuicConnection::say_goodbye(TimePoint now) {
  ngtcp2_pkt_info info{};
  final_packet_.resize(ngtcp2_conn_get_max_tx_udp_payload_size(connection_));
  auto const size = ngtcp2_conn_write_connection_close(
      connection_, nullptr, &info, reinterpret_cast<std::uint8_t*>(final_packet_.data()),
      final_packet_.size(), &*closing_, quic_stamp(now));
  final_packet_.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  end(quic_error(NGTCP2_ERR_CLOSING));
}

std::chrono::nanoseconds QuicConnection::farewell_time() const {
  if (abandoned_) return {};
  return std::chrono::nanoseconds(3 * ngtcp2_conn_get_pto(connection_));
}

QuicConnection::TimePoint QuicConnection::due() const {
  if (over_) return TimePoint::max();
  auto const at = ngtcp2_conn_get_expiry(connection_);
  auto const latest = quic_stamp(TimePoint::max());
  return at >= latest ? TimePoint::max() : TimePoint(std::chrono::nanoseconds(at));
}

void QuicConnection::pass(TimePoint now) {
  if (over_ || due() > now) return;
  if (!survives_assertions([&] { handle_expiry(now); })) abandon();
}

void QuicConnection::handle_expiry(TimePoint now) {
  switch (int const code = ngtcp2_conn_handle_expiry(connection_, quic_stamp(now)); code) {
    case 0:
      return;
    case NGTCP2_ERR_IDLE_CLOSE:
    case NGTCP2_ERR_HANDSHAKE_TIMEOUT:
      end(quic_error(code));  // silently (RFC 9000 section 10.1)
      return;
    default:
      fail_with(code);
  }
}

void QuicConnection::close(std::uint64_t code) {
  if (over_ || closing_) return;
  quic_api::set_application_error(closing_.emplace(), code);
  wake();
}

std::int64_t QuicConnection::open_stream() {
  std::int64_t stream = -1;
  return ngtcp2_conn_open_uni_stream(connection_, &stream, nullptr) == 0 ? stream : -1;
}

// Streams that ngtcp2 no longer knows have ended by themselves.

void QuicConnection::reset(std::int64_t stream, std::uint64_t code) {
  (void)quic_api::shut_down_stream(connection_, stream, code);
  wake();
}

void QuicConnection::stop_writing(std::int64_t stream, std::uint64_t code) {
  (void)quic_api::stop_writing(connection_, stream, code);
  wake();
}

void QuicConnection::stop_reading(std::int64_t stream, std::uint64_t code) {
  (void)quic_api::stop_reading(connection_, stream, code);
  wake();
}

void QuicConnection::extend(std::int64_t stream, std::uint64_t size_bytes) {
  (void)ngtcp2_conn_extend_max_stream_offset(connection_, stream, size_bytes);
  extend_connection(size_bytes);
}

void QuicConnection::extend_connection(std::uint64_t size_bytes) {
  ngtcp2_conn_extend_max_offset(connection_, size_bytes);
  wake();
}

void QuicConnection::allow_stream() {
  ngtcp2_conn_extend_max_streams_bidi(connection_, 1);
  wake();
}

bool QuicConnection::is_blocked(std::int64_t stream) const {
  return ngtcp2_conn_get_max_data_left(connection_) == 0 ||
         ngtcp2_conn_get_max_stream_data_left(connection_, stream) == 0;
}

}  // namespace reprise
