#include "proxy/whatif/plan.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/http/url_parts.h"

namespace reprise::whatif {
namespace {

/// What the `as` of a preload can be, as far as browsers start such loads.
bool can_be_preloaded(const PageRequest& request) {
  return request.is_answered && request.method == "GET" &&
         (request.as == "script" || request.as == "style" || request.as == "image" ||
          request.as == "font" || request.as == "fetch");
}

/// Changes of elements that exclude each other have the same one.
std::string_view what_is_set(Mention::Kind kind) {
  using enum Mention::Kind;
  if (kind == kPriorityHigh || kind == kPriorityLow) return "fetchpriority";
  if (kind == kAsync || kind == kDefer) return "async or defer";
  return kind == kLazy ? "loading" : "inline";
}

constexpr char kLaterOne[] = "a later what-if sets the same";

class Planner {
 public:
  Planner(const PageRequests& requests, std::span<const Intervention> interventions,
          std::vector<Effect>& effects)
      : requests_(requests), interventions_(interventions), effects_(effects) {
    for (const PageRequest& each : requests.all()) {
      if (each.is_document) documents_.push_back(&each);
    }
  }

  Plan make() {
    for (const PageRequest& request : requests_.all()) {
      for (std::size_t const by : request.by) {
        if (!interventions_[by].is_condition()) ++effects_[by].selected;
        take(request, by);
      }
      tell_dropped_conditions(request);
    }
    for (const Mentioned& link : links_) {
      if (!fails(link.how) && !is_made_inline(link.how)) add(*link.document, link.how);
    }
    std::erase_if(elements_, [this](const auto& how) { return is_made_inline(how); });
    for (const PageRequest* document : documents_) {
      for (auto const& how : elements_) add(*document, how);
    }
    find_gone_hosts();
    return std::move(plan_);
  }

 private:
  struct Mentioned {
    const PageRequest* document = nullptr;
    ResponsePlan::Mentioned how;
  };

  void take(const PageRequest& request, std::size_t by) {
    const Intervention& intervention = interventions_[by];
    if (intervention.is_condition()) return;
    if (auto const* const mention = intervention.as<Mention>()) {
      return mention_it(request, by, mention->kind);
    }
    auto& plan = plan_.responses[request.ordinal];
    if (intervention.as<Drop>() != nullptr) set(plan.drop, by, request);
    if (intervention.as<Status>() != nullptr) set(plan.status, by, request);
    if (intervention.as<Body>() != nullptr) set(plan.body, by, request);
    if (intervention.as<Compress>() != nullptr) set(plan.compress, by, request);
    if (intervention.as<CacheFor>() != nullptr) set(plan.cache, by, request);
    if (intervention.as<Resize>() != nullptr) set(plan.resize, by, request);
  }

  /// Conditions apply to the changed archive, where what is dropped has no response.
  void tell_dropped_conditions(const PageRequest& request) {
    auto const plan = plan_.responses.find(request.ordinal);
    if (plan == plan_.responses.end() || !plan->second.drop) return;
    auto const why = "it is dropped by '" + interventions_[*plan->second.drop].text + "'";
    for (std::size_t const by : request.by) {
      if (interventions_[by].is_condition()) effects_[by].remark(why, request.url);
    }
  }

  void set(std::optional<std::size_t>& planned, std::size_t by, const PageRequest& request) {
    if (planned) effects_[*planned].remark(kLaterOne, request.url);
    planned = by;
  }

  void mention_it(const PageRequest& request, std::size_t by, Mention::Kind kind) {
    using enum Mention::Kind;
    switch (kind) {
      case kPreload:
      case kEarlyHints:
        if (!can_be_preloaded(request)) {
          auto const what = request.method != "GET" ? request.method
                            : request.as.empty()    ? "request"
                                                    : request.as;
          return effects_[by].remark("a " + what + " cannot be preloaded", request.url);
        }
        return mention_in_its_document(request, by, kind);
      case kPreconnect:
        return mention_in_its_document(request, by, kind);
      case kPriorityHigh:
      case kPriorityLow:
      case kAsync:
      case kDefer:
      case kLazy:
      case kInline:
        break;
    }
    if (documents_.empty()) {
      return effects_[by].remark("the recording has no document", request.url);
    }
    mention_in_elements(request, {.by = by, .kind = kind, .resource = &request});
  }

  void mention_in_its_document(const PageRequest& request, std::size_t by, Mention::Kind kind) {
    auto const* const document = requests_.document_of(request);
    if (document == nullptr || document == &request) {
      return effects_[by].remark("no document requested it", request.url);
    }
    bool const by_origin = kind == Mention::Kind::kPreconnect;
    auto const [known, is_new] = known_links_.try_emplace(
        {document->ordinal, kind, request.cors, by_origin ? request.origin() : place_of(request)},
        by);
    if (is_new) {
      links_.push_back(
          {.document = document, .how = {.by = by, .kind = kind, .resource = &request}});
    } else if (known->second != by) {
      effects_[by].remark("another what-if does the same", request.url);
    }
  }

  void mention_in_elements(const PageRequest& request, const ResponsePlan::Mentioned& how) {
    auto const [known, is_new] =
        known_elements_.try_emplace({what_is_set(how.kind), place_of(request)}, elements_.size());
    if (is_new) return elements_.push_back(how);
    auto& planned = elements_[known->second];
    if (planned.by == how.by) return;
    effects_[std::min(planned.by, how.by)].remark(kLaterOne, request.url);
    if (how.by > planned.by) planned = how;
  }

  /// Whether another what-if leaves nothing of it to preload; then says so.
  bool fails(const ResponsePlan::Mentioned& how) {
    if (how.kind == Mention::Kind::kPreconnect) return false;
    auto const planned = plan_.responses.find(how.resource->ordinal);
    if (planned == plan_.responses.end()) return false;
    const ResponsePlan& plan = planned->second;
    if (!plan.drop && !plan.status) return false;
    effects_[how.by].remark(
        plan.drop ? "another what-if drops it" : "another what-if sets its status",
        how.resource->url);
    return true;
  }

  /// By another what-if, so that nothing is left to change; then says so.
  bool is_made_inline(const ResponsePlan::Mentioned& how) {
    using enum Mention::Kind;
    if (how.kind == kInline || how.kind == kPreconnect ||
        !known_elements_.contains({what_is_set(kInline), place_of(*how.resource)})) {
      return false;
    }
    effects_[how.by].remark("another what-if makes it inline", how.resource->url);
    return true;
  }

  void add(const PageRequest& document, const ResponsePlan::Mentioned& how) {
    if (mentions_ == kMentionsMax) {
      return effects_[how.by].remark("the recording has too many documents", document.url);
    }
    ++mentions_;
    plan_.responses[document.ordinal].mentions.push_back(how);
  }

  /// Fragments do not tell resources apart.
  static std::string place_of(const PageRequest& request) {
    return std::string(without_fragment(request.url));
  }

  void find_gone_hosts() {
    std::set<std::string> present;
    for (const PageRequest& request : requests_.all()) {
      auto const planned = plan_.responses.find(request.ordinal);
      bool const dropped = planned != plan_.responses.end() && planned->second.drop;
      if (dropped) plan_.gone_hosts.insert(request.host);
      if (!dropped && request.is_answered) present.insert(request.host);
    }
    std::erase_if(plan_.gone_hosts,
                  [&](const std::string& host) { return present.contains(host); });
  }

  const PageRequests& requests_;
  std::span<const Intervention> interventions_;
  std::vector<Effect>& effects_;
  std::vector<const PageRequest*> documents_;
  std::vector<Mentioned> links_;
  std::map<std::tuple<std::uint32_t, Mention::Kind, bool, std::string>, std::size_t> known_links_;
  std::vector<ResponsePlan::Mentioned> elements_;  // of every document
  std::map<std::pair<std::string_view, std::string>, std::size_t> known_elements_;
  std::size_t mentions_ = 0;
  Plan plan_;
};

}  // namespace

Plan make_plan(const PageRequests& requests, std::span<const Intervention> interventions,
               std::vector<Effect>& effects) {
  return Planner(requests, interventions, effects).make();
}

}  // namespace reprise::whatif
