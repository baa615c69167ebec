#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "archive/reader.h"
#include "proxy/connection.h"

namespace reprise {

/// `--protocol`: what TLS clients are offered.
enum class Protocol : std::uint8_t { kRecorded, kH1, kH2 };

/// How a recorded host is spoken to over TLS.
struct TlsHost {
  std::string host;
  std::uint16_t port = 0;
  std::string protocol;  ///< "h2" or "http/1.1", as served
  /// The recording does not say which version it was, or it was one that is not served (SPDY,
  /// HTTP/3): h2 then stands for it.
  bool assumed = false;
};

/// How each host of a recorded session was seen to speak TLS. Immutable.
class TlsPlans {
 public:
  /// `session` is a number, not 0. Hosts that have no TLS connection in the archive (of an import)
  /// are judged by their exchanges, which costs reading them all.
  TlsPlans(const ArchiveReader& archive, std::uint32_t session, Protocol protocol);

  /// As seen on that port, else on 443, else on any. A host that was never recorded gets HTTP/1.1
  /// unless told otherwise: its miss can only be told inside TLS.
  TlsPlan of(const std::string& host, std::uint16_t port) const;
  /// For a client that names no host, under the name `address`: h2 if every host spoke it.
  TlsPlan unnamed(const std::string& address) const;
  bool knows(const std::string& host) const { return find(host, 0) != nullptr; }
  /// In the order of their names.
  std::vector<TlsHost> hosts() const;

 private:
  struct Recorded {
    TlsPlan plan;
    bool decided = true;  // whether the recording says which version it was
  };
  const Recorded* find(const std::string& host, std::uint16_t port) const;
  void read_exchanges(const ArchiveReader& archive, std::uint32_t session);
  void find_web_sockets(const ArchiveReader& archive, std::uint32_t session);
  TlsPlan offered(TlsPlan plan) const;

  Protocol protocol_;
  std::map<std::pair<std::string, std::uint16_t>, Recorded> recorded_;  // by host and port
};

}  // namespace reprise
