#pragma once

// What the owner of some pages should read: which changes were measured to make them faster, and
// what became slower since the last time. Pure.

#include <boost/json/object.hpp>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace reprise {

/// One page of a campaign with the task advise.
struct AdvisedPage {
  std::string page;
  std::string url;
  std::vector<double> load_events_ms;  ///< as recorded
  std::set<std::string> nodes;         ///< the machines that measured it; empty: unknown
  boost::json::object advice;          ///< `reprise-advice/1`
  std::string failure = {};            ///< why it could not be measured; empty: it was
};

/// A page of set.json.
AdvisedPage advised_page(const boost::json::object& summary);
/// Pages without a URL, such as those that could not be measured, take the one that they had
/// before. `before`: the same pages the last time, by name.
void take_urls(std::span<AdvisedPage> pages, const std::map<std::string, AdvisedPage>& before);

/// `since_last_time` of each page that was there before, by its name.
using PageChanges = std::map<std::string, boost::json::object>;

/// A page is slower or faster when the shift is at least 1 % of the median and significant. All
/// pages of a campaign are judged together (Holm, 1979): one that did not change is named in at
/// most 5 % of campaigns. It is unknown, and not judged, when it has no load event in one of the
/// campaigns, or was not measured on the same nodes: machines differ by more than 1 %. `before`:
/// the same pages the last time, by name.
PageChanges changes_since(std::span<const AdvisedPage> pages,
                          const std::map<std::string, AdvisedPage>& before);

/// `reprise-digest/1` of one owner. Suggestions are the changes that were measured to save time and
/// nothing else; slower pages come first, then those with the largest savings. `changes` are of
/// these pages, and of others.
boost::json::object owner_digest(const std::string& owner, std::span<const AdvisedPage> pages,
                                 const std::map<std::string, AdvisedPage>& before,
                                 const PageChanges& changes);
/// The same as Markdown.
std::string digest_markdown(const boost::json::object& digest);

}  // namespace reprise
