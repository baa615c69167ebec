#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <optional>
#include <string>

#include "pageload/browser/browser.h"
#include "pageload/browser/page_record.h"
#include "pageload/browser/remote_connection.h"

namespace reprise {

/// A body larger than this is not read back from the browser: a byte of it may take six in the
/// message that carries it, and messages are bounded.
inline constexpr std::int64_t kReadBackBytesMax = 40 << 20;

/// How a browser is asked for one body, and what it answers: nullopt when that is none.
struct BodyQuestion {
  std::function<RemoteCommand(const PageRecord::BodyName&)> command;
  std::function<std::optional<std::string>(const boost::json::object& result)> answer;
};

struct BodyQuestions {
  BodyQuestion response;
  BodyQuestion request;
};

/// Asks the browser for every body that `record` knows of and puts the digests into `load`, which
/// came from that record. What the browser no longer has is counted in a remark.
/// Errors: those of RemoteConnection but timed_out, which is a remark too.
Result<void> read_bodies(RemoteConnection& connection, const PageRecord& record,
                         const BodyQuestions& questions, RemoteConnection::TimePoint deadline,
                         PageLoad& load);

}  // namespace reprise
