#pragma once

// What servers record about their work, whatever tracer wrote it: spans. Plain values.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/calls/call.h"

namespace reprise {

/// One operation of one service. Times are in ns since the epoch by the clock of its host,
/// 0 <= start_ns <= end_ns <= kTimeNsMax.
struct Span {
  static constexpr std::int64_t kTimeNsMax = 4'000'000'000'000'000'000;  ///< in the year 2096
  static constexpr std::size_t kAttributesMax = 128;
  static constexpr std::size_t kTextBytesMax = 4096;
  /// Some tracers round times to whole ms: a difference up to this says nothing.
  static constexpr std::int64_t kGrainNs = 1'000'000;

  std::string trace_id;   ///< 32 lower-case hexadecimal digits
  std::string span_id;    ///< 16 of them, unique in the trace
  std::string parent_id;  ///< empty for a root
  std::string name;
  std::string kind;  ///< "server", "client", "internal", "producer", "consumer", or empty
  std::string service;
  std::string host;   ///< whose clock it is; the service's name if unknown
  std::string place;  ///< the data center; empty if unknown
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  bool failed = false;  ///< its tracer says that it did not do what it was asked for
  std::vector<Attribute> attributes;

  /// The value of an attribute; empty if the span does not have it.
  std::string_view attribute(std::string_view attribute_name) const;
  /// Of the first of these attributes that it has.
  std::string_view first_of(std::initializer_list<std::string_view> names) const;
};

/// Its name; with its route ("GET /cart/{id}"), or with its path if it is called by its method
/// alone.
std::string endpoint_of(const Span& span);

/// What a server was asked for, as far as the span knows it.
struct SpanUrl {
  std::string host;    ///< lower case, no port, no brackets; empty if unknown
  std::string target;  ///< path and query; empty if unknown
  bool has_query = false;
};
SpanUrl url_of(const Span& span);
/// The same of a URL.
SpanUrl split_span_url(std::string_view url);

struct SpanSet {
  static constexpr std::size_t kSpansMax = 1'000'000;
  /// Of all spans: in a file, the texts of a resource stand once for many spans.
  static constexpr std::size_t kAllTextBytesMax = std::size_t{1} << 30;

  std::vector<Span> spans;     ///< in any order
  std::size_t text_bytes = 0;  ///< of those that add() has taken
  std::vector<CallLoss> losses;

  void lose(std::string_view what, std::uint64_t count = 1) { add_loss(losses, what, count); }
  /// Cuts a text to Span::kTextBytesMax, which is a loss.
  void limit(std::string& text);
  /// Adds an untrusted span, if its ids and times are valid and there is room; each change and each
  /// refusal is a loss. Ids are made lower-case, and trace ids of 16 digits longer.
  void add(Span span);
  /// Adds all of `other`, up to the same limits.
  void add(SpanSet other);

 private:
  /// Adds a valid span, if there is room.
  void keep(Span span);
};

}  // namespace reprise
