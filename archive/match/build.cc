#include "archive/match/build.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <tuple>

#include "archive/match/index.h"
#include "archive/match/key_hasher.h"
#include "archive/match/parameters.h"

namespace reprise {
namespace {

/// The data kept of an exchange until all are read.
struct Seen {
  std::uint64_t family = 0;
  std::uint64_t response = 0;
  std::uint64_t sequence = 0;
  std::uint32_t session = 0;
  std::uint32_t first_count = 0;
  std::uint32_t count_count = 0;
  bool teaches = true;  ///< compared to learn which parameters matter
  std::uint64_t site = 0;
  SessionTime time{};
  MatchMember member;
};

std::uint64_t response_hash(const StoredReply& reply) {
  std::uint64_t digest = 0;
  std::memcpy(&digest, reply.body.digest.data(), sizeof digest);
  auto const hash = mixed(digest ^ reply.status);
  if (reply.status < 300 || reply.status > 399) return hash;
  // Redirects have no body, or all the same one.
  KeyHasher target;
  target.add_text(find_header(reply.headers.list(), "Location").value_or(std::string_view()));
  return mixed(hash ^ target.finish());
}

/// Whether the response shows what the request's parameters select. A redirect that passes the
/// query on differs with every value, whatever that means.
bool shows_content(const Exchange& exchange) {
  const StoredRequest& request = exchange.request;
  const StoredReply& response = exchange.response;
  if (request.method == "HEAD" || response.status == 304) return false;
  auto const query = query_of(request.target);
  if (response.status < 300 || response.status > 399 || query.empty()) return true;
  auto const location = find_header(response.headers.list(), "Location");
  return !location || query_of(*location) != query;
}

class Build {
 public:
  Build(const ArchiveReader& reader, std::span<const std::string> ignored_params)
      : reader_(reader), ignored_params_(ignored_params) {
    contents_.representations.resize(reader.entries().size());
  }
  std::vector<std::byte> run();

 private:
  void take(std::uint32_t ordinal);
  std::vector<std::byte> request_body(const StoredRequest& request) const;
  std::vector<CountedExchange> counted(std::span<const Seen> seen) const;
  void add_family(std::span<Seen> family, const SiteCounters& counters);

  const ArchiveReader& reader_;
  std::span<const std::string> ignored_params_;
  MatchContents contents_;
  std::vector<Feature> features_;  // in file order
  std::vector<Count> counts_;      // in the same order
  std::vector<Seen> seen_;
};

std::vector<std::byte> Build::run() {
  auto const entries = reader_.entries();
  std::vector<std::uint32_t> in_file(entries.size());
  std::iota(in_file.begin(), in_file.end(), 0U);
  std::ranges::sort(in_file, {}, [&](std::uint32_t at) { return entries[at].record_offset; });
  for (auto const ordinal : in_file) take(ordinal);
  in_file = {};
  std::ranges::sort(seen_, [](const Seen& a, const Seen& b) {
    return std::tie(a.session, a.sequence, a.member.ordinal) <
           std::tie(b.session, b.sequence, b.member.ordinal);
  });
  SiteCounters const counters(counted(seen_));
  std::ranges::sort(seen_, [](const Seen& a, const Seen& b) {
    return std::tie(a.family, a.session, a.sequence, a.member.ordinal) <
           std::tie(b.family, b.session, b.sequence, b.member.ordinal);
  });
  contents_.features.reserve(features_.size());
  for (auto rest = std::span(seen_); !rest.empty();) {
    auto const other = std::ranges::find_if(
        rest, [&](const Seen& each) { return each.family != rest.front().family; });
    auto const count = static_cast<std::size_t>(other - rest.begin());
    add_family(rest.first(count), counters);
    rest = rest.subspan(count);
  }
  features_ = {};
  counts_ = {};
  seen_ = {};
  return build_match_index(std::move(contents_));
}

void Build::take(std::uint32_t ordinal) {
  auto const exchange = reader_.exchange(ordinal);
  if (!exchange) return;
  auto const& request = exchange->request;
  auto const key = key_of(request);
  contents_.representations[ordinal] =
      representation_of(request.headers.list(), exchange->response.headers.list());
  contents_.sites.push_back(site_hash(exchange->session, request.scheme, request.host));
  if (exchange->outcome != Outcome::kComplete) return;
  auto const body = request_body(request);
  auto const first_count = static_cast<std::uint32_t>(counts_.size());
  auto own = features_of(asked_as(request, body), ignored_params_, &counts_);
  if (counts_.size() - first_count > kFeaturesMax) counts_.resize(first_count);
  if (features_.size() + own.size() > kFeaturesOfAllMax) {
    own.clear();
    counts_.resize(first_count);
  }
  seen_.push_back({.family = family_hash(key),
                   .response = response_hash(exchange->response),
                   .sequence = exchange->sequence,
                   .session = exchange->session,
                   .first_count = first_count,
                   .count_count = static_cast<std::uint32_t>(counts_.size()) - first_count,
                   .teaches = shows_content(*exchange),
                   .site = site_hash(0, request.scheme, request.host),
                   .time = exchange->timings.queued,
                   .member = {.ordinal = ordinal,
                              .is_partial = request.body_partial ? 1U : 0U,
                              .first_feature = static_cast<std::uint32_t>(features_.size()),
                              .feature_count = static_cast<std::uint32_t>(own.size())}});
  features_.insert(features_.end(), own.begin(), own.end());
}

std::vector<std::byte> Build::request_body(const StoredRequest& request) const {
  if (request.body_partial || request.body.size_bytes == 0 ||
      request.body.size_bytes > kNormalisedBodyBytesMax) {
    return {};
  }
  return reader_.read_body(request.body, kNormalisedBodyBytesMax)
      .value_or(std::vector<std::byte>());
}

std::vector<CountedExchange> Build::counted(std::span<const Seen> seen) const {
  std::vector<CountedExchange> all;
  all.reserve(seen.size());
  for (const Seen& each : seen) {
    all.push_back({.site = each.site,
                   .family = each.family,
                   .session = each.session,
                   .time = each.time,
                   .counts = std::span(counts_).subspan(each.first_count, each.count_count)});
  }
  return all;
}

void Build::add_family(std::span<Seen> family, const SiteCounters& counters) {
  auto const of = [this](const Seen& each) {
    return std::span(features_).subspan(each.member.first_feature, each.member.feature_count);
  };
  std::vector<Observation> observed;
  auto const looked_at = family.first(std::min(family.size(), kLearntFromMax));
  for (const Seen& each : looked_at) {
    if (!each.teaches) continue;
    observed.push_back({.features = of(each), .response = each.response});
  }
  auto const learnt = learn(observed, counters_in(counted(looked_at), counters));
  MatchContents::Group* group = nullptr;
  std::uint32_t session = 0;
  for (const Seen& each : family) {
    if (group == nullptr || session != each.session) {
      session = each.session;
      group = &contents_.groups.emplace_back();
      group->hash = group_hash(each.family, session);
      group->learnt = learnt;
    }
    auto const own = of(each);
    mark(learnt, own);
    auto member = each.member;
    member.first_feature = static_cast<std::uint32_t>(contents_.features.size());
    contents_.features.insert(contents_.features.end(), own.begin(), own.end());
    group->members.push_back(member);
  }
}

}  // namespace

std::vector<std::byte> build_match_index(const ArchiveReader& reader,
                                         std::span<const std::string> ignored_params) {
  return Build(reader, ignored_params).run();
}

}  // namespace reprise
