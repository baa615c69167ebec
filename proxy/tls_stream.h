#pragma once

#include <vector>

#include "proxy/byte_stream.h"
#include "proxy/tls/openssl_ptr.h"

namespace reprise {

/// TLS over a TCP socket, server or client side as the SSL was set up. OpenSSL reads and writes the
/// socket itself: no copies between. Bytes that were read from the socket already (a ClientHello)
/// are given back to it as `prefix`.
class TlsStream final : public ByteStream {
 public:
  TlsStream(tcp::socket socket, SslPtr ssl, std::vector<std::byte> prefix = {});
  ~TlsStream() override;

  /// Errors: the socket's, or a TLS error (tls_category) whose message is OpenSSL's.
  Task<void> handshake();

  awaitable<void> shutdown() override;
  bool idle() override;

  SSL* ssl() const { return ssl_.get(); }

 protected:
  Step try_read(std::span<std::byte> buffer) override;
  Step try_write(std::span<const Bytes> pieces) override;

 private:
  friend struct SocketBio;
  Step step_of(int result);

  std::vector<std::byte> prefix_;
  std::size_t prefix_used_ = 0;
  SslPtr ssl_;
};

/// Errors of OpenSSL, by its packed error code.
const std::error_category& tls_category();

}  // namespace reprise
