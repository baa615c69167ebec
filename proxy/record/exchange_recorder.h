#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "archive/writer.h"
#include "proxy/http/handler.h"
#include "proxy/record/chunk_times.h"
#include "proxy/record/record_session.h"

namespace reprise {

/// Collects one exchange in transit and archives it at its end, whatever the end is. An exchange
/// without an end is archived as cut by the client.
class ExchangeRecorder {
 public:
  static constexpr std::size_t kInterimMax = 100;
  /// The limit of origin_failed(): a client may not send more before it has its response.
  static constexpr std::chrono::seconds kRestTime{2};

  /// `body`: the request's content, which must outlive this.
  ExchangeRecorder(RecordSession& session, const ExchangeContext& context, const RequestHead& head,
                   BodyReader& body);
  ~ExchangeRecorder();
  ExchangeRecorder(const ExchangeRecorder&) = delete;
  ExchangeRecorder& operator=(const ExchangeRecorder&) = delete;

  /// Its numbers in the archive, once it is there.
  MessageOwner archived_as() const { return archived_as_; }
  /// `connection` is null if none was attempted.
  void sent_over(KeptFacts connection);
  /// Adds content of the request; ignored after the end. Errors: the archive's. They have already
  /// stopped the recording (RecordSession::archive_failed()).
  Result<void> request_bytes(Bytes bytes);
  void request_sent(HeaderList trailers);
  void interim(const ResponseHead& head);
  /// `sent_at`: when the request was sent, if that was unknown until now.
  void response(const ResponseHead& head,
                std::optional<std::chrono::steady_clock::time_point> sent_at = std::nullopt);
  /// Adds content of the response. Errors: as those of request_bytes().
  Result<void> response_bytes(Bytes bytes);

  /// Archives it. When this returns without error, the whole exchange has passed write(2). Errors:
  /// as those of request_bytes(); but an exchange whose record is too large for the archive
  /// (archive_errc::too_large) is skipped with a warning, and the recording continues.
  Result<void> complete(HeaderList trailers);
  void fail_with(Outcome outcome, std::string why);
  /// Archives it as failed, with the content that no origin got: a replay compares it. The rest is
  /// read for at most kRestTime; no rest is read if the client waits for a 100.
  awaitable<void> origin_failed(const std::string& why);

 private:
  Task<void> read_rest();
  Result<void> end(Outcome outcome, std::string why, HeaderList trailers);
  Result<void> checked(Result<void> written);

  RecordSession& session_;
  BodyReader& body_;
  MessageOwner archived_as_;
  Exchange exchange_;
  KeptFacts connection_;  // that it refers to
  BodyWriter request_body_;
  BodyWriter response_body_;
  ChunkTimes chunk_times_;
  bool ended_ = false;
};

}  // namespace reprise
