#include "proxy/whatif/plan.h"

#include <algorithm>
#include <string_view>

namespace reprise::whatif {
namespace {

/// What the `as` of a preload can be, as far as browsers start such loads.
bool can_be_preloaded(const PageRequest& request) {
  return request.is_answered &&
         (request.as == "script" || request.as == "style" || request.as == "image" ||
          request.as == "font" || request.as == "fetch");
}

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
    }
    find_gone_hosts();
    return std::move(plan_);
  }

 private:
  void take(const PageRequest& request, std::size_t by) {
    const Intervention& intervention = interventions_[by];
    if (intervention.is_condition()) return;
    if (auto const* const mention = intervention.as<Mention>()) {
      return mention_it(request, by, mention->kind);
    }
    auto& plan = plan_.responses[request.ordinal];
    if (intervention.as<Drop>() != nullptr) plan.drop = by;
    if (intervention.as<Status>() != nullptr) plan.status = by;
    if (intervention.as<Body>() != nullptr) plan.body = by;
    if (intervention.as<Compress>() != nullptr) plan.compress = by;
    if (intervention.as<CacheFor>() != nullptr) plan.cache = by;
    if (intervention.as<Resize>() != nullptr) plan.resize = by;
  }

  void mention_it(const PageRequest& request, std::size_t by, Mention::Kind kind) {
    using enum Mention::Kind;
    switch (kind) {
      case kPreload:
      case kEarlyHints:
        if (!can_be_preloaded(request)) {
          return effects_[by].remark(
              "a " + (request.as.empty() ? "request" : request.as) + " cannot be preloaded",
              request.url);
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
    if (documents_.empty()) effects_[by].remark("the recording has no document", request.url);
    for (const PageRequest* document : documents_) add(*document, request, by, kind);
  }

  void mention_in_its_document(const PageRequest& request, std::size_t by, Mention::Kind kind) {
    auto const* const document = requests_.document_of(request);
    if (document == nullptr || document == &request) {
      return effects_[by].remark("no document requested it", request.url);
    }
    add(*document, request, by, kind);
  }

  void add(const PageRequest& document, const PageRequest& resource, std::size_t by,
           Mention::Kind kind) {
    auto& mentions = plan_.responses[document.ordinal].mentions;
    bool const by_origin = kind == Mention::Kind::kPreconnect;
    bool const there = std::ranges::any_of(mentions, [&](auto const& each) {
      if (each.kind != kind || each.resource->cors != resource.cors) return false;
      return by_origin ? each.resource->origin() == resource.origin()
                       : each.resource->url == resource.url;
    });
    if (!there) mentions.push_back({.by = by, .kind = kind, .resource = &resource});
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
  Plan plan_;
};

}  // namespace

Plan make_plan(const PageRequests& requests, std::span<const Intervention> interventions,
               std::vector<Effect>& effects) {
  return Planner(requests, interventions, effects).make();
}

}  // namespace reprise::whatif
