#pragma once

// The fields of a response that change what a browser does. Pure.

#include <array>
#include <string>
#include <string_view>

#include "analysis/differences/differences.h"
#include "base/http/headers.h"

namespace reprise {

/// What one kind of fields says, in a text that is the same for the same meaning; empty for
/// nothing. `kind`: kCaching, kHints, kPolicy, kPriority or kConnection.
std::string meaning_of_fields(HeaderList fields, DifferenceKind kind);

/// Whether a field belongs to that kind, as a hybrid takes it over: DIFFERENCES.md.
bool is_field_of(std::string_view name, DifferenceKind kind);

inline constexpr std::array kFieldKinds{DifferenceKind::kCaching, DifferenceKind::kHints,
                                        DifferenceKind::kPolicy, DifferenceKind::kPriority,
                                        DifferenceKind::kConnection};

/// Whether a field describes the body, and goes where the body goes.
bool is_field_of_body(std::string_view name);

}  // namespace reprise
