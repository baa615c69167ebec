// What an endpoint says to clients without a connection.

#include <algorithm>
#include <array>

#include "proxy/quic/octets.h"
#include "proxy/quic/quic_endpoint.h"
#include "proxy/quic/quic_time.h"

namespace reprise {
namespace {

/// A stateless reset has to look like a short packet, and to be shorter than what it answers, so
/// that two servers do not answer each other endlessly (RFC 9000 section 10.3.3).
constexpr std::size_t kResetBytesMin = 5 + NGTCP2_STATELESS_RESET_TOKENLEN;
constexpr std::size_t kResetBytesMax = 43;
constexpr std::size_t kSmallPacketBytes = 256;

}  // namespace

void QuicEndpoint::answer(const QuicSocket::Datagram& datagram, Bytes packet) {
  if (packet.empty() || blocked_) return;
  QuicBurst const burst{.size_bytes = packet.size(), .segment_bytes = packet.size()};
  (void)socket_.send(packet, burst, datagram.local, datagram.client);
}

void QuicEndpoint::send_version_negotiation(const QuicSocket::Datagram& datagram,
                                            const ngtcp2_version_cid& ids) {
  std::array<std::uint32_t, 1> const versions{NGTCP2_PROTO_VER_V1};
  std::array<std::byte, 2 * kSmallPacketBytes + 64> packet;
  std::uint8_t unused = 0;
  fill_random({&unused, 1});
  auto const size = ngtcp2_pkt_write_version_negotiation(
      octets(packet.data()), packet.size(), unused, ids.scid, ids.scidlen, ids.dcid, ids.dcidlen,
      versions.data(), versions.size());
  if (size > 0) answer(datagram, Bytes(packet).first(static_cast<std::size_t>(size)));
}

void QuicEndpoint::send_retry(const QuicSocket::Datagram& datagram, const ngtcp2_pkt_hd& head,
                              TimePoint now) {
  ngtcp2_cid id{};
  id.datalen = kQuicIdBytes;
  fill_random({id.data, id.datalen});
  std::array<std::uint8_t, NGTCP2_CRYPTO_MAX_RETRY_TOKENLEN> token;
  auto const token_size = ngtcp2_crypto_generate_retry_token(
      token.data(), secret_.data(), secret_.size(), head.version, datagram.client.data(),
      static_cast<ngtcp2_socklen>(datagram.client.size()), &id, &head.dcid, quic_stamp(now));
  if (token_size < 0) return;
  std::array<std::byte, kSmallPacketBytes> packet;
  auto const size =
      ngtcp2_crypto_write_retry(octets(packet.data()), packet.size(), head.version, &head.scid, &id,
                                &head.dcid, token.data(), static_cast<std::size_t>(token_size));
  if (size > 0) answer(datagram, Bytes(packet).first(static_cast<std::size_t>(size)));
}

void QuicEndpoint::send_refusal(const QuicSocket::Datagram& datagram, const ngtcp2_pkt_hd& head,
                                std::uint64_t code) {
  std::array<std::byte, kSmallPacketBytes> packet;
  auto const size = ngtcp2_crypto_write_connection_close(
      octets(packet.data()), packet.size(), head.version, &head.scid, &head.dcid, code, nullptr, 0);
  if (size > 0) answer(datagram, Bytes(packet).first(static_cast<std::size_t>(size)));
}

void QuicEndpoint::send_stateless_reset(const QuicSocket::Datagram& datagram,
                                        const ngtcp2_cid& id) {
  if (datagram.bytes.size() <= kResetBytesMin || resets_left_ == 0) return;
  --resets_left_;
  std::array<std::uint8_t, NGTCP2_STATELESS_RESET_TOKENLEN> token;
  if (ngtcp2_crypto_generate_stateless_reset_token(token.data(), secret_.data(), secret_.size(),
                                                   &id) != 0) {
    return;
  }
  std::array<std::uint8_t, kResetBytesMax - NGTCP2_STATELESS_RESET_TOKENLEN> noise;
  auto const noise_size = std::min(datagram.bytes.size() - 1, kResetBytesMax) - token.size();
  fill_random(noise);
  std::array<std::byte, kResetBytesMax> packet;
  auto const size = ngtcp2_pkt_write_stateless_reset(octets(packet.data()), packet.size(),
                                                     token.data(), noise.data(), noise_size);
  if (size > 0) answer(datagram, Bytes(packet).first(static_cast<std::size_t>(size)));
}

}  // namespace reprise
