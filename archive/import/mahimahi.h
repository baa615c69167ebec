#pragma once

#include <string>

#include "archive/import/collect/collector.h"

namespace reprise::importing {

/// What one file of a mahimahi folder may take: it is held while it is read.
inline constexpr std::size_t kMahimahiBytesMax = 256 << 20;

/// Reads one file of a folder that mahimahi's `mm-webrecord` made: one exchange, as a protobuf
/// message (RequestResponse of http_record.proto). False if it is not one; `collector` may have
/// failed, too.
bool import_mahimahi(std::string_view file, Collector& collector);

}  // namespace reprise::importing
