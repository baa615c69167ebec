#include "proxy/replay/response/negotiation.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/text/white_space.h"

namespace reprise {
namespace {

/// Whether the weight among `parameters` (";q=0.5") is zero: "not acceptable".
bool is_refused(std::string_view parameters) {
  while (!parameters.empty()) {
    auto const end = std::min(parameters.find(';'), parameters.size());
    auto const each = trim(parameters.substr(0, end));
    parameters.remove_prefix(std::min(end + 1, parameters.size()));
    if (each.size() < 3 || !equals_ignoring_case(each.substr(0, 2), "q=")) continue;
    auto const weight = each.substr(2);
    return weight.starts_with('0') && weight.find_first_not_of("0.", 1) == std::string_view::npos;
  }
  return false;
}

bool names(std::string_view name, coding::Coding coding) {
  switch (coding) {
    case coding::Coding::kGzip:
      return equals_ignoring_case(name, "gzip") || equals_ignoring_case(name, "x-gzip");
    case coding::Coding::kDeflate:
    case coding::Coding::kRawDeflate:
      return equals_ignoring_case(name, "deflate");
    case coding::Coding::kBrotli:
      return equals_ignoring_case(name, "br");
    case coding::Coding::kZstd:
      return equals_ignoring_case(name, "zstd");
  }
  return false;
}

/// Whether the request accepts a coding; by name, otherwise by "*".
bool takes(HeaderList request, coding::Coding coding) {
  std::optional<bool> others;
  for (const HeaderView& field : request) {
    if (!equals_ignoring_case(field.name, "accept-encoding")) continue;
    for (std::string_view rest = field.value; !rest.empty();) {
      auto const end = std::min(rest.find(','), rest.size());
      auto const item = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      auto const name_end = std::min(item.find(';'), item.size());
      auto const name = trim(item.substr(0, name_end));
      auto const taken = !is_refused(item.substr(name_end));
      if (names(name, coding)) return taken;
      if (name == "*") others = taken;
    }
  }
  return others.value_or(false);
}

}  // namespace

bool takes_codings(HeaderList request, HeaderList recorded,
                   std::span<const coding::Coding> codings) {
  if (!find_header(request, "accept-encoding")) {
    return !find_header(recorded, "accept-encoding");
  }
  return std::ranges::all_of(codings,
                             [request](coding::Coding coding) { return takes(request, coding); });
}

}  // namespace reprise
