// Any datagrams for a QUIC connection with HTTP/3 on it, before and after its handshake. The input
// is a list of steps: which datagram of a real client comes next, how it is damaged, or bytes from
// the input itself. Besides memory errors it looks for assertions in the libraries, and for a
// connection that sends too much to an address that proved nothing.

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "proxy/http/h3/h3_server.h"
#include "proxy/quic/library_assertion.h"
#include "proxy/tls/certificate_authority.h"
#include "tests/fuzz/quic_datagrams.h"
#include "tests/proxy/quic/quic_client.h"

namespace reprise {

std::uint64_t fuzzed_quic_datagrams = 0;

namespace {

class Text final : public Handler {
 public:
  Task<void> serve(const ExchangeContext&, const RequestHead&, BodyReader&,
                   ResponseWriter& writer) override {
    co_return co_await send_text(writer, 200, std::string(5000, 't'));
  }
};

/// What all inputs share.
struct World {
  World() {
    auto folder = (std::filesystem::temp_directory_path() / "reprise-fuzz-quic-XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) std::abort();
    authority = std::move(*CertificateAuthority::open_or_create(folder));
    std::filesystem::remove_all(folder);
    minter = std::move(*LeafMinter::create(*authority));
    credentials = std::move(*GnutlsCredentials::create(*minter));
    chain = *credentials->chain({.names = {"a.test"}});
  }
  std::optional<CertificateAuthority> authority;
  std::unique_ptr<LeafMinter> minter;
  std::unique_ptr<GnutlsCredentials> credentials;
  std::shared_ptr<const GnutlsChain> chain;
};

class Pair final : private QuicHost {
 public:
  explicit Pair(World& world) : world_(world), client_({}, client_at_, server_at_, now_) {
    client_.get("/a");
    client_.get("/b", {{"priority", "u=1, i"}});
  }
  ~Pair() override {
    if (h3_) h3_->close();
    talk_back();
    server_.reset();
    context_.restart();
    context_.run();
  }

  void run(Bytes steps) {
    while (!steps.empty()) {
      auto const step = std::to_integer<unsigned>(steps[0]);
      steps = steps.subspan(1);
      if (step < 160) {
        pass_on(step, steps);
      } else if (step < 224) {
        auto const size = std::min<std::size_t>((step - 159) * 24, steps.size());
        give(steps.first(size));
        steps = steps.subspan(size);
      } else {
        now_ += std::chrono::milliseconds(1 << (step % 16));
        client_.pass(now_);
        if (server_) server_->pass(now_);
      }
      context_.restart();
      context_.poll();
      talk_back();
    }
  }

 private:
  /// The client's datagrams; one of them may be damaged, come twice or get lost.
  void pass_on(unsigned step, Bytes& steps) {
    for (auto datagram : client_.write(now_)) {
      if (step >= 40 && !steps.empty()) {
        auto const at = (step * 7 + std::to_integer<unsigned>(steps[0]) * 5) % datagram.size();
        datagram[at] ^= steps[0];
        steps = steps.subspan(1);
      }
      if (step % 8 == 7) continue;
      give(datagram);
      if (step % 8 == 6) give(datagram);
    }
    now_ += std::chrono::milliseconds(1);
  }

  void give(Bytes datagram) {
    if (!server_ && !accept(datagram)) return;
    ++fuzzed_quic_datagrams;
    received_bytes_ += datagram.size();
    server_->read(datagram, 0, now_);
  }

  bool accept(Bytes datagram) {
    QuicConnection::Arrival arrival{.local = server_at_, .client = client_at_};
    if (ngtcp2_accept(&arrival.head, reinterpret_cast<const std::uint8_t*>(datagram.data()),
                      datagram.size()) != 0) {
      return false;
    }
    h3_ = std::make_unique<H3Server>(context_.get_executor(), info_, handler_, H3ServerOptions{});
    boost::asio::co_spawn(
        context_, [this]() -> awaitable<void> { (void)co_await h3_->run(); },
        [](std::exception_ptr broken) {
          if (broken) std::rethrow_exception(broken);
        });
    auto made = QuicConnection::accept(arrival, {}, *world_.credentials, *this, *h3_, now_);
    if (!made) std::abort();
    server_ = std::move(*made);
    h3_->attach(*server_, [this](const std::string&) { return world_.chain; });
    return true;
  }

  void talk_back() {
    bool const proves_nothing = !heard_;
    while (server_ && !server_->over()) {
      auto const burst = server_->write(out_, now_);
      if (burst.size_bytes == 0) break;
      sent_bytes_ += burst.size_bytes;
      Bytes rest = Bytes(out_).first(burst.size_bytes);
      while (!rest.empty()) {
        auto const packet = rest.first(std::min(burst.segment_bytes, rest.size()));
        rest = rest.subspan(packet.size());
        if (!client_.closed()) client_.read(packet, now_);
      }
      heard_ = true;
    }
    // RFC 9000 section 8.1.
    if (proves_nothing && sent_bytes_ > 3 * received_bytes_) std::abort();
  }

  void add_id(const ngtcp2_cid&) override {}
  void remove_id(const ngtcp2_cid&) override {}
  void reset_token(const ngtcp2_cid&,
                   std::span<std::uint8_t, NGTCP2_STATELESS_RESET_TOKENLEN> token) override {
    random(token);
  }
  void random(std::span<std::uint8_t> octets) override {
    for (auto& octet : octets)
      octet = static_cast<std::uint8_t>(chance_ = chance_ * 1103515245 + 12345);
  }
  void wake() override {}

  World& world_;
  boost::asio::io_context context_;
  Text handler_;
  ConnectionInfo info_{.id = 1};
  QuicConnection::TimePoint now_{std::chrono::seconds(1)};
  QuicConnection::Endpoint const client_at_{boost::asio::ip::make_address("127.0.0.1"), 40'000};
  QuicConnection::Endpoint const server_at_{boost::asio::ip::make_address("127.0.0.2"), 443};
  QuicClient client_;
  std::unique_ptr<H3Server> h3_;
  std::unique_ptr<QuicConnection> server_;
  std::vector<std::byte> out_ = std::vector<std::byte>(QuicConnection::kBurstBytesMax + 2048);
  std::size_t received_bytes_ = 0;
  std::size_t sent_bytes_ = 0;
  bool heard_ = false;  // the client has heard from the server
  std::uint32_t chance_ = 1;
};

}  // namespace
}  // namespace reprise

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace reprise;
  static World world;
  Pair(world).run(std::as_bytes(std::span(data, size)));
  if (survived_assertions() != 0) std::abort();
  return 0;
}
