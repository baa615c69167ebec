#pragma once

// The data of the page of `reprise view`, as JSON: view/page/MODEL.md.

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/calls/call.h"
#include "analysis/dependency/dependency_graph.h"
#include "analysis/trench/trench_trace.h"
#include "base/http/headers.h"
#include "view/redaction.h"

namespace reprise {

/// An unknown number.
inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// One request of a load, or one recorded exchange. Texts may be any bytes and are borrowed. Times
/// are milliseconds since the start of the load.
struct ViewRequest {
  std::string_view url, method, type, protocol, address, connection, mime_type, priority, initiator,
      failure;
  double number = kUnknown;  ///< of the exchange, as in `archive ls`
  double status = 0;
  bool from_cache = false;
  double encoded_bytes = kUnknown;
  double decoded_bytes = kUnknown;
  double start_ms = kUnknown;
  double dns_start_ms = kUnknown;
  double dns_end_ms = kUnknown;
  double connect_start_ms = kUnknown;
  double tls_start_ms = kUnknown;
  double connect_end_ms = kUnknown;
  double send_start_ms = kUnknown;
  double send_end_ms = kUnknown;
  double first_byte_ms = kUnknown;
  double end_ms = kUnknown;
};

/// The head of a message: "GET /path h2" or "h2 200", and its fields. Borrows.
struct ViewHead {
  std::string line;
  HeaderList fields;
};

/// What was seen of a page at a time: a JPEG, borrowed, and how complete it is, in per cent.
struct ViewFrame {
  double at_ms = 0;
  int percent = 0;
  std::string_view jpeg;
};

/// How much of each a page shows at most, so that a browser can still show it.
struct ViewLimits {
  std::size_t requests = 200'000;
  std::size_t text_bytes = std::size_t{64} << 20;
  std::size_t trace_bytes = std::size_t{32} << 20;
  std::size_t head_bytes = std::size_t{32} << 20;
  std::size_t frame_bytes = std::size_t{32} << 20;
};

/// Collects inputs and their loads and returns the model's text. What is beyond a limit is only
/// counted.
class ViewModel {
 public:
  /// Hides what `redaction` finds in texts of pages; null: shows everything. Borrows it.
  explicit ViewModel(Redaction* redaction = nullptr, const ViewLimits& limits = {})
      : redaction_(redaction), limits_(limits) {}

  /// The address of the page of `reprise explain`, for a link to it.
  void link_explanation(std::string address) { explanation_ = std::move(address); }
  /// The verdict about the two results of the page: `comparison` in MODEL.md.
  void add_comparison(const boost::json::object& comparison);
  /// `facts`: the fields of an input in MODEL.md. Call it before its loads.
  void add_input(const boost::json::object& facts);
  /// `facts`: the fields of a load in MODEL.md that are known now; the load event among its metrics
  /// is where the critical chain ends. Call it before its requests.
  void begin_load(const boost::json::object& facts);
  void add_request(const ViewRequest& request);
  /// What the requests of the loads from now on wait for; null: unknown. Borrows it.
  void use_dependencies(const DependencyGraph* graph) { graph_ = graph; }
  /// Shows no heads from now on.
  void leave_out_heads() { has_heads_ = false; }
  /// The heads of the request that was added last.
  void add_heads(const ViewHead& request, const ViewHead& response);
  /// What the server did for the request that was added last.
  void add_trace(const TrenchTrace& trace);
  /// Why that cannot be shown.
  void add_trace_error(std::string_view why);
  /// The frames of the current load, in the order of time. If they do not all fit, the last one is
  /// kept, and those before the first that does not fit beside it.
  void add_frames(std::span<const ViewFrame> frames);
  /// `facts`: the remaining fields.
  void end_load(const boost::json::object& facts = {});

  std::size_t loads() const { return loads_; }
  std::size_t requests() const { return requests_; }
  std::size_t requests_left_out() const { return left_out_; }

  /// The whole model, safe inside a script element: of text that a page chose, only plain
  /// characters are unescaped. Ends this object.
  std::string text() &&;

 private:
  std::size_t text_number(std::string_view text);
  std::string hidden(std::string_view text) const;
  boost::json::object hidden(const boost::json::object& facts) const;
  void append_head(const ViewHead& head, std::string& json);
  /// Returns whether it fits.
  bool add_trace_json(std::string_view json);
  void append_frame(const ViewFrame& frame);
  void add_to_chain(const ViewRequest& request);
  boost::json::array chain();

  Redaction* redaction_;
  ViewLimits limits_;
  const DependencyGraph* graph_ = nullptr;
  bool has_heads_ = true;
  std::string explanation_;
  std::string comparison_json_;
  std::string inputs_json_;
  std::string loads_json_;
  std::string texts_json_;
  std::unordered_map<std::string, std::size_t> text_numbers_;
  std::size_t text_bytes_ = 0;
  std::size_t inputs_ = 0;
  std::size_t loads_ = 0;
  std::size_t requests_ = 0;
  CallTree load_;                    ///< requests of the current load that have a start
  std::vector<std::size_t> rows_;    ///< of those calls
  std::size_t load_requests_ = 0;    ///< of the current load
  std::string traces_json_;          ///< of the current load
  std::size_t trace_bytes_ = 0;      ///< of all loads
  std::size_t traces_left_out_ = 0;  ///< of the current load
  bool traces_are_full_ = false;     ///< one did not fit
  std::string heads_json_;           ///< of the current load
  std::size_t head_bytes_ = 0;       ///< of all loads
  std::size_t heads_left_out_ = 0;   ///< of the current load
  std::string frames_json_;          ///< of the current load
  std::size_t frame_bytes_ = 0;      ///< of all loads
  std::size_t frames_left_out_ = 0;  ///< of the current load
  bool last_is_shown_ = false;       ///< the last request is in the model
  std::size_t load_left_out_ = 0;
  std::size_t left_out_ = 0;
};

/// Escapes JSON so that its strings cannot end a script element, begin a comment in it, or change
/// the direction of text. It parses as the same JSON. Pure.
std::string script_safe(std::string_view json);

}  // namespace reprise
