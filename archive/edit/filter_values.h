#pragma once

// The names of a filter's fields, their valid values, and the test of an exchange.

#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "archive/edit/filter.h"

namespace reprise {

std::optional<FilterField> field_called(std::string_view name);
/// All names, for messages.
std::string field_names();
bool is_number(FilterField field);

/// Parses a value in a filter, with `comparison` ("<", "<=", ">", ">=", or "" for is) before it.
/// The error names the fault.
std::expected<FilterValue, std::string> parse_value(FilterField field, std::string_view comparison,
                                                    std::string_view text);

/// `number` is that of `ls`.
bool allows(FilterField field, const FilterValue& value, const Exchange& exchange,
            std::size_t number);

}  // namespace reprise
