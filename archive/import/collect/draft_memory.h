#pragma once

#include <cstddef>

#include "archive/import/collect/collector.h"

namespace reprise::importing {

/// About how many bytes of memory a draft without messages takes while it waits for its other half.
std::size_t memory_of(const ExchangeDraft& draft);

}  // namespace reprise::importing
