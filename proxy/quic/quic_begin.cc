// How a connection begins, and what ngtcp2 and GnuTLS call during it.

#include "proxy/quic/library_assertion.h"
#include "proxy/quic/quic_connection.h"
#include "proxy/quic/quic_error.h"
#include "proxy/quic/quic_time.h"
#include "proxy/quic/recycled_memory.h"

namespace reprise {
namespace {

QuicConnection& self_of(void* user) {
  return *static_cast<QuicConnection*>(user);
}

Bytes bytes_at(const std::uint8_t* data, std::size_t size) {
  return std::as_bytes(std::span(data, size));
}

ngtcp2_cc_algo algorithm_of(Congestion congestion) {
  switch (congestion) {
    case Congestion::kReno:
      return NGTCP2_CC_ALGO_RENO;
    case Congestion::kBbr:
      return NGTCP2_CC_ALGO_BBR;
    case Congestion::kCubic:
      break;
  }
  return NGTCP2_CC_ALGO_CUBIC;
}

}  // namespace

/// Passes ngtcp2's and GnuTLS's callbacks on.
struct QuicConnection::Callbacks {
  static QuicApplication& application(void* user) { return self_of(user).application_; }

  static int stream_data(ngtcp2_conn*, std::uint32_t flags, std::int64_t stream, std::uint64_t,
                         const std::uint8_t* data, std::size_t size, void* user, void*) {
    application(user).received(stream, bytes_at(data, size),
                               (flags & NGTCP2_STREAM_DATA_FLAG_FIN) != 0);
    return 0;
  }
  static int acknowledged(ngtcp2_conn*, std::int64_t stream, std::uint64_t, std::uint64_t size,
                          void* user, void*) {
    application(user).acknowledged(stream, size);
    return 0;
  }
  static int stream_closed(ngtcp2_conn*, std::uint32_t flags, std::int64_t stream,
                           std::uint64_t code, void* user, void*) {
    bool const coded = (flags & NGTCP2_STREAM_CLOSE_FLAG_APP_ERROR_CODE_SET) != 0;
    application(user).closed(stream, coded ? code : kNoCode);
    return 0;
  }
  static int stream_reset(ngtcp2_conn*, std::int64_t stream, std::uint64_t, std::uint64_t code,
                          void* user, void*) {
    application(user).was_reset(stream, code);
    return 0;
  }
  static int more_streams(ngtcp2_conn*, std::uint64_t streams, void* user) {
    application(user).permitted(streams);
    return 0;
  }
  static int more_window(ngtcp2_conn*, std::int64_t stream, std::uint64_t, void* user, void*) {
    application(user).unblocked(stream);
    return 0;
  }
  static int key_installed(ngtcp2_conn*, quic_api::Level level, void* user) {
    if (level == quic_api::kApplicationLevel) {
      self_of(user).sends_ = true;
      application(user).begin();
    }
    return 0;
  }
  static int handshake_completed(ngtcp2_conn*, void* user) {
    auto& self = self_of(user);
    // A ticket that cannot be sent only costs the next connection its resumption.
    (void)gnutls_session_ticket_send(self.tls_, 1, 0);
    self.application_.on_handshake(self.server_name());
    return 0;
  }
  static void random(std::uint8_t* out, std::size_t size, const ngtcp2_rand_ctx* context) {
    static_cast<QuicHost*>(context->native_handle)->random({out, size});
  }
  static int new_id(ngtcp2_conn*, ngtcp2_cid* id, std::uint8_t* token, std::size_t size,
                    void* user) {
    auto& self = self_of(user);
    id->datalen = size;
    self.host_.random({id->data, size});
    self.host_.reset_token(*id, std::span<std::uint8_t, NGTCP2_STATELESS_RESET_TOKENLEN>(
                                    token, NGTCP2_STATELESS_RESET_TOKENLEN));
    self.add_id(*id);
    return 0;
  }
  static int id_removed(ngtcp2_conn*, const ngtcp2_cid* id, void* user) {
    self_of(user).remove_id(*id);
    return 0;
  }

  static ngtcp2_conn* connection_of(ngtcp2_crypto_conn_ref* reference) {
    return self_of(reference->user_data).connection_;
  }
  static int choose_chain(gnutls_session_t session, const gnutls_cert_retr_st*,
                          gnutls_pcert_st** certificates, unsigned* count, gnutls_ocsp_data_st**,
                          unsigned* ocsp_count, gnutls_privkey_t* key, unsigned* flags) {
    auto* const reference = static_cast<ngtcp2_crypto_conn_ref*>(gnutls_session_get_ptr(session));
    auto& self = self_of(reference->user_data);
    self.chain_ = self.application_.chain_for(self.server_name());
    if (self.chain_ == nullptr) return -1;
    *certificates = self.chain_->certificates();
    *count = self.chain_->count();
    *ocsp_count = 0;
    *key = self.chain_->key();
    *flags = 0;
    return 0;
  }

  static ngtcp2_callbacks all() {
    ngtcp2_callbacks made{};
    made.recv_client_initial = ngtcp2_crypto_recv_client_initial_cb;
    made.recv_crypto_data = ngtcp2_crypto_recv_crypto_data_cb;
    made.handshake_completed = handshake_completed;
    made.encrypt = ngtcp2_crypto_encrypt_cb;
    made.decrypt = ngtcp2_crypto_decrypt_cb;
    made.hp_mask = ngtcp2_crypto_hp_mask_cb;
    made.recv_stream_data = stream_data;
    made.acked_stream_data_offset = acknowledged;
    made.stream_close = stream_closed;
    made.rand = random;
    made.get_new_connection_id = new_id;
    made.remove_connection_id = id_removed;
    made.update_key = ngtcp2_crypto_update_key_cb;
    made.stream_reset = stream_reset;
    made.extend_max_remote_streams_bidi = more_streams;
    made.extend_max_stream_data = more_window;
    made.delete_crypto_aead_ctx = ngtcp2_crypto_delete_crypto_aead_ctx_cb;
    made.delete_crypto_cipher_ctx = ngtcp2_crypto_delete_crypto_cipher_ctx_cb;
    made.get_path_challenge_data = ngtcp2_crypto_get_path_challenge_data_cb;
    made.version_negotiation = ngtcp2_crypto_version_negotiation_cb;
    made.recv_tx_key = key_installed;
    return made;
  }
};

Result<std::unique_ptr<QuicConnection>> QuicConnection::accept(
    const Arrival& arrival, const QuicOptions& options, GnutlsCredentials& credentials,
    QuicHost& host, QuicApplication& application, TimePoint now) {
  std::unique_ptr<QuicConnection> made(new QuicConnection(arrival, host, application));
  Result<void> started;
  if (!survives_assertions([&] { started = made->start(arrival, options, credentials, now); })) {
    made->abandoned_ = true;
    return fail(failed_assertion());
  }
  if (!started) return fail(started.error());
  return made;
}

Result<void> QuicConnection::start(const Arrival& arrival, const QuicOptions& options,
                                   GnutlsCredentials& credentials, TimePoint now) {
  ngtcp2_settings settings;
  ngtcp2_settings_default(&settings);
  settings.initial_ts = quic_stamp(now);
  settings.cc_algo = algorithm_of(options.congestion);
  settings.handshake_timeout = quic_stamp(options.handshake_timeout);
  settings.rand_ctx.native_handle = &host_;
  if (arrival.before_retry) quic_api::set_token(settings, arrival.head);

  ngtcp2_transport_params params;
  ngtcp2_transport_params_default(&params);
  params.initial_max_stream_data_bidi_remote = options.stream_window_bytes;
  params.initial_max_stream_data_uni = 256 << 10;
  params.initial_max_data = options.connection_window_bytes;
  params.initial_max_streams_bidi = options.streams_max;
  params.initial_max_streams_uni = 16;  // HTTP/3 has three, and unknown ones for exercise
  params.max_idle_timeout = quic_stamp(options.idle_timeout);
  params.active_connection_id_limit = 2;
  params.disable_active_migration = 1;
  if (arrival.before_retry) {
    quic_api::set_original_id(params, *arrival.before_retry);
    params.retry_scid = arrival.head.dcid;
    params.retry_scid_present = 1;
  } else {
    quic_api::set_original_id(params, arrival.head.dcid);
  }
  ngtcp2_cid id{};
  id.datalen = kQuicIdBytes;
  host_.random({id.data, id.datalen});
  params.stateless_reset_token_present = 1;
  host_.reset_token(id, params.stateless_reset_token);

  auto const callbacks = Callbacks::all();
  auto const where = path();
  static constexpr ngtcp2_mem kMemory{nullptr, RecycledMemory::take, RecycledMemory::give,
                                      RecycledMemory::take_cleared, RecycledMemory::resize};
  if (ngtcp2_conn_server_new(&connection_, &arrival.head.scid, &id, &where, arrival.head.version,
                             &callbacks, &settings, &params, &kMemory, this) != 0) {
    return fail(std::make_error_code(std::errc::not_enough_memory));
  }
  credentials.set_chooser(Callbacks::choose_chain);
  tls_ = credentials.make_session();
  if (tls_ == nullptr || ngtcp2_crypto_gnutls_configure_server_session(tls_) != 0) {
    return fail(std::make_error_code(std::errc::not_enough_memory));
  }
  reference_ = {.get_conn = Callbacks::connection_of, .user_data = this};
  gnutls_session_set_ptr(tls_, &reference_);
  ngtcp2_conn_set_tls_native_handle(connection_, tls_);
  add_id(id);
  add_id(first_id_);
  return {};
}

}  // namespace reprise
