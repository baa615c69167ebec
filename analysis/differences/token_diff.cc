#include "analysis/differences/token_diff.h"

#include <algorithm>
#include <utility>

namespace reprise {
namespace {

using Hashes = std::span<const std::uint64_t>;

/// The furthest end in `a` of each diagonal, for each number of edits; Myers' forward search.
class Search {
 public:
  Search(Hashes a, Hashes b) : a_(a), b_(b) {}

  /// False if it takes more than kEditsMax edits.
  bool run() {
    auto const total = std::min(a_.size() + b_.size(), kEditsMax);
    for (std::size_t edits = 0; edits <= total; ++edits) {
      ends_.emplace_back(2 * edits + 1);
      for (std::size_t i = 0; i <= edits; ++i) {
        auto const diagonal = static_cast<long>(2 * i) - static_cast<long>(edits);
        auto end = start_of(edits, diagonal);
        while (end < long(a_.size()) && end - diagonal < long(b_.size()) && end - diagonal >= 0 &&
               a_[std::size_t(end)] == b_[std::size_t(end - diagonal)]) {
          ++end;
        }
        at(edits, diagonal) = end;
        if (end >= long(a_.size()) && end - diagonal >= long(b_.size())) return true;
      }
    }
    return false;
  }

  /// After run(): single edits and their merging into hunks, from the end.
  std::vector<Hunk> hunks() const {
    std::vector<Hunk> found;
    long x = long(a_.size());
    long y = long(b_.size());
    for (auto edits = ends_.size() - 1; edits > 0; --edits) {
      auto const diagonal = x - y;
      bool const down = goes_down(edits, diagonal);
      auto const before = down ? diagonal + 1 : diagonal - 1;
      auto const from_x = value(edits - 1, before);
      auto const from_y = from_x - before;
      Hunk const edit{.a_begin = std::size_t(from_x),
                      .a_end = std::size_t(down ? from_x : from_x + 1),
                      .b_begin = std::size_t(from_y),
                      .b_end = std::size_t(down ? from_y + 1 : from_y)};
      if (!found.empty() && found.back().a_begin == edit.a_end &&
          found.back().b_begin == edit.b_end) {
        found.back().a_begin = edit.a_begin;
        found.back().b_begin = edit.b_begin;
      } else {
        found.push_back(edit);
      }
      x = from_x;
      y = from_y;
    }
    std::ranges::reverse(found);
    return found;
  }

 private:
  long& at(std::size_t edits, long diagonal) {
    return ends_[edits][std::size_t(diagonal + long(edits))];
  }
  long value(std::size_t edits, long diagonal) const {
    return ends_[edits][std::size_t(diagonal + long(edits))];
  }
  /// Whether the path to that diagonal takes a token of `b`.
  bool goes_down(std::size_t edits, long diagonal) const {
    auto const most = long(edits);
    return diagonal == -most ||
           (diagonal != most && value(edits - 1, diagonal - 1) < value(edits - 1, diagonal + 1));
  }
  long start_of(std::size_t edits, long diagonal) const {
    if (edits == 0) return 0;
    if (goes_down(edits, diagonal)) return value(edits - 1, diagonal + 1);
    return value(edits - 1, diagonal - 1) + 1;
  }

  Hashes a_;
  Hashes b_;
  std::vector<std::vector<long>> ends_;
};

}  // namespace

std::vector<Hunk> token_diff(Hashes a, Hashes b) {
  if (std::ranges::lexicographical_compare(b, a)) {
    auto mirrored = token_diff(b, a);
    for (Hunk& hunk : mirrored) {
      std::swap(hunk.a_begin, hunk.b_begin);
      std::swap(hunk.a_end, hunk.b_end);
    }
    return mirrored;
  }
  std::size_t start = 0;
  while (start < a.size() && start < b.size() && a[start] == b[start]) ++start;
  std::size_t end = 0;
  while (end < a.size() - start && end < b.size() - start &&
         a[a.size() - 1 - end] == b[b.size() - 1 - end]) {
    ++end;
  }
  auto const middle_a = a.subspan(start, a.size() - start - end);
  auto const middle_b = b.subspan(start, b.size() - start - end);
  if (middle_a.empty() && middle_b.empty()) return {};
  Search search(middle_a, middle_b);
  auto hunks = search.run()
                   ? search.hunks()
                   : std::vector<Hunk>{{.a_end = middle_a.size(), .b_end = middle_b.size()}};
  for (Hunk& hunk : hunks) {
    hunk.a_begin += start;
    hunk.a_end += start;
    hunk.b_begin += start;
    hunk.b_end += start;
  }
  return hunks;
}

}  // namespace reprise
