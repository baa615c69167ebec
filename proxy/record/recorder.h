#pragma once

#include <map>
#include <set>

#include "proxy/http/h1_client.h"
#include "proxy/record/exchange_recorder.h"
#include "proxy/record/recording.h"

namespace reprise {

/// Forwards one client connection's requests to their origins and archives them. Each client
/// connection has origin connections of its own, so that the origin sees the client's connections
/// as they are. Every chunk goes on at once; the end of a response is held back until the exchange
/// is in the archive: what the client has whole, the archive has.
class Recorder final : public ConnectionHandler {
 public:
  explicit Recorder(Recording& recording);
  ~Recorder() override;

  awaitable<TlsPlan> plan_tls(const ConnectionInfo& connection, const ClientHello& hello) override;
  Task<void> serve(const ExchangeContext& context, const RequestHead& head, BodyReader& body,
                   ResponseWriter& writer) override;
  void close() override;

 private:
  using Target = OriginDialer::Target;

  /// A connection to an origin, between or inside exchanges.
  struct Origin {
    std::uint64_t id = 0;
    std::unique_ptr<H1Client> client;
    bool used = false;  ///< served an exchange before: it may have been closed meanwhile
  };
  /// What dialling came to: an origin, or why there is none.
  struct Dialled {
    std::unique_ptr<Origin> origin;
    ConnectionFacts facts;
  };
  /// How an attempt on an origin ended.
  enum class Attempt { kDone, kStale };
  struct Passing;  // the state that the two directions of an exchange share

  awaitable<Dialled> dial(const Target& target);
  /// Sends the request over `origin` and the response back. kStale: the origin had closed the
  /// connection before it saw the request, and another may be tried.
  Task<Attempt> pass(Passing& passing);
  Task<void> send_request(Passing& passing);
  Task<void> send_request_body(Passing& passing);
  Task<void> return_response(Passing& passing);
  Task<void> return_body(Passing& passing);

  Recording& recording_;
  std::optional<ClientHello> hello_;
  std::map<Target, std::unique_ptr<Origin>> idle_;
  std::map<Target, ConnectionFacts> failed_;  // from plan_tls, told to the first request
  tcp::socket* dialling_ = nullptr;           // the one that close() must end
  H1Client* active_ = nullptr;                // likewise
};

}  // namespace reprise
