#pragma once

#include <ares.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"

namespace reprise::dns {

/// c-ares on an Asio loop: sends queries, retries, falls back to TCP, and returns responses. Runs
/// only on the thread of its context.
///
/// c-ares ends with ARES_ECONNREFUSED both when no server can be reached and when all servers
/// answer with a failure. A second channel, with Failures::kReport, gets the response of the
/// latter.
class CaresChannel : public std::enable_shared_from_this<CaresChannel> {
 public:
  using Endpoints = std::vector<boost::asio::ip::udp::endpoint>;
  /// `status`: as in ares_send(3). The response is valid during the call.
  using Done = std::function<void(int status, std::span<const std::uint8_t> response)>;
  /// The size of UDP responses that queries with EDNS offer.
  static constexpr std::uint16_t kUdpBytesMax = 1232;
  /// What the answers SERVFAIL, NOTIMP and REFUSED lead to.
  enum class Failures : std::uint8_t {
    kAskNext,  ///< a query to the next server
    kReport,   ///< the end of the query: they are its response
  };

  /// Queries `servers`, or those of resolv.conf(5), except `own`. Errors: no_servers,
  /// not_enough_memory.
  static Result<std::shared_ptr<CaresChannel>> create(boost::asio::io_context& context,
                                                      const Endpoints& servers,
                                                      const Endpoints& own,
                                                      std::chrono::milliseconds try_timeout,
                                                      Failures failures);
  ~CaresChannel();
  CaresChannel(const CaresChannel&) = delete;
  CaresChannel& operator=(const CaresChannel&) = delete;

  /// Sends a query; its id should be random. `done` is called exactly once, maybe before this
  /// returns, at the latest by stop().
  void send(std::span<const std::uint8_t> query, Done done);

  /// Cancels all pending queries: every `done` is called with ARES_ECANCELLED.
  void cancel();

  /// Ends everything: every pending `done` is called with ARES_EDESTRUCTION. Idempotent.
  void stop();

 private:
  /// A watched socket of c-ares. Handlers hold it, and check `open` first.
  struct Watched {
    boost::asio::posix::stream_descriptor descriptor;
    bool wants_read = false;
    bool wants_write = false;
    bool reading = false;
    bool writing = false;
    bool open = true;
  };

  explicit CaresChannel(boost::asio::io_context& context);
  Result<void> set_servers(Endpoints servers, const Endpoints& own);
  Result<Endpoints> servers() const;
  void on_socket(ares_socket_t socket, bool read, bool write);
  void watch(ares_socket_t socket, const std::shared_ptr<Watched>& watched);
  void process(ares_socket_t read, ares_socket_t write);
  void set_timer();

  boost::asio::io_context& context_;
  boost::asio::steady_timer timer_;
  ares_channel channel_ = nullptr;
  std::map<ares_socket_t, std::shared_ptr<Watched>> watched_;
};

}  // namespace reprise::dns
