#pragma once

// What a filter can ask about a call, and about a view of a page. Pure.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/calls/call.h"
#include "analysis/contribution/entities.h"
#include "archive/edit/filter.h"

namespace reprise {

/// What is known of the host of a request.
struct HostFacts {
  bool first_party = false;
  const Entity* entity = nullptr;
};

/// The hosts of one page's requests. Borrows the entities.
class PageHosts {
 public:
  PageHosts(std::string_view page, const Entities& entities);
  /// A host is of the first party if its registrable domain or its entity is the page's.
  const HostFacts& facts(std::string_view host);

 private:
  const Entities& entities_;
  std::string page_host_;
  const Entity* page_entity_;
  std::map<std::string, HostFacts, std::less<>> known_;
};

/// Borrows all its arguments.
class CallSubject final : public FilterSubject {
 public:
  /// `request` is the call itself, or the request that it is in; null if it is in none.
  CallSubject(const Call& call, const Call* request, PageHosts& hosts)
      : call_(call), request_(request), hosts_(hosts) {}

  std::string_view text(FilterField field, std::string_view tag,
                        std::string& buffer) const override;
  std::optional<std::int64_t> number(FilterField field) const override;

 private:
  std::string_view of_request(std::string_view attribute) const;

  const Call& call_;
  const Call* request_;
  PageHosts& hosts_;
};

/// The fields of views in filters; other names are tags (archive/edit/FILTER.md).
const FilterVocabulary& view_vocabulary();

/// Borrows the tree.
class ViewSubject final : public FilterSubject {
 public:
  explicit ViewSubject(const CallTree& tree) : tree_(tree) {}

  std::string_view text(FilterField field, std::string_view tag,
                        std::string& buffer) const override;
  std::optional<std::int64_t> number(FilterField field) const override;

 private:
  const CallTree& tree_;
};

}  // namespace reprise
