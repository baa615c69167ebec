#pragma once

// The output of converters: the part of ArchiveWriter (archive/writer.h) that they use. Tests and
// fuzz targets replace it.

#include <memory>
#include <span>

#include "archive/exchange.h"
#include "archive/writer.h"
#include "base/result.h"

namespace reprise::importing {

/// Stores one body that arrives in pieces. Must not outlive its sink.
class BodySink {
 public:
  virtual ~BodySink() = default;
  virtual Result<void> append(std::span<const std::byte> bytes) = 0;
  virtual Result<StoredBody> finish() = 0;
};

class ExchangeSink {
 public:
  virtual ~ExchangeSink() = default;
  /// Called once, before all others.
  virtual Result<void> begin_session(const SessionInfo& info) = 0;
  virtual std::unique_ptr<BodySink> open_body() = 0;
  virtual Result<void> add_connection(ConnectionFacts facts) = 0;
  virtual Result<void> add_exchange(Exchange exchange) = 0;
  /// Call it after the exchange with that number.
  virtual Result<void> add_message(std::uint64_t sequence, const WebSocketMessage& message) = 0;
};

/// Writes to an archive. The writer must outlive it.
class ArchiveSink final : public ExchangeSink {
 public:
  explicit ArchiveSink(ArchiveWriter& archive) : archive_(archive) {}
  Result<void> begin_session(const SessionInfo& info) override;
  std::unique_ptr<BodySink> open_body() override;
  Result<void> add_connection(ConnectionFacts facts) override;
  Result<void> add_exchange(Exchange exchange) override;
  Result<void> add_message(std::uint64_t sequence, const WebSocketMessage& message) override;

 private:
  ArchiveWriter& archive_;
};

}  // namespace reprise::importing
