#include "tests/proxy/quic/quic_client.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "proxy/quic/quic_time.h"

namespace reprise {
namespace {

std::uint8_t* octets(const std::string& text) {
  return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
}

/// For nghttp3; it lives as long as the fields.
std::vector<nghttp3_nv> borrowed(const QuicClient::Fields& fields) {
  std::vector<nghttp3_nv> found;
  for (auto const& [name, value] : fields) {
    found.push_back({.name = octets(name),
                     .value = octets(value),
                     .namelen = name.size(),
                     .valuelen = value.size(),
                     .flags = NGHTTP3_NV_FLAG_NONE});
  }
  return found;
}

std::string text_in(nghttp3_rcbuf* text) {
  auto const view = nghttp3_rcbuf_get_buf(text);
  return {reinterpret_cast<const char*>(view.base), view.len};
}

}  // namespace

struct QuicClient::Callbacks {
  static QuicClient& self(void* user) { return *static_cast<QuicClient*>(user); }

  static ngtcp2_conn* connection_of(ngtcp2_crypto_conn_ref* reference) {
    return self(reference->user_data).quic_;
  }
  static int handshake_completed(ngtcp2_conn*, void* user) {
    self(user).begin_http();
    return 0;
  }
  static int stream_data(ngtcp2_conn* quic, std::uint32_t flags, std::int64_t stream, std::uint64_t,
                         const std::uint8_t* data, std::size_t size, void* user, void*) {
    auto& client = self(user);
    if (client.http_ == nullptr) return 0;
    // What the server says of fields that the client's own encoder did not send.
    if (client.encodes_by_hand_ && stream == kServersDecoderStream) return 0;
    auto const used = nghttp3_conn_read_stream(client.http_, stream, data, size,
                                               (flags & NGTCP2_STREAM_DATA_FLAG_FIN) != 0);
    EXPECT_GE(used, 0) << nghttp3_strerror(static_cast<int>(used));
    if (used > 0) {
      ngtcp2_conn_extend_max_stream_offset(quic, stream, static_cast<std::uint64_t>(used));
      ngtcp2_conn_extend_max_offset(quic, static_cast<std::uint64_t>(used));
    }
    return 0;
  }
  static int acknowledged(ngtcp2_conn*, std::int64_t stream, std::uint64_t, std::uint64_t size,
                          void* user, void*) {
    if (self(user).http_ != nullptr) nghttp3_conn_add_ack_offset(self(user).http_, stream, size);
    return 0;
  }
  static int stream_closed(ngtcp2_conn*, std::uint32_t flags, std::int64_t stream,
                           std::uint64_t code, void* user, void*) {
    auto& client = self(user);
    bool const coded = (flags & NGTCP2_STREAM_CLOSE_FLAG_APP_ERROR_CODE_SET) != 0;
    if (client.http_ != nullptr) {
      nghttp3_conn_close_stream(client.http_, stream, coded ? code : NGHTTP3_H3_NO_ERROR);
    }
    return 0;
  }
  static int stream_reset(ngtcp2_conn*, std::int64_t stream, std::uint64_t, std::uint64_t code,
                          void* user, void*) {
    self(user).answers_[stream].reset = code;
    if (self(user).http_ != nullptr) nghttp3_conn_shutdown_stream_read(self(user).http_, stream);
    return 0;
  }
  static int more_window(ngtcp2_conn*, std::int64_t stream, std::uint64_t, void* user, void*) {
    if (self(user).http_ != nullptr) nghttp3_conn_unblock_stream(self(user).http_, stream);
    return 0;
  }
  static void random(std::uint8_t* out, std::size_t size, const ngtcp2_rand_ctx*) {
    gnutls_rnd(GNUTLS_RND_NONCE, out, size);
  }
  static int new_id(ngtcp2_conn*, ngtcp2_cid* id, std::uint8_t* token, std::size_t size, void*) {
    id->datalen = size;
    gnutls_rnd(GNUTLS_RND_NONCE, id->data, size);
    gnutls_rnd(GNUTLS_RND_NONCE, token, NGTCP2_STATELESS_RESET_TOKENLEN);
    return 0;
  }

  static int data(nghttp3_conn*, std::int64_t stream, const std::uint8_t* data, std::size_t size,
                  void* user, void*) {
    auto& client = self(user);
    client.answers_[stream].body.append(reinterpret_cast<const char*>(data), size);
    if (client.options_.extends_windows) client.extend(stream, size);
    return 0;
  }
  static int deferred(nghttp3_conn*, std::int64_t stream, std::size_t size, void* user, void*) {
    self(user).extend(stream, size);
    return 0;
  }
  static int begin_head(nghttp3_conn*, std::int64_t stream, void* user, void*) {
    auto& answer = self(user).answers_[stream];
    if (!answer.status.empty()) answer.interim.push_back(answer.status);
    answer.fields.clear();
    return 0;
  }
  static int field(nghttp3_conn*, std::int64_t stream, std::int32_t, nghttp3_rcbuf* name,
                   nghttp3_rcbuf* value, std::uint8_t, void* user, void*) {
    auto& answer = self(user).answers_[stream];
    if (text_in(name) == ":status") {
      answer.status = text_in(value);
    } else {
      answer.fields.emplace_back(text_in(name), text_in(value));
    }
    return 0;
  }
  static int trailer(nghttp3_conn*, std::int64_t stream, std::int32_t, nghttp3_rcbuf* name,
                     nghttp3_rcbuf* value, std::uint8_t, void* user, void*) {
    self(user).answers_[stream].trailers.emplace_back(text_in(name), text_in(value));
    return 0;
  }
  static int end_stream(nghttp3_conn*, std::int64_t stream, void* user, void*) {
    self(user).answers_[stream].complete = true;
    self(user).completed_.push_back(stream);
    return 0;
  }
  static int shutdown(nghttp3_conn*, std::int64_t, void* user) {
    self(user).told_to_go_away_ = true;
    return 0;
  }
  static nghttp3_ssize read_body(nghttp3_conn*, std::int64_t stream, nghttp3_vec* vector,
                                 std::size_t, std::uint32_t* flags, void* user, void*) {
    auto& asked = self(user).asked_.at(stream);
    if (asked.unfinished) return NGHTTP3_ERR_WOULDBLOCK;
    *flags = NGHTTP3_DATA_FLAG_EOF;
    if (!asked.trailers.empty()) {
      *flags |= NGHTTP3_DATA_FLAG_NO_END_STREAM;
      auto const trailers = borrowed(asked.trailers);
      EXPECT_EQ(
          nghttp3_conn_submit_trailers(self(user).http_, stream, trailers.data(), trailers.size()),
          0);
    }
    *vector = {.base = octets(*asked.body), .len = asked.body->size()};
    return asked.body->empty() ? 0 : 1;
  }
};

QuicClient::QuicClient(Options options, Endpoint local, Endpoint server, TimePoint now)
    : options_(std::move(options)), local_(std::move(local)), server_(std::move(server)) {
  ngtcp2_callbacks callbacks{};
  callbacks.client_initial = ngtcp2_crypto_client_initial_cb;
  callbacks.recv_crypto_data = ngtcp2_crypto_recv_crypto_data_cb;
  callbacks.handshake_completed = Callbacks::handshake_completed;
  callbacks.encrypt = ngtcp2_crypto_encrypt_cb;
  callbacks.decrypt = ngtcp2_crypto_decrypt_cb;
  callbacks.hp_mask = ngtcp2_crypto_hp_mask_cb;
  callbacks.recv_stream_data = Callbacks::stream_data;
  callbacks.acked_stream_data_offset = Callbacks::acknowledged;
  callbacks.stream_close = Callbacks::stream_closed;
  callbacks.recv_retry = ngtcp2_crypto_recv_retry_cb;
  callbacks.rand = Callbacks::random;
  callbacks.get_new_connection_id = Callbacks::new_id;
  callbacks.update_key = ngtcp2_crypto_update_key_cb;
  callbacks.stream_reset = Callbacks::stream_reset;
  callbacks.extend_max_stream_data = Callbacks::more_window;
  callbacks.delete_crypto_aead_ctx = ngtcp2_crypto_delete_crypto_aead_ctx_cb;
  callbacks.delete_crypto_cipher_ctx = ngtcp2_crypto_delete_crypto_cipher_ctx_cb;
  callbacks.get_path_challenge_data = ngtcp2_crypto_get_path_challenge_data_cb;
  callbacks.version_negotiation = ngtcp2_crypto_version_negotiation_cb;
  ngtcp2_settings settings;
  ngtcp2_settings_default(&settings);
  settings.initial_ts = quic_stamp(now);
  ngtcp2_transport_params params;
  ngtcp2_transport_params_default(&params);
  params.initial_max_streams_uni = 3;
  params.initial_max_stream_data_bidi_local = options_.stream_window_bytes;
  params.initial_max_stream_data_uni = 64 << 10;
  params.initial_max_data = options_.connection_window_bytes;
  ngtcp2_cid to{.datalen = 18, .data = {}};
  ngtcp2_cid from{.datalen = 17, .data = {}};
  gnutls_rnd(GNUTLS_RND_NONCE, to.data, to.datalen);
  gnutls_rnd(GNUTLS_RND_NONCE, from.data, from.datalen);
  auto const where = path();
  EXPECT_EQ(ngtcp2_conn_client_new(&quic_, &to, &from, &where, NGTCP2_PROTO_VER_V1, &callbacks,
                                   &settings, &params, nullptr, this),
            0);
  gnutls_certificate_allocate_credentials(&credentials_);
  gnutls_init(&tls_, GNUTLS_CLIENT);
  EXPECT_EQ(ngtcp2_crypto_gnutls_configure_client_session(tls_), 0);
  std::string priorities = "%DISABLE_TLS13_COMPAT_MODE:NORMAL:-VERS-ALL:+VERS-TLS1.3";
  // GnuTLS sends a key share of both: 32 bytes for the server, and 1024 that only take room.
  if (options_.long_hello) priorities += ":-GROUP-ALL:+GROUP-X25519:+GROUP-FFDHE8192";
  EXPECT_EQ(gnutls_priority_set_direct(tls_, priorities.c_str(), nullptr), 0);
  reference_ = {.get_conn = Callbacks::connection_of, .user_data = this};
  gnutls_session_set_ptr(tls_, &reference_);
  gnutls_credentials_set(tls_, GNUTLS_CRD_CERTIFICATE, credentials_);
  gnutls_datum_t const alpn{.data = octets(options_.alpn),
                            .size = static_cast<unsigned>(options_.alpn.size())};
  gnutls_alpn_set_protocols(tls_, &alpn, 1, GNUTLS_ALPN_MANDATORY);
  gnutls_server_name_set(tls_, GNUTLS_NAME_DNS, options_.server_name.data(),
                         options_.server_name.size());
  ngtcp2_conn_set_tls_native_handle(quic_, tls_);
}

QuicClient::~QuicClient() {
  nghttp3_conn_del(http_);
  ngtcp2_conn_del(quic_);
  gnutls_deinit(tls_);
  gnutls_certificate_free_credentials(credentials_);
}

ngtcp2_path QuicClient::path() {
  auto const address = [](Endpoint& at) {
    return ngtcp2_addr{.addr = at.data(), .addrlen = static_cast<ngtcp2_socklen>(at.size())};
  };
  return {.local = address(local_), .remote = address(server_), .user_data = nullptr};
}

void QuicClient::begin_http() {
  nghttp3_callbacks callbacks{};
  callbacks.recv_data = Callbacks::data;
  callbacks.deferred_consume = Callbacks::deferred;
  callbacks.begin_headers = Callbacks::begin_head;
  callbacks.recv_header = Callbacks::field;
  callbacks.recv_trailer = Callbacks::trailer;
  callbacks.end_stream = Callbacks::end_stream;
  callbacks.shutdown = Callbacks::shutdown;
  nghttp3_settings settings;
  nghttp3_settings_default(&settings);
  settings.qpack_max_dtable_capacity = settings.qpack_encoder_max_dtable_capacity = 4096;
  settings.qpack_blocked_streams = 100;
  EXPECT_EQ(nghttp3_conn_client_new(&http_, &callbacks, &settings, nullptr, this), 0);
  std::array<std::int64_t, 3> streams{};
  for (auto& stream : streams) EXPECT_EQ(ngtcp2_conn_open_uni_stream(quic_, &stream, nullptr), 0);
  nghttp3_conn_bind_control_stream(http_, streams[0]);
  nghttp3_conn_bind_qpack_streams(http_, streams[1], streams[2]);
}

std::int64_t QuicClient::ask(Fields fields, std::optional<std::string> body, Fields trailers) {
  auto const stream = static_cast<std::int64_t>(asked_.size()) * 4;
  asked_.emplace(
      stream,
      Asked{.fields = std::move(fields), .body = std::move(body), .trailers = std::move(trailers)});
  return stream;
}

std::int64_t QuicClient::get(const std::string& path, Fields more) {
  Fields fields{{":method", "GET"},
                {":scheme", "https"},
                {":authority", options_.server_name},
                {":path", path}};
  fields.insert(fields.end(), more.begin(), more.end());
  return ask(std::move(fields));
}

std::int64_t QuicClient::ask_unfinished(Fields fields) {
  auto const stream = ask(std::move(fields), std::string());
  asked_.at(stream).unfinished = true;
  return stream;
}

void QuicClient::send_raw(std::int64_t stream, std::string bytes) {
  if (stream == kEncoderStream) encodes_by_hand_ = true;
  raw_.push_back({.stream = stream, .bytes = std::move(bytes)});
}

std::int64_t QuicClient::reset_unseen() {
  auto const stream = ask({});
  asked_.at(stream).submitted = true;
  std::int64_t opened = -1;
  EXPECT_EQ(ngtcp2_conn_open_bidi_stream(quic_, &opened, nullptr), 0);
  EXPECT_EQ(opened, stream);
  EXPECT_EQ(quic_api::stop_writing(quic_, stream, NGHTTP3_H3_REQUEST_CANCELLED), 0);
  return stream;
}

void QuicClient::submit() {
  if (http_ == nullptr) return;
  for (auto& [number, asked] : asked_) {
    if (asked.submitted) continue;
    std::int64_t stream = -1;
    if (ngtcp2_conn_open_bidi_stream(quic_, &stream, nullptr) != 0) return;  // no more permitted
    EXPECT_EQ(stream, number);
    auto const fields = borrowed(asked.fields);
    nghttp3_data_reader const reader{.read_data = Callbacks::read_body};
    EXPECT_EQ(nghttp3_conn_submit_request(http_, stream, fields.data(), fields.size(),
                                          asked.body ? &reader : nullptr, nullptr),
              0);
    asked.submitted = true;
  }
}

void QuicClient::cancel(std::int64_t stream) {
  quic_api::shut_down_stream(quic_, stream, NGHTTP3_H3_REQUEST_CANCELLED);
}

void QuicClient::update_priority(std::int64_t stream, std::uint32_t urgency, bool incremental) {
#if NGHTTP3_VERSION_NUM >= 0x010000
  auto const text = "u=" + std::to_string(urgency) + (incremental ? ", i" : "");
  EXPECT_EQ(nghttp3_conn_set_client_stream_priority(http_, stream, octets(text), text.size()), 0);
#else
  nghttp3_pri const priority{.urgency = urgency, .inc = incremental ? 1 : 0};
  EXPECT_EQ(nghttp3_conn_set_stream_priority(http_, stream, &priority), 0);
#endif
}

void QuicClient::extend(std::int64_t stream, std::uint64_t size_bytes) {
  ngtcp2_conn_extend_max_stream_offset(quic_, stream, size_bytes);
  ngtcp2_conn_extend_max_offset(quic_, size_bytes);
}

bool QuicClient::handshake_done() const {
  return ngtcp2_conn_get_handshake_completed(quic_) != 0;
}

std::vector<std::vector<std::byte>> QuicClient::write(TimePoint now) {
  std::vector<std::vector<std::byte>> all;
  if (closed_) return all;
  submit();
  std::vector<std::byte> packet;
  while (true) {
    packet.resize(1452);  // ngtcp2 needs the same memory until a packet is complete
    std::array<nghttp3_vec, 8> pieces{};
    std::array<ngtcp2_vec, 8> vectors{};
    std::int64_t stream = -1;
    int ends = 0;
    nghttp3_ssize count = 0;
    auto const raw = std::ranges::find(raw_, false, &Raw::sent);
    if (raw != raw_.end()) {
      stream = raw->stream;
      pieces[0] = {.base = octets(raw->bytes), .len = raw->bytes.size()};
      count = 1;
    } else if (http_ != nullptr && ngtcp2_conn_get_max_data_left(quic_) > 0) {
      count = nghttp3_conn_writev_stream(http_, &stream, &ends, pieces.data(), pieces.size());
      EXPECT_GE(count, 0);
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      vectors[i] = {.base = pieces[i].base, .len = pieces[i].len};
    }
    auto where = path();
    ngtcp2_pkt_info info{};
    ngtcp2_ssize taken = -1;
    std::uint32_t const flags =
        NGTCP2_WRITE_STREAM_FLAG_MORE | (ends != 0 ? NGTCP2_WRITE_STREAM_FLAG_FIN : 0);
    auto const size = ngtcp2_conn_writev_stream(
        quic_, &where, &info, reinterpret_cast<std::uint8_t*>(packet.data()), packet.size(), &taken,
        flags, stream, vectors.data(), static_cast<std::size_t>(count), quic_stamp(now));
    if (raw != raw_.end()) {
      if (taken >= 0 || size < 0) raw->sent = true;
      EXPECT_TRUE(taken < 0 || static_cast<std::size_t>(taken) == raw->bytes.size());
    } else if (taken >= 0) {
      nghttp3_conn_add_write_offset(http_, stream, static_cast<std::size_t>(taken));
    }
    if (size == NGTCP2_ERR_WRITE_MORE) continue;
    if (size == NGTCP2_ERR_STREAM_DATA_BLOCKED) {
      nghttp3_conn_block_stream(http_, stream);
      continue;
    }
    if (size == NGTCP2_ERR_STREAM_SHUT_WR || size == NGTCP2_ERR_STREAM_NOT_FOUND) {
      nghttp3_conn_shutdown_stream_write(http_, stream);
      continue;
    }
    if (size <= 0) break;
    packet.resize(static_cast<std::size_t>(size));
    all.push_back(std::exchange(packet, {}));
  }
  ngtcp2_conn_update_pkt_tx_time(quic_, quic_stamp(now));
  return all;
}

void QuicClient::read(Bytes datagram, TimePoint now) {
  if (closed_) return;
  auto const where = path();
  ngtcp2_pkt_info const info{};
  int const code = ngtcp2_conn_read_pkt(quic_, &where, &info,
                                        reinterpret_cast<const std::uint8_t*>(datagram.data()),
                                        datagram.size(), quic_stamp(now));
  if (code == 0) return;
  closed_ = true;
  if (code == NGTCP2_ERR_DRAINING) close_code_ = quic_api::received_close(quic_).error_code;
}

QuicClient::TimePoint QuicClient::due() const {
  auto const at = ngtcp2_conn_get_expiry(quic_);
  return closed_ || at >= quic_stamp(TimePoint::max()) ? TimePoint::max()
                                                       : TimePoint(std::chrono::nanoseconds(at));
}

void QuicClient::pass(TimePoint now) {
  if (due() <= now && ngtcp2_conn_handle_expiry(quic_, quic_stamp(now)) != 0) closed_ = true;
}

}  // namespace reprise
