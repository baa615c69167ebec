#pragma once

// ngtcp2 (RFC 9000) with its TLS glue for GnuTLS, and what differs between its versions: 0.12 of
// Debian 12 is the default, 1.x is in bookworm-backports. The names here are those of 1.x.

#include <gnutls/gnutls.h>
#include <ngtcp2/ngtcp2.h>
#include <ngtcp2/ngtcp2_crypto.h>
#include <ngtcp2/ngtcp2_crypto_gnutls.h>

#include <string_view>

namespace reprise::quic_api {

#if NGTCP2_VERSION_NUM >= 0x010000

using Level = ngtcp2_encryption_level;
inline constexpr Level kApplicationLevel = NGTCP2_ENCRYPTION_LEVEL_1RTT;
using CloseReason = ngtcp2_ccerr;

inline void set_library_error(CloseReason& reason, int code) {
  ngtcp2_ccerr_set_liberr(&reason, code, nullptr, 0);
}
inline void set_tls_alert(CloseReason& reason, std::uint8_t alert) {
  ngtcp2_ccerr_set_tls_alert(&reason, alert, nullptr, 0);
}
inline void set_application_error(CloseReason& reason, std::uint64_t code) {
  ngtcp2_ccerr_set_application_error(&reason, code, nullptr, 0);
}
inline CloseReason received_close(ngtcp2_conn* connection) {
  return *ngtcp2_conn_get_ccerr(connection);
}
inline bool is_transport_error(const CloseReason& reason) {
  return reason.type == NGTCP2_CCERR_TYPE_TRANSPORT;
}
inline int shut_down_stream(ngtcp2_conn* connection, std::int64_t stream, std::uint64_t code) {
  return ngtcp2_conn_shutdown_stream(connection, 0, stream, code);
}
inline int stop_reading(ngtcp2_conn* connection, std::int64_t stream, std::uint64_t code) {
  return ngtcp2_conn_shutdown_stream_read(connection, 0, stream, code);
}
inline int stop_writing(ngtcp2_conn* connection, std::int64_t stream, std::uint64_t code) {
  return ngtcp2_conn_shutdown_stream_write(connection, 0, stream, code);
}
inline void set_original_id(ngtcp2_transport_params& params, const ngtcp2_cid& id) {
  params.original_dcid = id;
  params.original_dcid_present = 1;
}
inline std::string_view token_of(const ngtcp2_pkt_hd& head) {
  return {reinterpret_cast<const char*>(head.token), head.tokenlen};
}
inline void set_token(ngtcp2_settings& settings, const ngtcp2_pkt_hd& head) {
  settings.token = head.token;
  settings.tokenlen = head.tokenlen;
}

#else

using Level = ngtcp2_crypto_level;
inline constexpr Level kApplicationLevel = NGTCP2_CRYPTO_LEVEL_APPLICATION;
using CloseReason = ngtcp2_connection_close_error;

inline void set_library_error(CloseReason& reason, int code) {
  ngtcp2_connection_close_error_set_transport_error_liberr(&reason, code, nullptr, 0);
}
inline void set_tls_alert(CloseReason& reason, std::uint8_t alert) {
  ngtcp2_connection_close_error_set_transport_error_tls_alert(&reason, alert, nullptr, 0);
}
inline void set_application_error(CloseReason& reason, std::uint64_t code) {
  ngtcp2_connection_close_error_set_application_error(&reason, code, nullptr, 0);
}
inline CloseReason received_close(ngtcp2_conn* connection) {
  CloseReason reason;
  ngtcp2_conn_get_connection_close_error(connection, &reason);
  return reason;
}
inline bool is_transport_error(const CloseReason& reason) {
  return reason.type == NGTCP2_CONNECTION_CLOSE_ERROR_CODE_TYPE_TRANSPORT;
}
inline int shut_down_stream(ngtcp2_conn* connection, std::int64_t stream, std::uint64_t code) {
  return ngtcp2_conn_shutdown_stream(connection, stream, code);
}
inline int stop_reading(ngtcp2_conn* connection, std::int64_t stream, std::uint64_t code) {
  return ngtcp2_conn_shutdown_stream_read(connection, stream, code);
}
inline int stop_writing(ngtcp2_conn* connection, std::int64_t stream, std::uint64_t code) {
  return ngtcp2_conn_shutdown_stream_write(connection, stream, code);
}
inline void set_original_id(ngtcp2_transport_params& params, const ngtcp2_cid& id) {
  params.original_dcid = id;
}
inline std::string_view token_of(const ngtcp2_pkt_hd& head) {
  return {reinterpret_cast<const char*>(head.token.base), head.token.len};
}
inline void set_token(ngtcp2_settings& settings, const ngtcp2_pkt_hd& head) {
  settings.token = head.token;
}

#endif

}  // namespace reprise::quic_api
