#pragma once

// What a response gets of a trace: header fields (analysis/trench/TRENCH.md), or a URL where it can
// be fetched for a minute.

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emitters/cpp/trench.h"
#include "emitters/cpp/trench_json.h"

namespace trench {

/// In requests and in responses.
inline constexpr std::string_view kField = "Banky-Trace";
/// Of all trace fields of a response, with names and line ends.
inline constexpr std::size_t kFieldBytesMax = 8192;

/// Which requests are traced, by the environment variable BANKY_TRACE: none unless it is set.
class Asking {
 public:
  /// "on": all. "ask:KEY": those with the field `Banky-Trace: KEY`, where KEY has at least 16
  /// characters. Anything else: none.
  explicit Asking(std::string_view setting) : all_(setting == "on") {
    constexpr std::string_view kAsk = "ask:";
    if (setting.starts_with(kAsk) && setting.size() >= kAsk.size() + 16) {
      key_ = setting.substr(kAsk.size());
    }
  }
  static Asking by_environment() {
    const char* const setting = std::getenv("BANKY_TRACE");
    return Asking(setting == nullptr ? std::string_view() : setting);
  }

  /// `asked` is the request's Banky-Trace field, empty if it has none.
  bool traces(std::string_view asked) const {
    if (all_) return true;
    if (key_.empty() || asked.size() != key_.size()) return false;
    unsigned different = 0;  // in a time that does not depend on where they differ
    for (std::size_t i = 0; i < key_.size(); ++i) {
      different |= static_cast<unsigned char>(asked[i] ^ key_[i]);
    }
    return different == 0;
  }

 private:
  bool all_;
  std::string key_;
};

/// Traces that are too long for header fields. Any thread may use it.
class Store {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kKept{60};
  static constexpr std::size_t kTracesMax = 64;
  static constexpr std::size_t kBytesMax = std::size_t{32} << 20;
  static constexpr std::string_view kPath = "/banky-trace/";  ///< then 32 hexadecimal digits

  /// Returns the path of its URL. Beyond a limit, the oldest are dropped.
  std::string keep(std::string json, Clock::time_point now = Clock::now()) {
    std::lock_guard const lock(mutex_);
    std::random_device random;
    std::string path(kPath);
    for (int i = 0; i < 4; ++i) {
      std::array<char, 9> digits;
      std::snprintf(digits.data(), digits.size(), "%08x", static_cast<unsigned>(random()));
      path += digits.data();
    }
    bytes_ += json.size();
    kept_.push_back({path, std::move(json), now + kKept});
    drop(now);
    return path;
  }

  /// The JSON for a GET of this path: application/json, Cache-Control: no-store.
  std::optional<std::string> find(std::string_view path, Clock::time_point now = Clock::now()) {
    std::lock_guard const lock(mutex_);
    drop(now);
    for (auto const& trace : kept_) {
      if (trace.path == path) return trace.json;
    }
    return std::nullopt;
  }

 private:
  struct Kept {
    std::string path, json;
    Clock::time_point until;
  };

  void drop(Clock::time_point now) {
    while (!kept_.empty() &&
           (kept_.front().until <= now || kept_.size() > kTracesMax || bytes_ > kBytesMax)) {
      bytes_ -= kept_.front().json.size();
      kept_.pop_front();
    }
  }

  std::mutex mutex_;
  std::deque<Kept> kept_;
  std::size_t bytes_ = 0;
};

/// The values of the Banky-Trace fields that carry this JSON.
inline std::vector<std::string> field_values(std::string_view json) {
  constexpr std::size_t kLine = 76;
  auto const text = base64_of(json);
  auto const lines = (text.size() + kLine - 1) / kLine;
  std::vector<std::string> values;
  values.push_back("base64lines=" + std::to_string(lines) + "; base64bytes=" +
                   std::to_string(text.size()) + "; jsoncrc32=" + std::to_string(crc32_of(json)) +
                   "; jsonbytes=" + std::to_string(json.size()));
  for (std::size_t i = 0; i < lines; ++i) {
    values.push_back(std::to_string(i) + "=" + text.substr(i * kLine, kLine));
  }
  return values;
}

/// The values of the Banky-Trace fields of a response that is about to be sent: the trace up to
/// now; or its URL in `store` if that would be more than kFieldBytesMax.
inline std::vector<std::string> response_values(const Trace& trace, Store& store) {
  auto json = json_of(trace.content());
  if (json.size() < kFieldBytesMax) {  // no need to encode what cannot fit
    auto values = field_values(json);
    std::size_t bytes = 0;
    for (auto const& value : values) bytes += kField.size() + value.size() + 4;
    if (bytes <= kFieldBytesMax) return values;
  }
  return {"url=" + store.keep(std::move(json))};
}

}  // namespace trench
