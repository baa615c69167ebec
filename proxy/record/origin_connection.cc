#include "proxy/record/origin_connection.h"

#include <openssl/rand.h>

#include "proxy/http/h1_client.h"
#include "proxy/http/h2_client.h"
#include "proxy/http/web_socket.h"
#include "proxy/record/upstream_proxy.h"

namespace reprise {
namespace {

/// Adapts a request from HTTP/2 for an HTTP/1.1 origin (RFC 9113 sections 8.2.3 and 8.3.1): a Host,
/// one Cookie, and a framing.
class DownwardHeaders {
 public:
  DownwardHeaders(const RequestHead& head, bool has_content, std::string_view web_socket_key) {
    host_ = authority_of(head.scheme, head.host, head.port);
    if (!find_header(head.headers, "host")) fields_.push_back({.name = "Host", .value = host_});
    for (const HeaderView& field : head.headers) {
      if (field.name == "cookie") cookies_.append(cookies_.empty() ? "" : "; ").append(field.value);
    }
    bool cookie_placed = false;
    for (const HeaderView& field : head.headers) {
      if (field.name != "cookie") {
        fields_.push_back(field);
      } else if (!std::exchange(cookie_placed, true)) {
        fields_.push_back({.name = field.name, .value = cookies_});
      }
    }
    if (has_content && !find_header(head.headers, "content-length")) {
      fields_.push_back({.name = "Transfer-Encoding", .value = "chunked"});
    }
    if (!head.protocol.empty()) {
      fields_.push_back({.name = "Connection", .value = "Upgrade"});
      fields_.push_back({.name = "Upgrade", .value = head.protocol});
      fields_.push_back({.name = "Sec-WebSocket-Key", .value = web_socket_key});
    }
  }
  DownwardHeaders(const DownwardHeaders&) = delete;
  DownwardHeaders& operator=(const DownwardHeaders&) = delete;

  HeaderList list() const { return fields_; }

 private:
  std::string host_;
  std::string cookies_;
  std::vector<HeaderView> fields_;
};

std::string new_web_socket_key() {
  std::array<std::byte, 16> nonce{};
  RAND_bytes(reinterpret_cast<unsigned char*>(nonce.data()), static_cast<int>(nonce.size()));
  return web_socket_key(nonce);
}

class H1Origin;

class H1Exchange final : public OriginExchange {
 public:
  explicit H1Exchange(H1Origin& origin) : origin_(origin) {}
  ~H1Exchange() override;
  Task<void> send_head(const RequestHead& head, bool has_content) override;
  Task<void> write(Bytes bytes) override;
  Task<void> finish(HeaderList trailers) override;
  Task<ResponseHead> read_head() override;
  BodyReader& body() override;
  void switch_protocols() override;
  std::optional<std::chrono::steady_clock::time_point> sent_at() const override { return {}; }
  bool response_started() const override;
  void abort() override;

 private:
  Task<void> send_forwarded(const RequestHead& head);

  H1Origin& origin_;
  bool request_whole_ = false;
  std::string web_socket_key_;  // created here, for a client that has none
};

class H1Origin final : public OriginConnection {
 public:
  H1Origin(std::unique_ptr<ByteStream> stream, std::optional<ForwardProxy> forward)
      : client_(std::move(stream)), forward_(std::move(forward)) {}
  awaitable<void> run() override { co_return; }
  bool available() override {
    if (busy_ || !usable_) return false;
    // Unrequested data of an origin must not become the answer to the next request.
    if (!client_.stream().idle()) close();
    return usable_;
  }
  bool idle() override { return available(); }
  bool over() override { return !busy_ && !usable_; }
  bool takes_web_sockets() const override { return true; }
  std::unique_ptr<OriginExchange> begin() override {
    busy_ = true;
    return std::make_unique<H1Exchange>(*this);
  }
  void close() override {
    usable_ = false;
    client_.stream().abort();
  }

 private:
  friend class H1Exchange;
  H1Client client_;
  std::optional<ForwardProxy> const forward_;
  bool busy_ = false;
  bool usable_ = true;
};

H1Exchange::~H1Exchange() {
  origin_.busy_ = false;
  if (!request_whole_ || !origin_.client_.reusable()) origin_.close();
}

Task<void> H1Exchange::send_head(const RequestHead& head, bool has_content) {
  if (origin_.forward_) co_return co_await send_forwarded(head);
  if (head.version != HttpVersion::kH2) {
    co_return co_await origin_.client_.send_head(head.method, head.target, head.version,
                                                 head.headers);
  }
  if (!head.protocol.empty()) web_socket_key_ = new_web_socket_key();
  DownwardHeaders const headers(head, has_content, web_socket_key_);
  co_return co_await origin_.client_.send_head(head.method, head.target, HttpVersion::kHttp11,
                                               headers.list());
}
/// Plain http, which clients speak HTTP/1 over.
Task<void> H1Exchange::send_forwarded(const RequestHead& head) {
  auto url = std::string(to_string(head.scheme)) + "://";
  url += authority_of(head.scheme, head.host, head.port);
  if (head.target != "*") url += head.target;
  std::vector<HeaderView> fields(head.headers.begin(), head.headers.end());
  if (auto const& value = origin_.forward_->authorization; !value.empty()) {
    fields.push_back({.name = "Proxy-Authorization", .value = value});
  }
  co_return co_await origin_.client_.send_head(head.method, url, head.version, fields);
}
Task<void> H1Exchange::write(Bytes bytes) {
  return origin_.client_.write(bytes);
}
Task<void> H1Exchange::finish(HeaderList trailers) {
  auto const finished = co_await origin_.client_.finish(trailers);
  request_whole_ = finished.has_value();
  co_return finished;
}
Task<ResponseHead> H1Exchange::read_head() {
  auto const head = co_await origin_.client_.read_head();
  if (head && head->status == 407 && origin_.forward_) {
    co_return fail(upstream_errc::not_authorized);
  }
  if (head && head->status == 101 && !web_socket_key_.empty() &&
      find_header(head->headers, "Sec-WebSocket-Accept") != web_socket_accept(web_socket_key_)) {
    co_return fail(h1_errc::not_http);  // RFC 6455 section 4.1; only checked here
  }
  co_return head;
}
BodyReader& H1Exchange::body() {
  return origin_.client_.body();
}
void H1Exchange::switch_protocols() {
  origin_.client_.switch_protocols();
}
bool H1Exchange::response_started() const {
  return origin_.client_.response_started();
}
void H1Exchange::abort() {
  origin_.close();
}

class H2Origin;

class H2Exchange final : public OriginExchange {
 public:
  explicit H2Exchange(H2Origin& origin) : origin_(origin) {}
  ~H2Exchange() override;
  Task<void> send_head(const RequestHead& head, bool has_content) override;
  Task<void> write(Bytes bytes) override {
    if (!stream_) co_return fail(not_sent());
    co_return co_await stream_->write(bytes);
  }
  Task<void> finish(HeaderList trailers) override {
    if (!has_content_) co_return Result<void>{};
    if (!stream_) co_return fail(not_sent());
    co_return co_await stream_->finish(trailers);
  }
  Task<ResponseHead> read_head() override {
    if (!stream_) co_return fail(not_sent());
    co_return co_await stream_->read_head();
  }
  BodyReader& body() override { return *stream_; }
  void switch_protocols() override {}
  std::optional<std::chrono::steady_clock::time_point> sent_at() const override {
    return stream_ ? stream_->sent_at() : std::nullopt;
  }
  bool response_started() const override { return stream_ && stream_->response_started(); }
  void abort() override;

 private:
  static std::error_code not_sent() { return {NGHTTP2_REFUSED_STREAM, h2_category()}; }
  H2Origin& origin_;
  std::unique_ptr<H2ClientStream> stream_;
  bool has_content_ = false;
};

class H2Origin final : public OriginConnection {
 public:
  H2Origin(std::unique_ptr<ByteStream> stream, const ConnectionInfo& client)
      : stream_(std::move(stream)), info_(client) {}

  awaitable<void> run() override {
    co_await begun_.wait();
    if (client_) (void)co_await client_->serve();  // each exchange gets the error
    closed_ = true;
    ended_ = true;
  }
  bool available() override {
    if (!client_ && !closed_ && stream_->peer_ended()) close();
    return !closed_ && (!client_ || client_->usable());
  }
  bool idle() override { return open_ == 0 && available(); }
  bool over() override { return ended_ && open_ == 0; }
  bool takes_web_sockets() const override { return client_ && client_->takes_web_sockets(); }
  std::unique_ptr<OriginExchange> begin() override {
    // By now the client's SETTINGS have arrived, so the origin gets the same.
    if (!client_) {
      client_ = std::make_unique<H2Client>(std::move(stream_), info_.h2_settings);
      // The client learns what the origin supports, and must not try anything else.
      client_->set_on_web_sockets([this] {
        if (!closed_ && info_.offer_web_sockets) info_.offer_web_sockets();
      });
      begun_.set();
    }
    ++open_;
    return std::make_unique<H2Exchange>(*this);
  }
  void close() override {
    closed_ = true;
    if (client_) client_->stream().abort();
    if (stream_) stream_->abort();
    begun_.set();
  }

 private:
  friend class H2Exchange;
  std::unique_ptr<ByteStream> stream_;  // until the first exchange
  std::unique_ptr<H2Client> client_;
  const ConnectionInfo& info_;
  Event begun_;
  std::size_t open_ = 0;
  bool closed_ = false;
  bool ended_ = false;  // run() has returned
};

H2Exchange::~H2Exchange() {
  if (stream_) origin_.client_->drop(*stream_);
  --origin_.open_;
}

Task<void> H2Exchange::send_head(const RequestHead& head, bool has_content) {
  has_content_ = has_content || !head.protocol.empty();
  if (!origin_.available()) co_return fail(not_sent());
  auto stream = origin_.client_->request(head, origin_.info_.h2_pseudo_order, has_content_);
  if (!stream) co_return fail(stream.error());
  stream_ = std::move(*stream);
  co_return Result<void>{};
}

void H2Exchange::abort() {
  if (!stream_) return;
  origin_.client_->drop(*stream_);
  stream_->close(NGHTTP2_CANCEL);
}

}  // namespace

std::unique_ptr<OriginConnection> make_origin_connection(std::unique_ptr<ByteStream> stream,
                                                         const std::string& alpn,
                                                         const ConnectionInfo& client,
                                                         std::optional<ForwardProxy> forward) {
  if (alpn == "h2") return std::make_unique<H2Origin>(std::move(stream), client);
  return std::make_unique<H1Origin>(std::move(stream), std::move(forward));
}

}  // namespace reprise
