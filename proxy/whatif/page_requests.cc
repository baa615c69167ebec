#include "proxy/whatif/page_requests.h"

#include <algorithm>
#include <iterator>

#include "base/http/media_type.h"
#include "base/http/resource_type.h"
#include "base/http/url.h"
#include "base/http/url_parts.h"
#include "inject/response.h"
#include "inject/rewrite.h"

namespace reprise::whatif {
namespace {

/// How many style sheets and scripts may name each other on the way to a document.
constexpr int kRefererDepthMax = 16;

std::string_view field(const Exchange& exchange, std::string_view name) {
  return find_header(exchange.request.headers.list(), name).value_or("");
}

/// What `as` of a preload takes: the destination that the browser sent, every one. Only without it,
/// or if it is empty, by the kind of the resource.
std::string destination_of(const Exchange& exchange) {
  auto dest = lower_case(field(exchange, "sec-fetch-dest"));
  if (!dest.empty() && dest != "empty") return dest;
  auto const type = media_type(exchange.response.headers.list());
  switch (resource_type(exchange.request.headers.list(), type)) {
    case ResourceType::kDocument:
      return "document";
    case ResourceType::kStylesheet:
      return "style";
    case ResourceType::kScript:
      return "script";
    case ResourceType::kImage:
      return "image";
    case ResourceType::kFont:
      return "font";
    case ResourceType::kMedia:  // of its other types, such as playlists, most are fetched
      if (type.starts_with("video/")) return "video";
      return type.starts_with("audio/") ? "audio" : "fetch";
    default:
      return "fetch";
  }
}

bool is_html_document(const Exchange& exchange) {
  auto const& request = exchange.request;
  auto const& response = exchange.response;
  if (request.method != "GET" || exchange.outcome != Outcome::kComplete) return false;
  auto const destination = inject::destination_of(request.headers.list());
  auto const kind = inject::kind_of(response.status, response.headers.list(), destination);
  return destination == inject::Destination::kDocument && kind == inject::Kind::kHtml;
}

PageRequest request_of(const Exchange& exchange, std::uint32_t ordinal) {
  auto const& asked = exchange.request;
  PageRequest request{.ordinal = ordinal,
                      .sequence = exchange.sequence,
                      .scheme = asked.scheme,
                      .host = asked.host,
                      .port = asked.port,
                      .method = asked.method,
                      .url = url_of(asked),
                      .referer = std::string(field(exchange, "referer")),
                      .as = destination_of(exchange),
                      .is_document = is_html_document(exchange),
                      .is_answered = exchange.response.status != 0};
  auto const mode = field(exchange, "sec-fetch-mode");
  request.cors = mode.empty() ? request.as == "font" || request.as == "fetch"
                              : equals_ignoring_case(mode, "cors");
  return request;
}

}  // namespace

std::string PageRequest::origin() const {
  return url_of(scheme, host, port, "");
}

PageRequests PageRequests::read(const ArchiveReader& archive, std::uint32_t session,
                                std::span<const Intervention> interventions) {
  PageRequests requests;
  requests.session_ = session;
  std::size_t number = 0;
  for (auto const ordinal : archive.ordinals_in_order()) {
    ++number;
    if (archive.entries()[ordinal].session != session) continue;
    auto const exchange = archive.exchange(ordinal);
    if (!exchange) continue;
    auto& request = requests.all_.emplace_back(request_of(*exchange, ordinal));
    request.number = number;
    for (std::size_t i = 0; i < interventions.size(); ++i) {
      if (interventions[i].filter.takes(*exchange, number)) request.by.push_back(i);
    }
    auto const at = requests.all_.size() - 1;
    if (request.is_answered) requests.by_url_.try_emplace(request.url, at);
    if (!request.is_document) continue;
    requests.documents_by_url_[request.url].push_back(at);
    auto const url = absolute_url(request.url);
    if (url) requests.documents_[std::string(origin_of_url(*url))].push_back(at);
    requests.documents_[""].push_back(at);
  }
  auto const info = std::ranges::find(archive.sessions(), session, &SessionInfo::number);
  if (info != archive.sessions().end() && !info->pages.empty()) {
    requests.start_url_ = without_fragment(info->pages.front());
  }
  return requests;
}

const PageRequest* PageRequests::page() const {
  auto const start = documents_by_url_.find(start_url_);
  if (start != documents_by_url_.end()) return &all_[start->second.front()];
  auto const first = std::ranges::find_if(all_, &PageRequest::is_document);
  return first == all_.end() ? nullptr : &*first;
}

const PageRequest* PageRequests::document_of(const PageRequest& resource) const {
  std::string referer(without_fragment(resource.referer));
  for (int depth = 0; depth < kRefererDepthMax; ++depth) {
    // Something else can have had its URL before: a redirect to itself, a challenge.
    if (auto const known = documents_by_url_.find(referer); known != documents_by_url_.end()) {
      auto const* const last = last_before(resource, known->second);
      return last == nullptr ? &all_[known->second.front()] : last;
    }
    auto const found = by_url_.find(referer);
    if (found == by_url_.end()) break;
    auto const next = without_fragment(all_[found->second].referer);
    if (next.empty()) break;
    referer = next;
  }
  // Across origins most browsers send only the origin.
  auto const url = absolute_url(referer);
  auto const same = documents_.find(url ? std::string(origin_of_url(*url)) : "");
  auto const* const last = same == documents_.end() ? nullptr : last_before(resource, same->second);
  auto const any = documents_.find("");
  return last != nullptr || any == documents_.end() ? last : last_before(resource, any->second);
}

const PageRequest* PageRequests::last_before(const PageRequest& resource,
                                             const std::vector<std::size_t>& places) const {
  auto const here = static_cast<std::size_t>(&resource - all_.data());
  auto const after = std::ranges::lower_bound(places, here);
  return after == places.begin() ? nullptr : &all_[*std::prev(after)];
}

}  // namespace reprise::whatif
