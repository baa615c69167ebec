#pragma once

// Makes exchanges from WARC and ARC records: pairs requests with responses, and finds the bodies
// that records refer to. Lives as long as the import, since the parts may be in different files.

#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "archive/import/collect/collector.h"

namespace reprise::importing {

/// A request or response record: its data besides the HTTP message.
struct Capture {
  std::string id;
  std::vector<std::string> concurrent;  ///< ids of records of the same exchange
  std::string uri;
  UnixTime date;
  std::uint64_t order = 0;  ///< order of the records; set by Captures
};

/// Where the body of a revisit is.
struct Referral {
  std::string uri;
  std::string date;
  std::string digest;
};

class Captures {
 public:
  explicit Captures(Collector& collector) : collector_(collector) {}

  /// `draft` has one side; its URL is that of `capture`.
  void add_request(Capture capture, ExchangeDraft draft);
  void add_response(Capture capture, ExchangeDraft draft);
  /// Adds a response whose body is elsewhere, and its head, too, if it has none.
  void add_revisit(Capture capture, ExchangeDraft draft, Referral referral);
  /// Registers a response that revisits can refer to, by any of these.
  void remember(const Referral& place, const ExchangeDraft& draft);

  /// Adds what still waits, incomplete: at the end of a file for pairs, of the import for revisits.
  void end_file();
  void end_import();

 private:
  static constexpr std::size_t kWaitingMax = 256;
  static constexpr std::size_t kRevisitsMax = 65'536;
  static constexpr std::size_t kWaitingBytesMax = 128 << 20;
  static constexpr std::size_t kRememberedBytesMax = 128 << 20;

  struct Waiting {
    Capture capture;
    ExchangeDraft draft;
    std::optional<Referral> referral;
    std::size_t memory_bytes() const;
  };
  using Queue = std::deque<Waiting>;
  /// The data that a revisit copies.
  struct Original {
    std::string digest;  ///< as its record says
    std::uint16_t status = 0;
    std::string reason;
    HttpVersion version = HttpVersion::kUnknown;
    Fields fields;
    FoundBody body;
    Outcome outcome = Outcome::kComplete;
    std::string failure;
  };

  void wait(Queue& queue, Waiting half);
  Waiting take(Queue& queue, Queue::iterator at);
  void limit_waiting();
  Queue::iterator find_partner(Queue& queue, const Capture& capture, bool was_last);
  static Queue::iterator find_neighbour(Queue& queue, const Capture& capture);
  void add_answer(Waiting response);
  void let_go_of_request();
  void let_go_of_response();
  void pair(Waiting request, Waiting response);
  void leave(Waiting response);
  void complete(Waiting exchange);
  const Original* find_original(const Referral& referral) const;
  void take_over(const Original& original, ExchangeDraft& draft);

  Collector& collector_;
  Queue requests_;
  Queue responses_;
  std::size_t waiting_bytes_ = 0;  ///< of both
  enum class Last : std::uint8_t { kNone, kRequest, kResponse } last_ = Last::kNone;
  std::uint64_t records_ = 0;
  std::unordered_map<std::string, std::size_t> places_;
  std::vector<Original> originals_;
  std::size_t remembered_bytes_ = 0;
  std::deque<Waiting> revisits_;
  std::size_t revisit_bytes_ = 0;
};

}  // namespace reprise::importing
