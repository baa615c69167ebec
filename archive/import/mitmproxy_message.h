#pragma once

#include <span>
#include <string>
#include <string_view>

#include "archive/import/collect/collector.h"
#include "archive/import/source/tnetstring.h"

namespace reprise::importing {

/// The longest text read from a flow, except bodies.
inline constexpr std::size_t kFlowTextBytesMax = 1 << 20;

/// The request or the response of a flow.
struct FlowMessage {
  std::string first_line_version;  ///< "HTTP/1.1", or "1:1#1:1#" in the oldest versions
  Fields fields;
  FoundBody body;
  UnixTime start;
  UnixTime end;
  std::string method, scheme, host, path, authority;
  bool is_path_cut = false;  ///< only its beginning was read
  std::uint16_t port = 0;
  std::uint16_t status = 0;
  std::string reason;
  bool is_there = false;
  bool lacks_part = false;  ///< a member that each message of HTTP has
};

/// A member of a message, by its names in the versions of the format.
struct FlowPart {
  std::string_view name;
  std::string_view old_name;
};
/// The members of each message.
inline constexpr FlowPart kRequestParts[] = {{"method", ""}, {"scheme", ""}, {"host", ""},
                                             {"port", ""},   {"path", ""},   {"headers", ""}};
inline constexpr FlowPart kResponseParts[] = {
    {"status_code", "code"}, {"reason", "msg"}, {"headers", ""}};

/// The next value as text; empty for null. Empty, with a remark, if it is longer than
/// kFlowTextBytesMax.
std::string read_flow_text(TnetReader& tnet, ImportReport& report);

/// Reads the next value, a message or null. `parts` are the members that each has; a message of
/// another protocol does not.
FlowMessage read_flow_message(TnetReader& tnet, Collector& collector,
                              std::span<const FlowPart> parts);

/// Whether the request had a body that was not kept. Its content is then null, in old versions also
/// without a body.
bool lacks_body(const FlowMessage& request);

UnixTime parse_flow_time(const std::string& text);
std::uint16_t parse_flow_number(const std::string& text);

}  // namespace reprise::importing
