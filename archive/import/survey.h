#pragma once

// Passes over a recording before the one that imports it.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "archive/import/collect/collector.h"
#include "archive/import/source/byte_source.h"

namespace reprise::importing {

/// A source that ends when the import is to stop, which is then the collector's fault.
class StoppableSource final : public ByteSource {
 public:
  /// `collector` must outlive it.
  StoppableSource(std::unique_ptr<ByteSource> from, Collector& collector)
      : from_(std::move(from)), collector_(collector) {}

  std::size_t read(std::span<char> into) override {
    if (collector_.failed() || collector_.is_stopped()) return 0;
    auto const got = from_->read(into);
    if (from_->fault()) fault_ = from_->fault();
    return got;
  }

 private:
  std::unique_ptr<ByteSource> from_;
  Collector& collector_;
};

/// The progress of an import that reads a file more than once: all passes together report its size.
class PassesProgress {
 public:
  using Progress = InputSource::Progress;

  /// `progress` can be empty; otherwise it must outlive this, and this the passes.
  PassesProgress(const Progress& progress, std::uint64_t size_bytes)
      : progress_(progress), size_bytes_(size_bytes), left_bytes_(size_bytes) {}

  /// For a pass before the last: reports half of what is left, less if it ends early.
  Progress survey() { return pass(left_bytes_ / 2); }
  /// For the last pass: reports the rest.
  Progress last() { return pass(left_bytes_); }

 private:
  Progress pass(std::uint64_t worth_bytes) {
    if (!progress_ || size_bytes_ == 0) return nullptr;
    return [this, worth_bytes, read = std::uint64_t{0},
            reported = std::uint64_t{0}](std::uint64_t bytes) mutable {
      read = std::min(read + bytes, size_bytes_);
      auto const part = static_cast<double>(read) / static_cast<double>(size_bytes_);
      auto const now = static_cast<std::uint64_t>(static_cast<double>(worth_bytes) * part);
      auto const more = now - std::exchange(reported, now);
      left_bytes_ -= more;
      progress_(more);
    };
  }

  const Progress& progress_;
  std::uint64_t size_bytes_;
  std::uint64_t left_bytes_;
};

}  // namespace reprise::importing
