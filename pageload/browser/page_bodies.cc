#include "pageload/browser/page_bodies.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/http/digest.h"
#include "base/text/counted.h"

namespace reprise {
namespace {

/// Commands in flight at a time: enough to keep both sides busy, few enough that the answers need
/// little memory.
constexpr std::size_t kAtOnce = 4;

/// One round of commands. Shared with reply sinks, which may outlive the round after a timeout.
struct Round {
  std::size_t outstanding = 0;
  std::size_t failed = 0;
  std::string first_failure;
  std::vector<std::pair<std::size_t, std::string>> digests;

  void add_failure(const std::string& url, std::string_view why) {
    if (failed++ == 0) first_failure = url + ": " + std::string(why);
  }
};

/// Requests each of `names` and returns (index, digest) pairs.
Result<std::shared_ptr<Round>> ask(RemoteConnection& connection,
                                   const std::vector<PageRecord::BodyName>& names,
                                   const BodyQuestion& question,
                                   RemoteConnection::TimePoint deadline, const PageLoad& load) {
  auto const round = std::make_shared<Round>();
  std::size_t next = 0;
  while (next < names.size() || round->outstanding > 0) {
    if (next < names.size() && round->outstanding < kAtOnce) {
      auto const& name = names[next++];
      auto const& url = load.requests[name.index].url;
      if (name.size_bytes > kReadBackBytesMax) {
        round->add_failure(url, "the body is larger than 40 MiB");
        continue;
      }
      ++round->outstanding;
      RemoteCommand command = question.command(name);
      connection.post(command.session, command.method, std::move(command.params),
                      [round, url, name, answer = question.answer](const RemoteReply& reply) {
                        --round->outstanding;
                        auto const bytes = answer(reply.result);
                        if (!reply.error.empty() || !bytes) {
                          round->add_failure(url, reply.error);
                        } else if (bytes->empty() && name.size_bytes > 0) {
                          // For example, an image that could not be decoded.
                          round->add_failure(url, "the browser did not keep it");
                        } else {
                          round->digests.emplace_back(name.index, sha256_hex(*bytes));
                        }
                      });
      continue;
    }
    auto const before = round->outstanding;
    auto const answered =
        connection.pump_until([&] { return round->outstanding < before; }, deadline);
    if (!answered) return fail(answered.error());
    if (!*answered) {
      auto const unasked = names.size() - next;
      round->failed += round->outstanding + unasked;
      if (round->first_failure.empty()) round->first_failure = "the browser did not answer in time";
      break;
    }
  }
  return round;
}

void remark_failures(const Round& round, std::string_view of, PageLoad& load) {
  if (round.failed == 0) return;
  load.remarks.push_back(counted(round.failed, "body", "bodies") + std::string(of) +
                         " could not be read back, the first " + round.first_failure + ".");
}

}  // namespace

Result<void> read_bodies(RemoteConnection& connection, const PageRecord& record,
                         const BodyQuestions& questions, RemoteConnection::TimePoint deadline,
                         PageLoad& load) {
  auto const responses = ask(connection, record.bodies(), questions.response, deadline, load);
  if (!responses) return fail(responses.error());
  for (auto& [index, digest] : (*responses)->digests) {
    load.requests[index].body_sha256 = std::move(digest);
  }
  remark_failures(**responses, " of responses", load);

  auto const requests = ask(connection, record.request_bodies(), questions.request, deadline, load);
  if (!requests) return fail(requests.error());
  for (auto& [index, digest] : (*requests)->digests) {
    load.requests[index].request_body_sha256 = std::move(digest);
  }
  remark_failures(**requests, " of requests", load);
  return {};
}

}  // namespace reprise
