#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "proxy/http/handler.h"

namespace reprise {

/// Writes down what it is told to do. Nothing that it waits for takes any time: what is due in
/// hours is due when it was waited for.
class WrittenLog final : public ResponseWriter {
 public:
  using Time = std::chrono::steady_clock::time_point;
  explicit WrittenLog(Time start) : start_(start) {}

  Task<void> send_head(const ResponseHead& head) override {
    lines.push_back("head " + std::to_string(head.status));
    head_sent_ = head.status >= 200;
    co_return Result<void>{};
  }
  Task<void> write(Bytes bytes) override {
    if (!bytes.empty()) lines.emplace_back(text_of(bytes));
    co_return Result<void>{};
  }
  Task<void> finish(HeaderList) override {
    lines.emplace_back("end");
    co_return Result<void>{};
  }
  Task<void> send_stored(StoredResponsePtr response) override {
    lines.push_back("all of " + std::to_string(response->parts().body.bytes.size()));
    co_return Result<void>{};
  }
  Task<void> pause_until(Time at) override {
    auto const hours_on = std::chrono::round<std::chrono::minutes>(at - start_).count() / 60;
    lines.push_back("until " + std::to_string(hours_on) + " h");
    ++timers;
    due.push_back(at);
    if (timers == gone_at_timer) {
      co_return fail(std::make_error_code(std::errc::connection_aborted));
    }
    co_return Result<void>{};
  }
  bool head_sent() const override { return head_sent_; }
  awaitable<void> client_gone() override { co_return; }

  std::vector<std::string> lines;
  std::size_t timers = 0;
  std::vector<Time> due;  // of the timers
  std::size_t gone_at_timer = 0;

 private:
  Time start_;
  bool head_sent_ = false;
};

/// A request without content.
class NoBody final : public BodyReader {
 public:
  Task<Bytes> read() override { co_return Bytes(); }
  bool finished() const override { return true; }
  HeaderList trailers() const override { return {}; }
};

}  // namespace reprise
