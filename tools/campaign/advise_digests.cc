#include "tools/campaign/advise_digests.h"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cstddef>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "analysis/campaign/digest.h"
#include "analysis/campaign/owners.h"
#include "base/system/private_file.h"
#include "base/system/text_file.h"
#include "base/text/counted.h"
#include "base/text/json_fields.h"
#include "tools/campaign/campaign_folder.h"
#include "tools/commands.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

constexpr std::uintmax_t kSetBytesMax = std::uintmax_t{1} << 30;
constexpr std::size_t kPagesNamed = 20;

/// Nothing after an error, which is printed.
std::optional<std::vector<AdvisedPage>> advised_pages(const fs::path& set) {
  auto const path = set / "set.json";
  auto const text = read_text_file(path, kSetBytesMax);
  boost::system::error_code malformed;
  auto const value = text ? json::parse(*text, malformed) : json::value();
  if (!value.is_object() || text_at(value.get_object(), "task") != "advise") {
    say_of_campaign(0, path.string() +
                           " is not a result set of the task advise: make it with `reprise "
                           "campaign collect`");
    return std::nullopt;
  }
  std::vector<AdvisedPage> out;
  for (const json::value& page : array_at(value.get_object(), "pages")) {
    if (page.is_object()) out.push_back(advised_page(page.get_object()));
  }
  return out;
}

/// Of these pages only the name can tell who owns them.
void tell_pages_without_url(const std::vector<AdvisedPage>& pages) {
  std::string names;
  std::size_t count = 0;
  for (const AdvisedPage& page : pages) {
    if (!page.url.empty()) continue;
    if (++count <= kPagesNamed) names += (names.empty() ? "" : ", ") + page.page;
  }
  if (count == 0) return;
  if (count > kPagesNamed) names += " and " + std::to_string(count - kPagesNamed) + " more";
  say_of_campaign(0, counted(count, "page has no URL", "pages have no URL") +
                         ", so only patterns for names can match: " + names);
}

}  // namespace

int write_digests(const DigestOptions& options) {
  auto const text = read_text_file(options.owners, Owners::kBytesMax);
  auto const owners =
      text ? Owners::parse(*text)
           : std::expected<Owners, std::string>(std::unexpected(text.error().message()));
  if (!owners) return say_of_campaign(kExitUsage, options.owners.string() + ": " + owners.error());
  auto pages = advised_pages(options.set);
  if (!pages) return kExitFailed;
  std::map<std::string, AdvisedPage> before;
  if (!options.before.empty()) {
    auto last = advised_pages(options.before);
    if (!last) return kExitFailed;
    for (AdvisedPage& page : *last) before.emplace(page.page, std::move(page));
  }
  take_urls(*pages, before);
  tell_pages_without_url(*pages);
  auto const changes = changes_since(*pages, before);
  std::map<std::string, std::vector<AdvisedPage>> by_owner;
  for (const AdvisedPage& page : *pages) {
    by_owner[owners->owner_of(page.page, page.url)].push_back(page);
  }
  std::error_code error;
  fs::create_directories(options.output, error);
  for (auto const& [owner, of_owner] : by_owner) {
    auto const digest = owner_digest(owner, of_owner, before, changes);
    for (auto const& [suffix, content] :
         {std::pair{".json", json::serialize(digest) + "\n"}, {".md", digest_markdown(digest)}}) {
      auto const path = options.output / (owner + suffix);
      if (auto const written = write_private_file(content, path); !written) {
        return say_of_campaign(kExitFailed,
                               path.string() + " cannot be written: " + written.error().message());
      }
    }
    std::printf("%s: %s, %s, %lld slower\n", owner.c_str(),
                counted(of_owner.size(), "page").c_str(),
                counted(static_cast<std::uint64_t>(integer_at(digest, "suggestions")), "suggestion")
                    .c_str(),
                static_cast<long long>(integer_at(digest, "slower")));
  }
  for (const std::string& pattern : owners->unused()) {
    say_of_campaign(0, options.owners.string() + ": no page matches " + pattern);
  }
  return kExitDone;
}

}  // namespace reprise
