// Opens TLS 1.3 connections, each with a full handshake and one HTTP/1.1 request, and says how long
// they took:
//
//   tls_connect_load PORT CONNECTIONS IN_FLIGHT HOST PATH BODY_BYTES [FRESH_PREFIX]
//
// The server is 127.0.0.1:PORT. The server name is HOST, or, with FRESH_PREFIX, another one each
// time below .fresh.test; the Host field is always HOST. A connection has failed unless it brought
// a 200 with BODY_BYTES of body. One line of JSON comes out; latency runs from connect(2) to the
// last byte of the body. Certificates are not verified, but the server's signature is. Every server
// is offered the same: X25519 and TLS_AES_128_GCM_SHA256.
//
// IN_FLIGHT threads with blocking sockets: the load has a core of its own, and plain is enough.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "proxy/tls/openssl_ptr.h"

namespace {

using Clock = std::chrono::steady_clock;
using reprise::SslContextPtr;
using reprise::SslPtr;

struct Plan {
  std::uint16_t port;
  std::size_t connections;
  std::size_t in_flight;
  std::string host;
  std::string request;
  std::size_t body_bytes;
  std::string fresh_prefix;  // empty: the server name is `host`
};

/// A connected blocking socket, closed at the end.
class Socket {
 public:
  explicit Socket(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    timeval const deadline{.tv_sec = 30, .tv_usec = 0};
    int const on = 1;
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &deadline, sizeof deadline);
    ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &deadline, sizeof deadline);
    ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  Socket(Socket const&) = delete;
  Socket& operator=(Socket const&) = delete;
  ~Socket() { ::close(fd_); }

  int fd() const { return fd_; }
  bool connected() const { return connected_; }

 private:
  int fd_;
  bool connected_ = false;
};

/// Whether a whole 200 response with that body came.
bool read_response(SSL* ssl, std::size_t body_bytes) {
  std::string response;
  std::array<char, 16384> chunk;
  std::size_t head_end = std::string::npos;
  while (head_end == std::string::npos || response.size() < head_end + 4 + body_bytes) {
    int const got = ::SSL_read(ssl, chunk.data(), chunk.size());
    if (got <= 0) return false;
    response.append(chunk.data(), static_cast<std::size_t>(got));
    head_end = response.find("\r\n\r\n");
  }
  return response.starts_with("HTTP/1.1 200 ") && response.size() == head_end + 4 + body_bytes;
}

/// What went wrong on one connection, or nullptr.
char const* ask_once(SSL_CTX* context, Plan const& plan, std::string const& server_name) {
  Socket const socket(plan.port);
  if (!socket.connected()) return "connect";
  SslPtr const ssl(::SSL_new(context));
  if (!ssl || ::SSL_set_fd(ssl.get(), socket.fd()) != 1) return "SSL_new";
  if (::SSL_set_tlsext_host_name(ssl.get(), server_name.c_str()) != 1) return "server name";
  if (::SSL_connect(ssl.get()) != 1) return "handshake";
  auto const size = static_cast<int>(plan.request.size());
  if (::SSL_write(ssl.get(), plan.request.data(), size) != size) return "send";
  if (!read_response(ssl.get(), plan.body_bytes)) return "response";
  ::SSL_shutdown(ssl.get());
  return nullptr;
}

/// The latencies of all connections that did not fail, in microseconds and ascending.
std::vector<double> load(SSL_CTX* context, Plan const& plan) {
  std::atomic<std::size_t> next = 0;
  std::vector<std::vector<double>> latencies(plan.in_flight);
  std::vector<std::jthread> threads;
  for (auto& mine : latencies) {
    threads.emplace_back([&] {
      for (std::size_t i = next++; i < plan.connections; i = next++) {
        std::string const name = plan.fresh_prefix.empty()
                                     ? plan.host
                                     : plan.fresh_prefix + std::to_string(i) + ".fresh.test";
        auto const start = Clock::now();
        if (char const* const failed = ask_once(context, plan, name)) {
          std::fprintf(stderr, "connection %zu (%s) failed: %s\n", i, name.c_str(), failed);
        } else {
          mine.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
        }
      }
    });
  }
  threads.clear();  // joins
  std::vector<double> all;
  for (auto const& mine : latencies) all.insert(all.end(), mine.begin(), mine.end());
  std::ranges::sort(all);
  return all;
}

SslContextPtr make_context() {
  SslContextPtr context(::SSL_CTX_new(::TLS_client_method()));
  static constexpr std::array<unsigned char, 9> kAlpn{8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
  bool const made = context &&
                    ::SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION) == 1 &&
                    ::SSL_CTX_set_ciphersuites(context.get(), "TLS_AES_128_GCM_SHA256") == 1 &&
                    ::SSL_CTX_set1_groups_list(context.get(), "X25519") == 1 &&
                    ::SSL_CTX_set_alpn_protos(context.get(), kAlpn.data(), kAlpn.size()) == 0;
  if (!made) std::abort();
  return context;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7 && argc != 8) {
    std::fputs("usage: tls_connect_load PORT CONNECTIONS IN_FLIGHT HOST PATH BODY_BYTES [PREFIX]\n",
               stderr);
    return 2;
  }
  Plan const plan{
      .port = static_cast<std::uint16_t>(std::atoi(argv[1])),
      .connections = std::strtoul(argv[2], nullptr, 10),
      .in_flight = std::strtoul(argv[3], nullptr, 10),
      .host = argv[4],
      .request = std::string("GET ") + argv[5] + " HTTP/1.1\r\nHost: " + argv[4] + "\r\n\r\n",
      .body_bytes = std::strtoul(argv[6], nullptr, 10),
      .fresh_prefix = argc == 8 ? argv[7] : ""};
  std::signal(SIGPIPE, SIG_IGN);  // a server that closes early is a failed connection
  auto const context = make_context();
  auto const start = Clock::now();
  auto const latencies = load(context.get(), plan);
  std::chrono::duration<double> const elapsed = Clock::now() - start;
  auto const at = [&](double share) {
    if (latencies.empty()) return 0.0;
    return latencies[static_cast<std::size_t>(share * static_cast<double>(latencies.size() - 1))];
  };
  std::printf(R"({"done": %zu, "failed": %zu, "seconds": %.6f, "p50_us": %.1f, "p99_us": %.1f})"
              "\n",
              latencies.size(), plan.connections - latencies.size(), elapsed.count(), at(0.5),
              at(0.99));
  return latencies.size() == plan.connections ? 0 : 1;
}
