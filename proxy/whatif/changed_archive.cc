#include "proxy/whatif/changed_archive.h"

#include <algorithm>
#include <map>
#include <string>
#include <system_error>
#include <utility>

#include "archive/copy.h"
#include "archive/edit/reply.h"
#include "archive/writer.h"
#include "base/http/message.h"
#include "base/text/counted.h"
#include "proxy/whatif/document_changes.h"
#include "proxy/whatif/image_size.h"
#include "proxy/whatif/page_requests.h"
#include "proxy/whatif/plan.h"
#include "proxy/whatif/reply_changes.h"

namespace reprise::whatif {
namespace {

constexpr std::uint64_t kBodyReadMax = 256 << 20;

class ChangedCopy final : public ArchiveCopy {
 public:
  ChangedCopy(const ArchiveReader& from, ArchiveWriter& to, const PageRequests& requests,
              std::span<const Intervention> interventions, std::vector<Effect>& effects,
              const std::function<bool()>& stop)
      : ArchiveCopy(from, to),
        requests_(requests),
        interventions_(interventions),
        effects_(effects),
        plan_(make_plan(requests, interventions, effects)),
        stop_(stop) {}

 protected:
  bool takes_session(const SessionContents& session) const override {
    return session.info.number == requests_.session();
  }
  bool takes_connection(const ConnectionFacts& facts) const override {
    return !plan_.gone_hosts.contains(facts.host);
  }
  bool takes_answer(const DnsAnswer& answer) const override {
    return !plan_.gone_hosts.contains(answer.host);
  }
  Result<void> on_damaged(std::uint32_t) override { return {}; }
  Result<void> on_damaged_message(const MessageOwner&) override { return {}; }

  Result<void> carry(std::uint32_t ordinal, Exchange& exchange) override {
    if (stop_ && stop_()) return fail(std::make_error_code(std::errc::operation_canceled));
    auto const planned = plan_.responses.find(ordinal);
    if (planned == plan_.responses.end()) return carry_bodies(exchange);
    auto request_body = copy_body(from(), exchange.request.body, to());
    if (!request_body) return fail(request_body.error());
    exchange.request.body = std::move(*request_body);
    if (planned->second.drop) return drop(exchange, planned->second);
    return change(exchange, planned->second);
  }

 public:
  /// Notes what no document mentions; after the copy.
  void tell_absent() {
    std::map<std::pair<std::size_t, const PageRequest*>, std::size_t> looked_for;
    for (auto const& [ordinal, plan] : plan_.responses) {
      for (auto const& each : plan.mentions) ++looked_for[{each.by, each.resource}];
    }
    for (auto const& [what, documents] : absent_) {
      if (documents == looked_for[what]) {
        effects_[what.first].remark("no document mentions it", what.second->url);
      }
    }
  }

 private:
  Result<void> drop(Exchange& exchange, const ResponsePlan& plan) {
    auto const by = *plan.drop;
    bool const name_too = plan_.gone_hosts.contains(exchange.request.host);
    refuse_body_changes(exchange, plan, "another what-if drops it");
    for (auto const& other : {plan.status, plan.cache}) {
      if (other) effects_[*other].remark("another what-if drops it", url_of(exchange.request));
    }
    effects_[by].add(url_of(exchange.request), name_too ? "dropped, with its host" : "dropped");
    exchange.response = {};
    exchange.interim.clear();
    exchange.outcome = Outcome::kOriginFailed;
    exchange.failure = "dropped by --what-if";
    exchange.timings.first_byte = kNoTime;
    exchange.timings.end = exchange.timings.request_sent;
    return {};
  }

  Result<void> change(Exchange& exchange, const ResponsePlan& plan) {
    Reply reply{.stored = exchange.response, .body = {}};
    auto const why = plan.status ? "another what-if sets its status" : why_body_stays(exchange);
    if (plan.status) change_status(exchange, reply, *plan.status);
    if (!why.empty()) refuse_body_changes(exchange, plan, why);
    bool const new_body = why.empty() && !body_changes(plan).empty();
    if (new_body) {
      auto body = from().read_body(exchange.response.body, kBodyReadMax);
      if (!body) return fail(body.error());
      reply.body = std::move(*body);
      change_body(exchange, reply, plan);
    }
    if (plan.cache && reply.stored.status == 0) {
      effects_[*plan.cache].remark(why, url_of(exchange.request));
    } else if (plan.cache && !may_be_cached(exchange.request.method)) {
      effects_[*plan.cache].remark("a " + exchange.request.method + " never comes from the cache",
                                   url_of(exchange.request));
    } else if (plan.cache) {
      auto const age = interventions_[*plan.cache].as<CacheFor>()->age;
      tell(*plan.cache, exchange, cache_for(reply, age),
           [&] { return std::string(*find_header(reply.stored.headers.list(), "cache-control")); });
    }
    if (!new_body && !plan.status) return keep_body(reply.stored);
    auto stored = store_body(to(), reply.body);
    if (!stored) return fail(stored.error());
    if (new_body && stored->digest != reply.stored.body.digest) {
      for (auto const by : body_changes(plan)) {
        effects_[by].changed_bodies.insert(exchange.sequence);
      }
    }
    set_body(reply.stored, std::move(*stored));
    return {};
  }

  Result<void> keep_body(StoredReply& stored) {
    auto body = copy_body(from(), stored.body, to());
    if (!body) return fail(body.error());
    stored.body = std::move(*body);
    return {};
  }

  /// The interventions that change the body.
  static std::vector<std::size_t> body_changes(const ResponsePlan& plan) {
    std::vector<std::size_t> all;
    for (auto const& by : {plan.body, plan.resize, plan.compress}) {
      if (by) all.push_back(*by);
    }
    for (auto const& mention : plan.mentions) all.push_back(mention.by);
    return all;
  }

  void refuse_body_changes(const Exchange& exchange, const ResponsePlan& plan,
                           const std::string& why) {
    for (auto const by : body_changes(plan)) effects_[by].remark(why, url_of(exchange.request));
  }

  void change_status(Exchange& exchange, Reply& reply, std::size_t by) {
    auto const before = reply.stored.status;
    tell(by, exchange, set_status(reply, interventions_[by].as<Status>()->code), [&] {
      return "status " + std::to_string(reply.stored.status) + " instead of " +
             std::to_string(before);
    });
    auto& timings = exchange.timings;
    if (timings.first_byte != kNoTime) timings.end = timings.first_byte;
    exchange.outcome = Outcome::kComplete;
    exchange.failure.clear();
  }

  void change_body(Exchange& exchange, Reply& reply, const ResponsePlan& plan) {
    auto const size_change = [&reply, before = reply.body.size()] {
      return std::to_string(reply.body.size()) + " instead of " + counted(before, "byte");
    };
    if (plan.body) {
      auto const& bytes = interventions_[*plan.body].as<Body>()->bytes;
      tell(*plan.body, exchange, set_plain_body(reply, bytes), size_change);
    }
    if (!plan.mentions.empty()) {
      auto const absent = change_mentions(
          exchange, reply, plan.mentions,
          [this](const PageRequest& resource) { return served(resource); }, effects_);
      for (auto const& each : absent) ++absent_[{each.by, each.resource}];
      add_early_hints(exchange, reply, plan.mentions, effects_);
    }
    if (plan.resize) {
      auto const factor = interventions_[*plan.resize].as<Resize>()->factor;
      tell(*plan.resize, exchange, resize_image(reply, factor), size_change);
    }
    if (plan.compress) {
      auto const coding = interventions_[*plan.compress].as<Compress>()->coding;
      tell(*plan.compress, exchange, compress(reply, coding), size_change);
    }
  }

  /// For a document that holds it: what comes of `body=`, and not what only its head says.
  std::expected<ServedResource, std::string> served(const PageRequest& resource) const {
    auto const planned = plan_.responses.find(resource.ordinal);
    bool const is_planned = planned != plan_.responses.end();
    if (is_planned && planned->second.drop) return std::unexpected("another what-if drops it");
    if (is_planned && planned->second.status) {
      return std::unexpected("another what-if sets its status");
    }
    auto exchange = from().exchange(resource.ordinal);
    if (!exchange) return std::unexpected("it is damaged in the archive");
    if (auto const why = why_body_stays(*exchange); !why.empty()) return std::unexpected(why);
    if (auto const status = exchange->response.status; status < 200 || status > 299) {
      return std::unexpected("its response has the status " + std::to_string(status));
    }
    auto body = from().read_body(exchange->response.body, kBodyReadMax);
    if (!body) return std::unexpected("it is damaged in the archive");
    Reply reply{.stored = exchange->response, .body = std::move(*body)};
    if (is_planned && planned->second.body) {
      auto const& bytes = interventions_[*planned->second.body].as<Body>()->bytes;
      if (auto const set = set_plain_body(reply, bytes); !set) return std::unexpected(set.error());
    }
    auto plain = plain_body(reply);
    if (!plain) return std::unexpected(plain.error());
    return ServedResource{
        .content_type =
            std::string(find_header(reply.stored.headers.list(), "content-type").value_or("")),
        .plain = std::move(*plain)};
  }

  /// Why no action can change the body; empty: it can.
  static std::string why_body_stays(const Exchange& exchange) {
    auto const status = exchange.response.status;
    if (status == 0) return "it has no response";
    if (exchange.response.body.size_bytes > kBodyReadMax) return "its body is over 256 MiB";
    if (exchange.outcome != Outcome::kComplete) return "the response is not whole";
    if (status == 206) return "the response is a part of a file";
    bool const has_body = may_have_body(exchange.request.method, status) && status >= 200;
    return has_body ? std::string() : "the response has no body";
  }

  /// Notes what a change came to; `what` says it, if there is one.
  template <class What>
  void tell(std::size_t by, const Exchange& exchange, const Change& change, What what) {
    if (!change) return effects_[by].remark(change.error(), url_of(exchange.request));
    if (*change) return effects_[by].add(url_of(exchange.request), what());
    effects_[by].remark("it is so already", url_of(exchange.request));
  }

  const PageRequests& requests_;
  std::span<const Intervention> interventions_;
  std::vector<Effect>& effects_;
  Plan plan_;
  const std::function<bool()>& stop_;
  std::map<std::pair<std::size_t, const PageRequest*>, std::size_t> absent_;  // from documents
};

}  // namespace

Result<std::vector<Effect>> write_changed_archive(const ArchiveReader& from, std::uint32_t session,
                                                  std::span<const Intervention> interventions,
                                                  const std::filesystem::path& to,
                                                  const std::function<bool()>& stop) {
  auto const requests = PageRequests::read(from, session, interventions);
  std::vector<Effect> effects;
  for (const Intervention& each : interventions) effects.push_back({.text = each.text});
  auto writer = ArchiveWriter::create(to, {});
  if (!writer) return fail(writer.error());
  ChangedCopy copy(from, **writer, requests, interventions, effects, stop);
  if (auto copied = copy.run(); !copied) return fail(copied.error());
  copy.tell_absent();
  if (auto closed = (*writer)->close(); !closed) return fail(closed.error());
  return effects;
}

}  // namespace reprise::whatif
