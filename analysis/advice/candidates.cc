#include "analysis/advice/candidates.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "analysis/contribution/call_subject.h"
#include "analysis/contribution/share.h"
#include "analysis/sources/load_calls.h"
#include "archive/edit/filter.h"
#include "base/http/headers.h"
#include "base/http/registrable_domain.h"
#include "base/http/url_parts.h"
#include "base/text/formatted.h"

namespace reprise {
namespace {

/// Later than this after the first byte of the document, a resource was not found in its first
/// part, and a connection was not opened for it.
constexpr double kLateMs = 50;
/// Bodies below it fit the first flight of a connection.
constexpr std::int64_t kSmallBytes = 14'000;
constexpr std::int64_t kWorthCodingBytes = 1'400;
constexpr std::int64_t kLargeImageBytes = 20'000;
constexpr std::size_t kManyRequests = 6;
/// Of what asked for what asked for a request; more are a circle.
constexpr int kAskersDeepMax = 100;
/// A share below it is no candidate: the change could not be told from noise.
constexpr double kShareLeastMs = 2;

const LoadResult::Load* first_that_counts(const LoadResult& result) {
  for (const LoadResult::Load& load : result.loads) {
    if (load.counts()) return &load;
  }
  return nullptr;
}

/// The mean even share of each URL, with what is inside its requests, in ms.
std::map<std::string, double> shares_of(const LoadResult& result) {
  std::vector<CallLoss> losses;
  auto const loads = calls_of(result, losses);
  std::map<std::string, double> shares;
  for (const LoadCalls& load : loads) {
    auto const shared = share_evenly(load.tree);
    auto const& calls = load.tree.calls;
    std::vector<std::size_t> outermost(calls.size());
    for (std::size_t i = 0; i < calls.size(); ++i) {
      outermost[i] = calls[i].parent == kNoParent ? i : outermost[calls[i].parent];
      shares[calls[outermost[i]].name] +=
          static_cast<double>(shared.calls[i]) / 1000 / static_cast<double>(loads.size());
    }
  }
  return shares;
}

/// Of bodies that are not compressed by their format.
bool is_compressible(const PageRequest& request) {
  constexpr std::string_view kParts[] = {"text/", "javascript", "json", "xml",
                                         "ttf",   "opentype",   "otf",  "wasm"};
  return std::ranges::any_of(
      kParts, [&](std::string_view part) { return request.mime_type.contains(part); });
}

std::string kb_text(std::int64_t bytes) {
  return formatted("%.1f kB", static_cast<double>(bytes) / 1000);
}

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (char const c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

/// Finds the candidates of one load.
class Catalogue {
 public:
  Catalogue(const LoadResult& result, const LoadResult::Load& load, const Entities& entities)
      : page_(load.page),
        shares_(shares_of(result)),
        missed_(result.missed_requests()),
        hosts_(page_.final_url.empty() ? page_.url : page_.final_url, entities) {
    for (const PageRequest& request : page_.requests) {
      by_url_.try_emplace(request.url, &request);
      if (request.resource_type == "Document" && document_ == nullptr && request.status < 300) {
        document_ = &request;
      }
    }
  }

  std::vector<ChangeCandidate> find(const CandidateOptions& options) {
    if (document_ == nullptr || !page_.load_event_ms) return {};
    for (const PageRequest& request : page_.requests) {
      bool const counts =
          request.method == "GET" && request.failure.empty() && !request.from_cache &&
          request.start_ms >= 0 && request.start_ms < *page_.load_event_ms &&
          !missed_.contains(request.method + " " + request.url) && seen_.insert(request.url).second;
      if (!counts) continue;
      by_host_[host_of(request)].push_back(&request);
      late_resource(request);
      blocking_script(request);
      blocking_style(request);
      if (options.images) large_image(request);
      if (is_offscreen(request)) offscreen_.push_back(&request);
    }
    for (auto const& [asker, requests] : late_) late_resources(asker.first, requests);
    for (auto const& [host, requests] : by_host_) {
      late_connection(host, requests);
      no_coding(host, requests);
      old_protocol(host, requests);
    }
    third_parties();
    offscreen_images();
    return std::move(found_);
  }

 private:
  static std::string host_of(const PageRequest& request) {
    return lower_case(url_parts(request.url).host);
  }
  /// The page can have come from another site than the one where its scripts led it.
  bool is_third_party(const std::string& host) {
    return !hosts_.facts(host).first_party && !is_same_site(host, host_of(*document_));
  }
  double share_of(const PageRequest& request) const {
    auto const found = shares_.find(request.url);
    return found == shares_.end() ? 0 : found->second;
  }
  double share_of(const std::vector<const PageRequest*>& requests) const {
    return std::accumulate(requests.begin(), requests.end(), 0.0,
                           [&](double sum, auto const* each) { return sum + share_of(*each); });
  }
  /// Any of them; removes those for which a filter has no room.
  static std::string filter_of_all(std::vector<const PageRequest*>& requests) {
    if (requests.size() == 1) return filter_of(requests.front()->url);
    std::string filter;
    std::size_t taken = 0;
    for (; taken < requests.size(); ++taken) {
      auto const& url = requests[taken]->url;
      if (taken > 0 && filter.size() + url.size() > Filter::kTextBytesMax / 2) break;
      filter += (filter.empty() ? "(" : " or (") + filter_of(url) + ")";
    }
    requests.resize(taken);
    return filter;
  }
  /// What asked for it; null: unknown.
  const PageRequest* asker_of(const PageRequest& request) const {
    auto const asker = by_url_.find(without_fragment(request.initiator));
    return asker == by_url_.end() || asker->second == &request ? nullptr : asker->second;
  }
  /// The document that it belongs to, which can be that of a frame.
  const PageRequest& document_of(const PageRequest& request) const {
    auto const* asker = asker_of(request);
    for (int deep = 0; asker != nullptr && deep < kAskersDeepMax; ++deep) {
      bool const is_answered = asker->response_ms >= 0 && asker->status < 300;
      if (asker->resource_type == "Document" && is_answered) return *asker;
      asker = asker_of(*asker);
    }
    return *document_;
  }
  /// How long after the first byte of its document a request was made.
  double after_document(const PageRequest& request) const {
    return request.start_ms - document_of(request).response_ms;
  }
  bool is_asked_by_document(const PageRequest& request) const {
    return request.initiator == document_of(request).url;
  }

  void add(const char* kind, std::string filter, const char* action, std::string advice,
           double share_ms, std::string group = {}) {
    if (share_ms < kShareLeastMs) return;
    found_.push_back({.kind = kind,
                      .what_if = std::move(filter) + ": " + action,
                      .advice = std::move(advice),
                      .share_ms = share_ms,
                      .group = std::move(group)});
  }

  /// What stands there, the browser asks for as soon as it has it. It names the document for what
  /// an inline script or style sheet asks for, too.
  bool stands_in_document(const PageRequest& request) const {
    auto const end_ms = document_of(request).end_ms;
    return is_asked_by_document(request) && (end_ms < 0 || request.start_ms < end_ms + kLateMs);
  }

  void late_resource(const PageRequest& request) {
    bool const is_image = request.resource_type == "Image";
    bool const wanted = is_image || request.resource_type == "Font" ||
                        request.resource_type == "Stylesheet" || request.resource_type == "Script";
    bool const found_later = !request.initiator.empty() && !stands_in_document(request);
    if (!wanted || !found_later || after_document(request) < kLateMs) return;
    // The fonts of a style sheet and the imports of a script are late together, and one of them
    // that comes earlier helps little. Many images would delay each other, and what inline scripts
    // ask for is of as many minds.
    bool const is_alone =
        is_image || (request.resource_type == "Script" && is_asked_by_document(request));
    late_[{request.initiator, is_alone ? request.url : request.resource_type}].push_back(&request);
  }

  void late_resources(const std::string& asker, std::vector<const PageRequest*> requests) {
    auto filter = filter_of_all(requests);
    // What they may gain is how late they are, but for their own share of what then is there.
    auto const late = ms_text(after_document(*requests.front()));
    bool const is_one = requests.size() == 1;
    auto const what = is_one ? requests.front()->url
                             : std::to_string(requests.size()) + " resources of type " +
                                   lower_case(requests.front()->resource_type);
    auto const by =
        is_asked_by_document(*requests.front()) ? "a script or style sheet of " + asker : asker;
    add("late resource", std::move(filter), "preload",
        "Preload " + what + ": " + by + " asks for " + (is_one ? "it" : "them") + ", " + late +
            " after the first byte of the document",
        share_of(requests),
        requests.front()->resource_type == "Image" ? "images of " + asker : std::string());
  }

  void blocking_script(const PageRequest& request) {
    bool const blocks = request.resource_type == "Script" && request.initiator == document_->url &&
                        (request.priority == "High" || request.priority == "Medium");
    if (!blocks) return;
    bool const third = is_third_party(host_of(request));
    add("blocking script", filter_of(request.url), third ? "async" : "defer",
        (third ? "Load " + request.url + " with async" : "Defer " + request.url) +
            ": the page is not shown before it has run",
        share_of(request));
  }

  void blocking_style(const PageRequest& request) {
    bool const blocks = request.resource_type == "Stylesheet" &&
                        request.initiator == document_->url && request.decoded_bytes <= kSmallBytes;
    if (!blocks) return;
    add("small style sheet", filter_of(request.url), "inline",
        "Put " + request.url + " (" + kb_text(request.decoded_bytes) +
            ") into the document: the page is not shown before it is there",
        share_of(request));
  }

  static bool is_plain(const PageRequest& request) {
    return is_compressible(request) && request.decoded_bytes >= kWorthCodingBytes &&
           request.encoded_bytes * 10 >= request.decoded_bytes * 9;
  }

  void no_coding(const std::string& host, const std::vector<const PageRequest*>& requests) {
    std::vector<const PageRequest*> plain;
    for (const PageRequest* each : requests) {
      if (is_plain(*each)) plain.push_back(each);
    }
    if (plain.empty()) return;
    auto filter = filter_of_all(plain);
    std::int64_t bytes = 0;
    for (const PageRequest* each : plain) bytes += each->decoded_bytes;
    add("no compression", std::move(filter), "compress=br",
        "Compress what " + host + " sends as it is: " + std::to_string(plain.size()) +
            (plain.size() == 1 ? " response, " : " responses, ") + kb_text(bytes),
        share_of(plain));
  }

  void large_image(const PageRequest& request) {
    constexpr const char* kTypes[] = {"image/jpeg", "image/png", "image/webp", "image/avif"};
    bool const can = std::ranges::find(kTypes, request.mime_type) != std::end(kTypes);
    if (!can || request.encoded_bytes < kLargeImageBytes) return;
    add("large image", filter_of(request.url), "bytes=x0.5",
        "Encode " + request.url + " in half of its " + kb_text(request.encoded_bytes),
        share_of(request));
  }

  bool is_offscreen(const PageRequest& request) const {
    return request.resource_type == "Image" && request.initiator == document_->url &&
           stands_in_document(request) && request.priority == "Low";
  }

  void offscreen_images() {
    if (offscreen_.size() < 2) return;
    auto filter = filter_of_all(offscreen_);
    add("images out of sight", std::move(filter), "lazy",
        "Load " + std::to_string(offscreen_.size()) +
            " images lazily that the browser does not show at first",
        share_of(offscreen_));
  }

  /// Of requests that are made at once, any can be the one that connects.
  static const PageRequest* connecting(const std::vector<const PageRequest*>& requests) {
    const PageRequest* first = nullptr;
    for (const PageRequest* each : requests) {
      bool const connects = each->timing && each->timing->connect_start_ms >= 0;
      if (!connects) continue;
      if (first == nullptr || each->timing->connect_start_ms < first->timing->connect_start_ms) {
        first = each;
      }
    }
    return first;
  }

  void late_connection(const std::string& host, const std::vector<const PageRequest*>& requests) {
    auto const* const first = connecting(requests);
    if (host == host_of(*document_) || first == nullptr) return;
    if (after_document(*first) < kLateMs) return;
    auto const connected_ms = first->timing->connect_end_ms;
    bool const was_connected = std::ranges::any_of(requests, [&](auto const* each) {
      return each->response_ms >= 0 && each->response_ms < connected_ms;
    });
    if (was_connected) return;
    auto const waits_ms = connected_ms - first->start_ms;
    add("late connection", filter_of(first->url), "preconnect",
        "Connect early to " + host + ": " + first->url + " waits " + ms_text(waits_ms) + " for it",
        std::min(share_of(*first), waits_ms));
  }

  void old_protocol(const std::string& host, const std::vector<const PageRequest*>& requests) {
    auto const is_h1 = [](auto const* each) {
      return each->protocol == "http/1.1" && each->url.starts_with("https:");
    };
    if (requests.size() < kManyRequests || !std::ranges::all_of(requests, is_h1)) return;
    add("old protocol", "host=" + in_quotes(host), "protocol=h2",
        "Serve " + host + " over HTTP/2: " + std::to_string(requests.size()) +
            " requests wait for its connections",
        share_of(requests));
  }

  void third_parties() {
    std::map<std::string, std::vector<const PageRequest*>> sites;
    std::map<std::string, std::string> filters;  // of their hosts
    std::set<std::string> own_sites;             // a part of one can belong to somebody else
    for (auto const& [host, requests] : by_host_) {
      std::string const site(registrable_domain(host));
      if (!is_third_party(host)) {
        own_sites.insert(site);
        continue;
      }
      sites[site].insert(sites[site].end(), requests.begin(), requests.end());
      filters[site] += (filters[site].empty() ? "host=" : ",") + in_quotes(host);
    }
    for (auto const& [site, requests] : sites) {
      auto const all = "host=" + in_quotes("." + site);
      add("third party", own_sites.contains(site) ? filters[site] : all, "drop",
          "See what " + site + " costs: " + std::to_string(requests.size()) +
              (requests.size() == 1 ? " request" : " requests"),
          share_of(requests), "third parties");
    }
  }

  const PageLoad& page_;
  std::map<std::string, double> shares_;
  std::set<std::string> missed_;  ///< what the archive does not have cannot be changed
  PageHosts hosts_;
  const PageRequest* document_ = nullptr;
  std::map<std::string, const PageRequest*, std::less<>> by_url_;  ///< the first of each
  std::set<std::string> seen_;
  std::map<std::string, std::vector<const PageRequest*>> by_host_;
  /// By what asks for them, and their type; an image is alone, and a script of a document.
  std::map<std::pair<std::string, std::string>, std::vector<const PageRequest*>> late_;
  std::vector<const PageRequest*> offscreen_;
  std::vector<ChangeCandidate> found_;
};

}  // namespace

std::string filter_of(std::string_view url) {
  auto const parts = url_parts(url);
  auto filter = "host=" + in_quotes(lower_case(parts.host)) +
                " path=" + in_quotes(parts.path.empty() ? "/" : parts.path);
  if (!parts.query.empty()) filter += " query=" + in_quotes(parts.query);
  return filter;
}

std::vector<ChangeCandidate> candidates_of(const LoadResult& base,
                                           const CandidateOptions& options) {
  auto const* const load = first_that_counts(base);
  if (load == nullptr) return {};
  auto const& entities = options.entities ? *options.entities : Entities::built_in();
  auto found = Catalogue(base, *load, entities).find(options);
  std::ranges::sort(found, [](const ChangeCandidate& a, const ChangeCandidate& b) {
    return std::tie(b.share_ms, a.what_if) < std::tie(a.share_ms, b.what_if);
  });
  // Of each kind the first, then the second: what is alike helps alike.
  std::map<std::string, std::size_t> of_kind;
  std::vector<std::pair<std::size_t, std::size_t>> order;  // number in its kind, place
  for (std::size_t i = 0; i < found.size(); ++i) order.emplace_back(of_kind[found[i].kind]++, i);
  std::ranges::sort(order);
  std::vector<ChangeCandidate> chosen;
  for (auto const& [number, place] : order) {
    if (chosen.size() < options.most) chosen.push_back(std::move(found[place]));
  }
  return chosen;
}

}  // namespace reprise
