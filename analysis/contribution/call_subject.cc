#include "analysis/contribution/call_subject.h"

#include <algorithm>
#include <charconv>

#include "base/http/headers.h"
#include "base/http/registrable_domain.h"
#include "base/http/url_parts.h"

namespace reprise {
namespace {

/// Nothing unless all of `text` is a whole number.
std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Media types by the browser's word for what it asked for, where the source has no type.
std::string_view type_of(std::string_view resource) {
  static constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
      {"document", "text/html"}, {"stylesheet", "text/css"}, {"script", "text/javascript"},
      {"image", "image/*"},      {"font", "font/*"},         {"media", "video/*"},
  };
  for (auto const& [known, type] : kTypes) {
    if (known == resource) return type;
  }
  return {};
}

}  // namespace

PageHosts::PageHosts(std::string_view page, const Entities& entities)
    : entities_(entities),
      page_host_(lower_case(url_parts(page).host)),
      page_entity_(entities.find(page_host_)) {}

const HostFacts& PageHosts::facts(std::string_view host) {
  auto const known = known_.find(host);
  if (known != known_.end()) return known->second;
  auto const* const entity = entities_.find(host);
  bool const same_entity =
      entity != nullptr && page_entity_ != nullptr && entity->name == page_entity_->name;
  // Without a page, or without a host, nothing is foreign.
  bool const first = host.empty() || page_host_.empty() || is_same_site(host, page_host_);
  return known_.emplace(host, HostFacts{.first_party = first || same_entity, .entity = entity})
      .first->second;
}

std::string_view CallSubject::of_request(std::string_view attribute) const {
  return request_ == nullptr ? std::string_view() : request_->attribute(attribute);
}

std::string_view CallSubject::text(FilterField field, std::string_view, std::string& buffer) const {
  std::string_view const url = request_ == nullptr ? std::string_view() : request_->name;
  auto const host_facts = [&]() -> const HostFacts& {
    return hosts_.facts(lower_case(url_parts(url).host));
  };
  switch (field) {
    case FilterField::kHost:
      return buffer = lower_case(url_parts(url).host);
    case FilterField::kPath:
      return url_parts(url).path;
    case FilterField::kQuery:
      return url_parts(url).query;
    case FilterField::kUrl:
      return url;
    case FilterField::kMethod:
      return buffer = lower_case(of_request("method"));
    case FilterField::kScheme:
      return url_parts(url).scheme;
    case FilterField::kType:
      buffer = lower_case(of_request("mime"));
      return buffer.empty() ? type_of(buffer = lower_case(of_request("type"))) : buffer;
    case FilterField::kProtocol:
      return buffer = lower_case(of_request("protocol"));
    case FilterField::kKind:
      return to_string(call_.kind);
    case FilterField::kName:
      return call_.name;
    case FilterField::kResource:
      return buffer = lower_case(of_request("type"));
    case FilterField::kPhase:
      return call_.kind == CallKind::kPhase ? std::string_view(call_.name) : std::string_view();
    case FilterField::kParty:
      if (request_ == nullptr) return {};
      return host_facts().first_party ? "first" : "third";
    case FilterField::kEntity:
      if (host_facts().entity == nullptr) return {};
      return buffer = lower_case(host_facts().entity->name);
    case FilterField::kCategory:
      return host_facts().entity == nullptr ? std::string_view() : host_facts().entity->category;
    case FilterField::kCdn:
      return buffer = lower_case(of_request("cdn"));
    case FilterField::kInitiator:
      return of_request("initiator");
    case FilterField::kService:
      return buffer = lower_case(call_.attribute("service"));
    default:
      return {};
  }
}

std::optional<std::int64_t> CallSubject::number(FilterField field) const {
  switch (field) {
    case FilterField::kStatus: {
      auto const status = of_request("status");
      return status.empty() ? 0 : whole_number(status);
    }
    case FilterField::kSize:
      return whole_number(of_request("bytes"));
    case FilterField::kTime:
      return call_.start_us * 1000;
    default:
      return std::nullopt;
  }
}

const FilterVocabulary& view_vocabulary() {
  static constexpr FilterField kFields[] = {FilterField::kHost,  FilterField::kPath,
                                            FilterField::kQuery, FilterField::kScheme,
                                            FilterField::kUrl,   FilterField::kLoad};
  static constexpr FilterVocabulary kVocabulary{.fields = kFields, .tags = true};
  return kVocabulary;
}

std::string_view ViewSubject::text(FilterField field, std::string_view tag,
                                   std::string& buffer) const {
  auto const parts = url_parts(tree_.page);
  switch (field) {
    case FilterField::kHost:
      return buffer = lower_case(parts.host);
    case FilterField::kPath:
      return parts.path;
    case FilterField::kQuery:
      return parts.query;
    case FilterField::kScheme:
      return parts.scheme;
    case FilterField::kUrl:
      return tree_.page;
    case FilterField::kTag:
      return tree_.tag(tag);
    default:
      return {};
  }
}

std::optional<std::int64_t> ViewSubject::number(FilterField field) const {
  if (field == FilterField::kLoad) return tree_.window_us * 1000;
  return std::nullopt;
}

}  // namespace reprise
