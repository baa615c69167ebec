#pragma once

// Both waterfalls, request by request. Pure.

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/differences/differences.h"
#include "pageload/results/page_load.h"

namespace reprise {

/// The requests of several loads by URL: of each load the first request of a URL. Borrows the
/// loads.
class Waterfall {
 public:
  void add(const PageLoad& load);
  /// The request with the medians of its times over all loads; nothing if no load has it, or it has
  /// no start or no end.
  std::optional<PageRequest> request(const std::string& url) const;

 private:
  std::map<std::string, std::vector<const PageRequest*>> requests_;
};

/// One request in the waterfalls of A and B; at least one of them has it.
struct AlignedRow {
  std::optional<PageRequest> a;
  std::optional<PageRequest> b;

  const std::string& url() const { return b ? b->url : a->url; }
};

class AlignedRows {
 public:
  /// By the alignment of `differences`, which this borrows; by start in A, or else in B. Of
  /// requests with one URL the first one is shown.
  AlignedRows(const Differences& differences, const Waterfall& a, const Waterfall& b);

  const std::vector<AlignedRow>& all() const { return rows_; }
  /// Numbers of the rows that groups of differences concern: the most telling differences' first.
  std::vector<std::size_t> of_groups(const std::vector<std::size_t>& groups) const;
  /// By how much the request of the group that differs most takes longer or shorter in B, from 0.
  double change_ms(std::size_t group) const;

 private:
  void add(std::optional<PageRequest> a, std::optional<PageRequest> b);

  const Differences& differences_;
  std::vector<AlignedRow> rows_;
  std::map<std::string, std::size_t> place_in_a_;
  std::map<std::string, std::size_t> place_in_b_;
};

/// The `rows` of why.json (docs/why.md).
boost::json::array rows_json(const std::vector<AlignedRow>& rows);

/// The differences of a group: kind, where, what, measured.
boost::json::array differences_json(const Differences& all, const DifferenceGroup& group);

}  // namespace reprise
