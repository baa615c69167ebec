#pragma once

// HTTP/3 (RFC 9114) by nghttp3, the server's side: the streams of one QUIC connection.

#include <nghttp3/nghttp3.h>

#include <array>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "proxy/http/h3/h3_server_stream.h"
#include "proxy/quic/library_assertion.h"
#include "proxy/quic/quic_connection.h"
#include "proxy/quic/recycled_memory.h"

namespace reprise {

struct H3ServerOptions {
  std::uint32_t concurrent_streams_max = 256;  ///< as the QUIC connection permits
  std::chrono::seconds head_timeout{30};       ///< from the first byte of a head to its end
  std::chrono::seconds stall_timeout{120};     ///< for a stream that waits for its client
  /// The hosts that tell clients that their port serves HTTP/3 (Alt-Svc, RFC 7838), in each
  /// response that has no such field; null: every host. Chromium sends images with their priorities
  /// only to origins of which it knows that.
  std::shared_ptr<const std::set<std::string, std::less<>>> alt_svc_hosts;
};

/// Passes bytes between a QUIC connection and its requests: framing, QPACK, priorities, limits. A
/// derived class serves the requests. One thread.
class H3Session : public QuicApplication, public H3Streams {
 public:
  /// Asks for the chain to show to a client of that server name. Also called, and its answer not
  /// shown, when the client resumed a session. Null refuses the client.
  using ChainFor = std::function<std::shared_ptr<const GnutlsChain>(const std::string&)>;

  ~H3Session() override;

  /// The connection, which lives until ended(); before anything else.
  void attach(QuicConnection& connection, ChainFor chain_for);
  /// Accepts no new requests; the connection ends once the running ones are finished.
  void begin_ending();
  /// Ends the connection with all requests.
  void close();
  /// Ends requests that the client leaves unfinished. Call it about once a second.
  void sweep(std::chrono::steady_clock::time_point now);

  std::shared_ptr<const GnutlsChain> chain_for(const std::string& server_name) override;
  void begin() override;
  void on_handshake(const std::string& server_name) override;
  void received(std::int64_t stream, Bytes bytes, bool ends) override;
  void acknowledged(std::int64_t id, std::uint64_t size_bytes) override;
  void closed(std::int64_t id, std::uint64_t code) override;
  void was_reset(std::int64_t id, std::uint64_t code) override;
  void permitted(std::uint64_t streams) override;
  void on_batch() override;
  Outgoing next_to_send() override;
  void sent(std::int64_t id, std::size_t size_bytes) override;
  void blocked(std::int64_t stream) override;
  void unblocked(std::int64_t stream) override;
  void shut(std::int64_t stream) override;
  void ended(std::error_code why) override;

 protected:
  explicit H3Session(const H3ServerOptions& options) : options_(options) {}

  /// A request whose head is complete.
  virtual void serve(H3ServerStream& stream) = 0;
  /// The connection is over; the streams are closed.
  virtual void on_over(std::error_code why) = 0;
  /// The derived class no longer uses it.
  void release(H3ServerStream& stream);
  /// The stream's head is read: the next one gets its memory.
  void drop_head(H3ServerStream& stream) {
    if (spare_heads_.size() == kSpareHeadsMax) return;
    stream.head.clear();
    spare_heads_.push_back(std::move(stream.head));
  }

  // H3Streams.
  nghttp3_conn* raw() const override { return http_.get(); }
  void wake() override {
    if (quic_ != nullptr) quic_->wake();
  }
  void extend(std::int64_t stream, bool open, std::uint64_t size_bytes) override;
  void reset_soon(std::int64_t stream, std::uint64_t code) override;
  void abandon() override {
    if (quic_ != nullptr) quic_->abandon();
  }

  const H3ServerOptions& options() const { return options_; }

 private:
  struct Callbacks;
  struct Deleter {
    void operator()(nghttp3_conn* connection) const {
      (void)survives_assertions([connection] { nghttp3_conn_del(connection); });
    }
  };
  /// Pieces that a packet may be made of.
  static constexpr std::size_t kPiecesMax = 16;
  static constexpr std::size_t kSpareHeadsMax = 64;  ///< a datagram brings some 40 requests

  H3ServerStream* stream_at(std::int64_t id) const;
  void break_off(int library_code);
  void on_begin_head(std::int64_t id);
  int on_field(H3ServerStream& stream, H2Head& part, std::string_view name, std::string_view value);
  void dropped(H3ServerStream& stream);
  void retire_if_done(H3ServerStream& stream);
  void retire(std::int64_t id);
  void sweep_streams(std::chrono::steady_clock::time_point now);
  /// Runs `work`, which calls the libraries from outside the connection's own calls.
  template <class Work>
  void guard(const Work& work) {
    if (!survives_assertions(work)) abandon();
  }
  void end_if_done();

  H3ServerOptions const options_;
  /// Since the start of the connection, as the client knows.
  std::uint64_t streams_permitted_ = options_.concurrent_streams_max;
  QuicConnection* quic_ = nullptr;  // null before and after its life
  ChainFor chain_for_;
  std::unique_ptr<nghttp3_conn, Deleter> http_;
  using Streams = std::unordered_map<
      std::int64_t, std::unique_ptr<H3ServerStream>, std::hash<std::int64_t>, std::equal_to<>,
      RecyclingAllocator<std::pair<const std::int64_t, std::unique_ptr<H3ServerStream>>>>;
  Streams streams_;
  std::vector<H2Head> spare_heads_;  // empty, with their memory
  std::vector<std::int64_t> ready_;  // their heads are complete
  std::vector<std::int64_t> gone_;   // closed, dropped by nghttp3 and not used
  std::vector<std::pair<std::int64_t, std::uint64_t>> resets_;
  std::array<nghttp3_vec, kPiecesMax> pieces_{};
  std::array<ngtcp2_vec, kPiecesMax> vectors_{};
  /// A stream whose end alone was offered to QUIC, and not taken: nghttp3 0.8 forgets it if all
  /// content is acknowledged meanwhile. -1: none.
  std::int64_t bare_end_ = -1;
  std::size_t heads_bytes_ = 0;
  bool knows_name_ = false;
  bool failed_ = false;  // nghttp3 cannot be called any more
  bool ending_ = false;
  bool shut_down_ = false;  // the second step of an ending
};

}  // namespace reprise
