#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "archive/reader.h"
#include "proxy/connection.h"

namespace reprise {

/// `--protocol`: the offer to TLS clients.
enum class Protocol : std::uint8_t {
  kRecorded,
  kH1,
  kH2,
  kH3,  ///< every host over QUIC, and HTTP/2 over TCP
};

/// The TLS settings of a recorded host.
struct TlsHost {
  std::string host;
  std::uint16_t port = 0;
  std::string protocol;  ///< "h2" or "http/1.1", as served
  /// The recording does not have the version, or has one that is not served (SPDY, HTTP/3): h2
  /// replaces it.
  bool assumed = false;
};

/// What a what-if changes of the hosts' TLS.
struct TlsChanges {
  std::map<std::string, std::string> alpn;  ///< by host, over everything else: "h2", "http/1.1"
  std::string page;                         ///< the host whose certificate `coalesced` share
  std::set<std::string> coalesced;
  /// Hosts that serve HTTP/3, too, whatever they speak over TCP: those that clients are led to over
  /// it, and those whose recorded offers clients find.
  std::set<std::string> h3;
  std::set<std::string> h3_offers;
};

/// The same, where hosts that share the page's certificate serve HTTP/3 as the page does: clients
/// are led to it, find it, or do neither. Otherwise a browser would open connections of their own.
TlsChanges with_shared_h3(TlsChanges changes);

/// The TLS settings with which each host of a recorded session was seen. Immutable.
class TlsPlans {
 public:
  /// `session` is a number, not 0. For hosts without a TLS connection in the archive (imports) the
  /// exchanges decide, which costs reading them all.
  TlsPlans(const ArchiveReader& archive, std::uint32_t session, Protocol protocol,
           const TlsChanges& changes = {});

  /// As seen on that port, otherwise on 443, otherwise on any. A host that was never recorded gets
  /// HTTP/1.1 by default: its miss can only be reported inside TLS.
  TlsPlan of(const std::string& host, std::uint16_t port) const;
  /// For a client that sends no host name, by `address`: h2 if every host used it.
  TlsPlan unnamed(const std::string& address) const;
  /// Whether a host is served over HTTP/3.
  bool speaks_h3(const std::string& host) const;
  /// The same for a client that sends no host name, by `address`. If that was not recorded, it may
  /// stand in for any host that is an IP literal.
  bool unnamed_speaks_h3(const std::string& address) const;
  bool knows(const std::string& host) const { return find(host, 0) != nullptr; }
  /// Ordered by name.
  std::vector<TlsHost> hosts() const;
  /// The certificates of all recorded hosts.
  std::vector<LeafNames> leaves() const;

 private:
  struct Recorded {
    TlsPlan plan;
    bool decided = true;   // whether the recording has the version
    bool changed = false;  // by a what-if, which --protocol does not overrule
  };
  const Recorded* find(const std::string& host, std::uint16_t port) const;
  void read_exchanges(const ArchiveReader& archive, std::uint32_t session);
  void find_web_sockets(const ArchiveReader& archive, std::uint32_t session);
  void change(const TlsChanges& changes);
  TlsPlan offered(const Recorded& known) const;

  Protocol protocol_;
  std::set<std::string> h3_;                                            // led to or offered
  std::map<std::pair<std::string, std::uint16_t>, Recorded> recorded_;  // by host and port
};

}  // namespace reprise
