#pragma once

#include <sys/epoll.h>

#include <boost/asio/ip/tcp.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/system/descriptor.h"
#include "shaper/packet/lateness.h"
#include "shaper/packet/network/shell_error.h"
#include "shaper/stream/stream_questions.h"
#include "shaper/stream/stream_relay.h"

namespace reprise {

/// A client's connection that has crossed the link, for the proxy to serve.
struct StreamArrival {
  std::size_t listener;  ///< the index in StreamShellOptions::listeners
  Descriptor socket;     ///< a connected AF_UNIX stream socket, non-blocking
  boost::asio::ip::tcp::endpoint client;
  boost::asio::ip::tcp::endpoint destination;  ///< requested by the client
  /// Set it before closing the socket if the client must not take its data as complete: a socket of
  /// this kind cannot send a reset.
  std::shared_ptr<std::atomic<bool>> aborted;
};

struct StreamShellOptions {
  LinkProfile profile;
  std::uint64_t seed = 0;
  /// Listening TCP sockets for clients.
  std::vector<Descriptor> listeners;
  /// UDP sockets for clients, non-blocking: each datagram is a DNS query.
  std::vector<Descriptor> question_sockets;
  /// Called on the shell's thread, for each client at the end of the server's handshake.
  std::function<void(StreamArrival)> hand_over;
  /// Called on the shell's thread, for each DNS query that has crossed the link. Answer it by
  /// StreamShell::answer(), after this call.
  std::function<void(StreamQuestion)> ask;
};

/// The results of a stream shell.
struct StreamReport {
  LinkCounters down;
  LinkCounters up;
  LatenessHistogram::Summary lateness;  ///< of the model's events
  std::uint64_t connections = 0;
  std::uint64_t broken = 0;  ///< of these, abandoned by the model after too many timeouts
  std::uint64_t questions = 0;
};

/// Sits between clients and a proxy in the same process, and lets their bytes pass as fast as TCP
/// over the link would (StreamNetwork): a link for users who may not create networks. Runs in its
/// own thread. The kernel's own handshake with the client is instant; the model's handshake delays
/// the client's data after it, so the first answer has the right delay.
class StreamShell {
 public:
  /// Starts the link and accepts connections. Needs neither socket(2) nor connect(2).
  /// Errors: epoll's, timerfd's.
  static ShellResult<std::unique_ptr<StreamShell>> start(StreamShellOptions options);
  /// Stops.
  ~StreamShell();

  /// The answer to a DNS query, which crosses the link in turn; empty for no answer, which must be
  /// reported, too. Any thread.
  void answer(std::uint64_t question, std::vector<std::byte> bytes);

  /// Accepts no more connections and answers no more queries. Idempotent.
  void close_listeners();
  /// How long stop() waits for running transfers.
  static constexpr std::chrono::seconds kEndingTime{5};
  /// After the proxy has closed its ends: delivers its remaining data, and joins the thread. Waits
  /// at most kEndingTime; then the rest is cut off. Idempotent.
  void stop();

  /// At any time.
  StreamReport report() const;

 private:
  using Time = StreamNetwork::Time;
  struct Client {
    std::unique_ptr<StreamRelay> relay;
    std::size_t listener;
  };

  StreamShell(StreamShellOptions options, Time start);
  ShellResult<void> open_events();
  bool watch(int fd, std::uint64_t what, std::uint32_t how);
  bool watch_listeners();
  void let_clients_go();
  void wake();
  void run();
  void on_ready(const epoll_event& event);
  void accept(std::size_t listener);
  void pause_accepting();
  void connect_proxy(std::uint64_t id, const Client& client);
  bool step();
  void tell(const StreamEvent& event);
  void pump_touched();
  bool has_ended(Time now);
  void set_timer();

  StreamShellOptions options_;
  Descriptor events_;
  Descriptor timer_;
  Descriptor wake_;
  std::atomic<bool> closing_ = false;
  std::atomic<bool> stopping_ = false;
  LatenessHistogram lateness_;

  mutable std::mutex mutex_;  // protects the following members, for report()
  StreamNetwork network_;
  StreamQuestions questions_{network_};
  std::unordered_map<std::uint64_t, Client> clients_;
  std::uint64_t connections_ = 0;
  std::uint64_t broken_ = 0;

  std::vector<std::uint64_t> touched_;  // to be pumped
  std::vector<StreamEvent> told_;
  std::vector<std::uint64_t> waiting_;  // for their clients, before they reset them
  std::optional<Time> look_again_;      // at these
  std::optional<Time> accept_again_;    // after running out of descriptors
  std::optional<Time> ends_at_;         // at the latest

  std::thread thread_;
};

}  // namespace reprise
