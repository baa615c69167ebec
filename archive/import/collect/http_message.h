#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "archive/import/collect/collector.h"

namespace reprise::importing {

/// An HTTP message that arrives in pieces, head first: the head is held (up to kHeadBytesMax), the
/// body passes on to the archive. Errors of the archive end the import; the message is then
/// invalid.
class HttpMessage {
 public:
  static constexpr std::size_t kHeadBytesMax = 1 << 20;
  enum class Kind : std::uint8_t { kRequest, kResponse };

  HttpMessage(Collector& collector, Kind kind) : collector_(collector), kind_(kind) {}

  /// Before append(): the message, head included, has that many bytes, and was not cut.
  void expect(std::uint64_t size_bytes) { expected_bytes_ = size_bytes; }
  void append(std::string_view bytes);
  /// Ends the message; `is_cut`: the recording has only its beginning. False if it had no head; see
  /// problem().
  bool finish(bool is_cut = false);

  /// After finish(): moves the message into its half of `draft`.
  void take_request(ExchangeDraft& draft);
  void take_response(ExchangeDraft& draft);

  const RequestLine& request() const { return request_; }
  const StatusLine& status() const { return status_; }
  const Fields& fields() const { return fields_; }
  /// Why this is not an HTTP message, as a clause; empty if it is.
  const std::string& problem() const { return problem_; }

 private:
  void take_heads(bool is_all);
  bool take_head(std::string_view text);

  Collector& collector_;
  Kind kind_;
  std::optional<std::uint64_t> expected_bytes_;
  std::uint64_t head_bytes_ = 0;  ///< of all heads
  std::string held_;
  std::size_t searched_ = 0;
  bool has_head_ = false;  ///< the one in fields_, which may still be an interim one
  std::string problem_;
  RequestLine request_;
  StatusLine status_;
  Fields fields_;
  std::vector<StoredInterimResponse> interim_;
  std::optional<BodyFeed> feed_;
  FoundBody body_;
};

}  // namespace reprise::importing
