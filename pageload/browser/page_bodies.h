#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <optional>
#include <string>

#include "pageload/browser/browser.h"
#include "pageload/browser/page_record.h"
#include "pageload/browser/remote_connection.h"

namespace reprise {

/// Larger bodies are not read back from the browser: a byte can need six in the message that
/// carries it, and messages are limited.
inline constexpr std::int64_t kReadBackBytesMax = 40 << 20;

/// How to request one body from a browser, and how to read its answer: nullopt if that has no body.
struct BodyQuestion {
  std::function<RemoteCommand(const PageRecord::BodyName&)> command;
  std::function<std::optional<std::string>(const boost::json::object& result)> answer;
};

struct BodyQuestions {
  BodyQuestion response;
  BodyQuestion request;
};

/// Requests every body in `record` from the browser and stores the digests in `load`, which must
/// come from that record. A remark counts the bodies that the browser no longer has. Errors: those
/// of RemoteConnection except timed_out, which is a remark, too.
Result<void> read_bodies(RemoteConnection& connection, const PageRecord& record,
                         const BodyQuestions& questions, RemoteConnection::TimePoint deadline,
                         PageLoad& load);

}  // namespace reprise
