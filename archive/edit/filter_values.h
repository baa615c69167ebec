#pragma once

// The names of a filter's fields, their valid values, and the test of one of them.

#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "archive/edit/filter.h"

namespace reprise {

std::optional<FilterField> field_called(std::string_view name, const FilterVocabulary& vocabulary);
/// All names, for messages.
std::string field_names(const FilterVocabulary& vocabulary);
bool is_number(FilterField field);

/// Parses a value in a filter, with `comparison` ("<", "<=", ">", ">=", or "" for is) before it.
/// The error names the fault.
std::expected<FilterValue, std::string> parse_value(FilterField field, std::string_view comparison,
                                                    std::string_view text);

bool allows(FilterField field, std::string_view tag, const FilterValue& value,
            const FilterSubject& subject);

}  // namespace reprise
