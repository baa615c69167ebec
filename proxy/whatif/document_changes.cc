#include "proxy/whatif/document_changes.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/http/url.h"
#include "base/http/url_parts.h"
#include "inject/csp.h"
#include "inject/document/changes.h"
#include "inject/policy.h"
#include "inject/response.h"

namespace reprise::whatif {
namespace {

using inject::ChangedPlace;
using inject::CrossOrigin;
using inject::DocumentChange;
using Kind = Mention::Kind;

/// What is decoded at the same time for one document.
constexpr std::size_t kInlineBytesMax = 64 << 20;

std::optional<inject::ChangeKind> change_kind(Kind kind) {
  switch (kind) {
    case Kind::kPreload:
      return inject::ChangeKind::kPreload;
    case Kind::kPreconnect:
      return inject::ChangeKind::kPreconnect;
    case Kind::kPriorityHigh:
      return inject::ChangeKind::kPriorityHigh;
    case Kind::kPriorityLow:
      return inject::ChangeKind::kPriorityLow;
    case Kind::kAsync:
      return inject::ChangeKind::kAsync;
    case Kind::kDefer:
      return inject::ChangeKind::kDefer;
    case Kind::kLazy:
      return inject::ChangeKind::kLazy;
    case Kind::kInline:
      return inject::ChangeKind::kInline;
    case Kind::kEarlyHints:
      break;
  }
  return std::nullopt;
}

/// A nonce or a hash, next to which 'unsafe-inline' does not count (CSP level 3, section 6.7.3.2).
bool is_nonce_or_hash(std::string_view source) {
  return starts_with_ignoring_case(source, "'nonce-") || starts_with_ignoring_case(source, "'sha");
}

/// Whether a policy of the response has a directive of one of these names, the first that it has
/// governing, that does not list `source`.
bool forbids(HeaderList fields, std::initializer_list<std::string_view> directives,
             std::string_view source) {
  for (const HeaderView& field : fields) {
    if (!equals_ignoring_case(field.name, "content-security-policy")) continue;
    for (std::string_view const text : inject::split_policies(field.value)) {
      inject::Policy const policy(text);
      for (std::string_view const name : directives) {
        auto const* const directive = policy.find(name);
        if (directive == nullptr) continue;
        auto const is_source = [source](std::string_view each) {
          return equals_ignoring_case(each, source);
        };
        if (std::ranges::none_of(directive->sources, is_source)) return true;
        if (std::ranges::any_of(directive->sources, is_nonce_or_hash)) return true;
        break;
      }
    }
  }
  return false;
}

/// Why a policy of the document does not let it hold the resource; empty: it does. Scripts are
/// permitted by their hashes.
std::string why_not_inline(HeaderList fields, const PageRequest& resource) {
  if (resource.as == "style" &&
      forbids(fields, {"style-src-elem", "style-src", "default-src"}, "'unsafe-inline'")) {
    return "the document's Content-Security-Policy forbids inline styles";
  }
  if (resource.as == "image" && forbids(fields, {"img-src", "default-src"}, "data:")) {
    return "the document's Content-Security-Policy forbids images in data: URLs";
  }
  return {};
}

/// The first nonce by which a policy permits scripts or styles; empty: no policy has one.
std::string nonce_of_policy(HeaderList fields, std::string_view as) {
  if (as != "script" && as != "style") return {};
  std::string const own = std::string(as) + "-src";
  for (const HeaderView& field : fields) {
    if (!equals_ignoring_case(field.name, "content-security-policy")) continue;
    for (std::string_view const text : inject::split_policies(field.value)) {
      inject::Policy const policy(text);
      for (const std::string& name : {own + "-elem", own, std::string("default-src")}) {
        auto const* const directive = policy.find(name);
        if (directive == nullptr) continue;
        if (!directive->nonce().empty()) return std::string(directive->nonce());
        break;
      }
    }
  }
  return {};
}

/// By what the recording says of the request.
DocumentChange document_change_of(inject::ChangeKind kind, const PageRequest& resource) {
  return {.kind = kind,
          .url = std::string(without_fragment(resource.url)),
          .as = resource.as,
          .cross_origin = resource.cors ? CrossOrigin::kAnonymous : CrossOrigin::kNone,
          .nonce = {},
          .media_type = {},
          .body = {}};
}

/// The changes of one document, and which mention each is.
class Changes {
 public:
  Changes(const Reply& reply, std::span<const ResponsePlan::Mentioned> mentions,
          const ResourceOf& resource_of, std::vector<Effect>& effects) {
    bodies_.reserve(mentions.size());
    for (const ResponsePlan::Mentioned& mention : mentions) {
      auto const kind = change_kind(mention.kind);
      if (!kind) continue;
      const PageRequest& resource = *mention.resource;
      if (!absolute_url(resource.url)) {
        effects[mention.by].remark("no document can mention such a URL", resource.url);
        continue;
      }
      auto change = document_change_of(*kind, resource);
      if (mention.kind == Kind::kPreload) {
        change.nonce = nonce_of_policy(reply.stored.headers.list(), resource.as);
      }
      if (mention.kind == Kind::kInline) {
        auto const why = why_not_inline(reply.stored.headers.list(), resource);
        auto served = why.empty()
                          ? resource_of(resource)
                          : std::expected<ServedResource, std::string>(std::unexpected(why));
        if (served && served->plain.size() > kInlineBytesMax - held_bytes_) {
          served = std::unexpected("a document would hold over 64 MiB of other files");
        }
        if (!served) {
          effects[mention.by].remark(served.error(), resource.url);
          continue;
        }
        held_bytes_ += served->plain.size();
        bodies_.push_back(std::move(*served));
        change.media_type = bodies_.back().content_type;
        change.body = bodies_.back().plain;
      }
      changes_.push_back(std::move(change));
      of_.push_back(&mention);
    }
  }

  std::span<const DocumentChange> list() const { return changes_; }
  const ResponsePlan::Mentioned& mention_of(std::size_t change) const { return *of_[change]; }

 private:
  std::vector<ServedResource> bodies_;
  std::size_t held_bytes_ = 0;
  std::vector<DocumentChange> changes_;
  std::vector<const ResponsePlan::Mentioned*> of_;
};

void tell(const std::string& document, const ResponsePlan::Mentioned& mention,
          const inject::ChangeOutcome& outcome, std::vector<Effect>& effects) {
  auto& effect = effects[mention.by];
  for (const ChangedPlace& place : outcome.places) {
    auto what = place.tag + " of " + mention.resource->url + " at byte " +
                std::to_string(place.offset_bytes);
    switch (place.effect) {
      case ChangedPlace::Effect::kChanged:
        if (!place.note.empty()) what += " (" + place.note + ")";
        effect.add(document, std::move(what));
        effect.mentioned.insert(mention.resource->url);
        break;
      case ChangedPlace::Effect::kAlready:
        effect.remark(place.note.empty() ? "it is so already" : place.note, mention.resource->url);
        break;
      case ChangedPlace::Effect::kRefused:
        effect.remark(place.note, mention.resource->url);
        break;
    }
  }
}

/// Permits what is now in the document, and states its encoding where its own statement comes late.
void fit_head(Reply& reply, const inject::ChangedDocument& changed) {
  std::string hashes;
  for (const std::string& each : changed.script_hash_sources) {
    hashes += (hashes.empty() ? "" : " ") + each;
  }
  auto const fields = reply.stored.headers.list();
  inject::ScriptAllowance allowance;
  if (!hashes.empty()) {
    allowance = inject::allow_script(fields, hashes, inject::NonceUse::kWithoutNonce);
  }
  if (allowance.values.empty()) {
    for (const HeaderView& field : fields) {
      if (inject::is_policy_field(field.name)) allowance.values.emplace_back();
    }
  }
  reply.stored.headers = inject::changed_head(fields, {.allowance = allowance,
                                                       .charset_to_state = changed.charset_to_state,
                                                       .length_bytes = reply.body.size(),
                                                       .body = &reply.body});
}

/// Gives each preload the mode that its link would have in the document, which itself stays. If the
/// document cannot be edited, the modes stay, too.
void take_modes(const Exchange& exchange, const Reply& reply,
                std::vector<DocumentChange>& preloads) {
  auto const plain = plain_body(reply);
  if (!plain) return;
  auto const charset = inject::header_charset(reply.stored.headers.list());
  auto const changed = inject::change_document(*plain, charset, url_of(exchange.request), preloads);
  if (!changed) return;
  for (std::size_t i = 0; i < preloads.size(); ++i) {
    preloads[i].cross_origin = changed->outcomes[i].cross_origin;
  }
}

/// Older versions of Chromium ignore a Link of a 103 with other parameters than these, type and
/// fetchpriority; no version needs an integrity or a nonce.
std::string hint_of(const DocumentChange& preload) {
  auto link = "<" + preload.url + ">; rel=preload; as=" + preload.as;
  if (preload.cross_origin == CrossOrigin::kAnonymous) link += "; crossorigin";
  if (preload.cross_origin == CrossOrigin::kUseCredentials) {
    link += "; crossorigin=use-credentials";
  }
  return link;
}

}  // namespace

std::vector<ResponsePlan::Mentioned> change_mentions(
    const Exchange& exchange, Reply& reply, std::span<const ResponsePlan::Mentioned> mentions,
    const ResourceOf& resource_of, std::vector<Effect>& effects) {
  auto const document = url_of(exchange.request);
  Changes const changes(reply, mentions, resource_of, effects);
  std::vector<ResponsePlan::Mentioned> absent;
  if (changes.list().empty()) return absent;
  auto const refuse_all = [&](const std::string& why) {
    for (std::size_t i = 0; i < changes.list().size(); ++i) {
      effects[changes.mention_of(i).by].remark(why, document);
    }
    return absent;
  };
  auto const plain = plain_body(reply);
  if (!plain) return refuse_all(plain.error());
  auto const charset = inject::header_charset(reply.stored.headers.list());
  auto const changed = inject::change_document(*plain, charset, document, changes.list());
  if (!changed) return refuse_all(changed.error());
  std::size_t made = 0;
  for (std::size_t i = 0; i < changed->outcomes.size(); ++i) {
    if (changed->outcomes[i].places.empty()) absent.push_back(changes.mention_of(i));
    tell(document, changes.mention_of(i), changed->outcomes[i], effects);
    made += changed->outcomes[i].changed();
  }
  if (made == 0) return absent;
  if (auto const replaced = replace_plain(reply, changed->bytes); !replaced) {
    return refuse_all(replaced.error());
  }
  fit_head(reply, *changed);
  return absent;
}

void add_early_hints(Exchange& exchange, const Reply& reply,
                     std::span<const ResponsePlan::Mentioned> mentions,
                     std::vector<Effect>& effects) {
  auto const document = url_of(exchange.request);
  std::vector<DocumentChange> preloads;
  std::vector<const ResponsePlan::Mentioned*> of;
  for (const ResponsePlan::Mentioned& mention : mentions) {
    if (mention.kind != Kind::kEarlyHints) continue;
    const PageRequest& resource = *mention.resource;
    auto url = absolute_url(resource.url);
    if (!url) {
      effects[mention.by].remark("no Link can name such a URL", resource.url);
      continue;
    }
    auto preload = document_change_of(inject::ChangeKind::kPreload, resource);
    preload.url = std::move(*url);
    if (resource.as == "font") preload.cross_origin = CrossOrigin::kAnonymous;
    preloads.push_back(std::move(preload));
    of.push_back(&mention);
  }
  if (preloads.empty()) return;
  take_modes(exchange, reply, preloads);
  std::vector<std::string> links;
  for (std::size_t i = 0; i < preloads.size(); ++i) {
    auto& effect = effects[of[i]->by];
    const auto& link = links.emplace_back(hint_of(preloads[i]));
    effect.add(document, "103 with Link: " + link);
    effect.mentioned.insert(of[i]->resource->url);
  }
  std::vector<HeaderView> fields;
  for (const std::string& link : links) fields.push_back({.name = "Link", .value = link});
  exchange.interim.insert(exchange.interim.begin(), {.status = 103,
                                                     .reason = "Early Hints",
                                                     .headers = Headers(fields),
                                                     .time = exchange.timings.request_sent});
}

}  // namespace reprise::whatif
