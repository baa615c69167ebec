#include "archive/edit/diff.h"

#include <algorithm>
#include <iterator>

#include "archive/edit/message_changes.h"
#include "archive/edit/pairing.h"
#include "archive/match/steady_request.h"
#include "base/result.h"
#include "base/text/glob.h"

namespace reprise {
namespace {

bool counts(const HeaderView& field, const DiffOptions& options) {
  auto const name = lower_case(field.name);
  return std::ranges::none_of(options.ignored_headers, [&name](const std::string& ignored) {
    return fits_glob(ignored, name);
  });
}

std::vector<HeaderView> counted(HeaderList fields, const DiffOptions& options) {
  std::vector<HeaderView> kept;
  std::ranges::copy_if(fields, std::back_inserter(kept),
                       [&options](const HeaderView& field) { return counts(field, options); });
  return kept;
}

bool same_field(const HeaderView& a, const HeaderView& b) {
  return a.name == b.name && a.value == b.value;
}

bool same_fields(const Headers& a, const Headers& b, const DiffOptions& options) {
  return std::ranges::equal(counted(a.list(), options), counted(b.list(), options), same_field);
}

bool same_status(const StoredReply& a, const StoredReply& b) {
  bool const has_reason = is_http1(a.version) && is_http1(b.version);
  return a.status == b.status && (!has_reason || a.reason == b.reason);
}

bool same_body(const StoredBody& a, const StoredBody& b) {
  return a.size_bytes == b.size_bytes && a.digest == b.digest;
}

bool same_interim(const Exchange& a, const Exchange& b, const DiffOptions& options) {
  return std::ranges::equal(
      a.interim, b.interim,
      [&](const StoredInterimResponse& one, const StoredInterimResponse& other) {
        return one.status == other.status && same_fields(one.headers, other.headers, options) &&
               (!options.times || one.time == other.time);
      });
}

bool same_times(const Exchange& a, const Exchange& b) {
  return a.timings.queued == b.timings.queued && a.timings.request_sent == b.timings.request_sent &&
         a.timings.first_byte == b.timings.first_byte && a.timings.end == b.timings.end &&
         a.response.chunk_times == b.response.chunk_times;
}

/// The number in `ls` of each ordinal.
std::vector<std::uint32_t> numbers_of(const std::vector<std::uint32_t>& in_order) {
  std::vector<std::uint32_t> numbers(in_order.size());
  std::uint32_t number = 0;
  for (auto const ordinal : in_order) numbers[ordinal] = ++number;
  return numbers;
}

/// Lengths of the longest common subsequences of all ends of two lists.
class CommonEnds {
 public:
  CommonEnds(HeaderList a, HeaderList b) : columns_(b.size() + 1) {
    lengths_.resize((a.size() + 1) * columns_);
    for (auto i = a.size(); i-- > 0;) {
      for (auto j = b.size(); j-- > 0;) {
        at(i, j) =
            same_field(a[i], b[j]) ? at(i + 1, j + 1) + 1 : std::max(at(i + 1, j), at(i, j + 1));
      }
    }
  }
  std::uint32_t& at(std::size_t i, std::size_t j) { return lengths_[i * columns_ + j]; }

 private:
  std::size_t columns_;
  std::vector<std::uint32_t> lengths_;
};

constexpr std::size_t kEditedFieldsMax = 1000;

}  // namespace

std::string_view to_string(Difference difference) {
  switch (difference) {
    case Difference::kOutcome:
      return "outcome";
    case Difference::kStatus:
      return "status";
    case Difference::kProtocol:
      return "protocol";
    case Difference::kHeaders:
      return "headers";
    case Difference::kInterim:
      return "interim";
    case Difference::kBody:
      return "body";
    case Difference::kTrailers:
      return "trailers";
    case Difference::kRequestHeaders:
      return "request headers";
    case Difference::kRequestTrailers:
      return "request trailers";
    case Difference::kTimes:
      return "times";
    case Difference::kMessages:
      return "messages";
  }
  return "unknown";
}

std::vector<Difference> differences_of(const Exchange& a, const Exchange& b,
                                       const DiffOptions& options) {
  std::vector<Difference> differences;
  auto const check = [&differences](bool same, Difference what) {
    if (!same) differences.push_back(what);
  };
  auto const& one = a.response;
  auto const& other = b.response;
  check(a.outcome == b.outcome, Difference::kOutcome);
  check(same_status(one, other), Difference::kStatus);
  check(one.version == other.version, Difference::kProtocol);
  check(same_fields(one.headers, other.headers, options), Difference::kHeaders);
  check(same_interim(a, b, options), Difference::kInterim);
  check(same_body(one.body, other.body), Difference::kBody);
  check(same_fields(one.trailers, other.trailers, options), Difference::kTrailers);
  if (options.requests) {
    check(same_fields(a.request.headers, b.request.headers, options), Difference::kRequestHeaders);
    check(same_fields(a.request.trailers, b.request.trailers, options),
          Difference::kRequestTrailers);
  }
  if (options.times) check(same_times(a, b), Difference::kTimes);
  return differences;
}

namespace {

/// All differences, those of messages last.
Result<std::vector<Difference>> differences_in(const ArchiveReader& a, const Exchange& in_a,
                                               const ArchiveReader& b, const Exchange& in_b,
                                               const DiffOptions& options) {
  auto differences = differences_of(in_a, in_b, options);
  auto const messages = compare_messages(a, owner_of_messages(in_a), b, owner_of_messages(in_b));
  if (!messages) return fail(messages.error());
  if (messages->any(options.times)) differences.push_back(Difference::kMessages);
  return differences;
}

using Damaged = std::unexpected<DiffDamage>;

Damaged damaged_exchange(bool is_in_b, std::size_t number) {
  return Damaged(DiffDamage{.is_in_b = is_in_b, .number = number});
}

/// After pairing met an exchange that is damaged.
Damaged first_damaged_exchange(const ArchiveReader& a, const std::vector<std::uint32_t>& a_in_order,
                               const ArchiveReader& b,
                               const std::vector<std::uint32_t>& b_in_order) {
  std::size_t number = 0;
  for (auto const ordinal : a_in_order) {
    ++number;
    if (!a.exchange(ordinal)) return damaged_exchange(false, number);
  }
  number = 0;
  for (auto const ordinal : b_in_order) {
    ++number;
    if (!b.exchange(ordinal)) return damaged_exchange(true, number);
  }
  return damaged_exchange(true, number);
}

/// After the comparison met a message that is damaged, in `a` or in `b`.
Damaged damaged_message(const ArchiveReader& a, const DiffSide& in_a, const DiffSide& in_b) {
  auto const places = a.messages(owner_of_messages(*in_a.exchange));
  bool const is_in_b = std::ranges::all_of(places, [&a](const ArchiveReader::MessagePlace& place) {
    return a.message(place).has_value();
  });
  const DiffSide& side = is_in_b ? in_b : in_a;
  return Damaged(
      DiffDamage{.is_in_b = is_in_b, .number = side.number, .url = url_of(side.exchange->request)});
}

}  // namespace

std::expected<DiffCounts, DiffDamage> diff_archives(const ArchiveReader& a, const ArchiveReader& b,
                                                    const DiffOptions& options,
                                                    const ReportDifference& report) {
  auto const a_in_order = a.ordinals_in_order();
  auto const b_in_order = b.ordinals_in_order();
  ExchangePairing pairing(a, b, options.across_sessions);
  if (!pairing.run(a_in_order, b_in_order)) {
    return first_damaged_exchange(a, a_in_order, b, b_in_order);
  }
  auto const b_numbers = numbers_of(b_in_order);
  auto const counts_here = [&options](const DiffSide& side) {
    return !options.filter || (side.exchange && options.filter(*side.exchange, side.number));
  };
  DiffCounts counts;
  std::size_t number = 0;
  for (auto const ordinal : a_in_order) {
    ++number;
    auto const exchange = a.exchange(ordinal);
    if (!exchange) return damaged_exchange(false, number);
    DiffSide const in_a{.exchange = &*exchange, .number = number};
    auto const partner = pairing.partner_of(ordinal);
    if (partner == ExchangePairing::kNobody) {
      if (!counts_here(in_a)) continue;
      ++counts.only_in_a;
      report(in_a, {}, {});
      continue;
    }
    auto const other = b.exchange(partner);
    if (!other) return damaged_exchange(true, b_numbers[partner]);
    DiffSide const in_b{.exchange = &*other, .number = b_numbers[partner]};
    if (!counts_here(in_a) && !counts_here(in_b)) continue;
    if (exchange->request.target != other->request.target) {
      note_differing(steady_request(exchange->request.target),
                     steady_request(other->request.target), counts.volatile_names);
    }
    auto const differences = differences_in(a, *exchange, b, *other, options);
    if (!differences) return damaged_message(a, in_a, in_b);
    ++(differences->empty() ? counts.same : counts.changed);
    if (!differences->empty()) report(in_a, in_b, *differences);
  }
  for (auto const ordinal : b_in_order) {
    if (pairing.has_partner(ordinal)) continue;
    auto const exchange = b.exchange(ordinal);
    if (!exchange) return damaged_exchange(true, b_numbers[ordinal]);
    DiffSide const in_b{.exchange = &*exchange, .number = b_numbers[ordinal]};
    if (!counts_here(in_b)) continue;
    ++counts.only_in_b;
    report({}, in_b, {});
  }
  return counts;
}

std::vector<FieldEdit> field_edits(HeaderList a, HeaderList b, const DiffOptions& options) {
  auto const in_a = counted(a, options);
  auto const in_b = counted(b, options);
  std::vector<FieldEdit> edits;
  std::size_t i = 0;
  std::size_t j = 0;
  if (std::max(in_a.size(), in_b.size()) <= kEditedFieldsMax) {
    CommonEnds common(in_a, in_b);
    while (i < in_a.size() && j < in_b.size()) {
      if (same_field(in_a[i], in_b[j])) {
        ++i;
        ++j;
      } else if (common.at(i + 1, j) >= common.at(i, j + 1)) {
        edits.push_back({.sign = '-', .field = in_a[i++]});
      } else {
        edits.push_back({.sign = '+', .field = in_b[j++]});
      }
    }
  }
  while (i < in_a.size()) edits.push_back({.sign = '-', .field = in_a[i++]});
  while (j < in_b.size()) edits.push_back({.sign = '+', .field = in_b[j++]});
  return edits;
}

}  // namespace reprise
