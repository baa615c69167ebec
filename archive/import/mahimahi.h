#pragma once

#include <string>
#include <string_view>

#include "archive/import/collect/collector.h"
#include "archive/import/collect/earliest_date.h"

namespace reprise::importing {

/// The size limit of one file in a mahimahi folder: it is held in memory.
inline constexpr std::size_t kMahimahiBytesMax = 256 << 20;

/// So much of a file's beginning is enough for begins_as_mahimahi().
inline constexpr std::size_t kMahimahiStartBytes = 64 << 10;

/// Whether `start`, the beginning of a file, is that of an exchange up to the request's first line,
/// with the fields in the order in which mahimahi writes them.
bool begins_as_mahimahi(std::string_view start);

/// Takes the date of the exchange's response, if `file` is an exchange.
void take_mahimahi_date(std::string_view file, EarliestDate& date);

/// Reads one file from a folder of mahimahi's `mm-webrecord`: one exchange, as a protobuf message
/// (RequestResponse of http_record.proto). False if it is not one; `collector` may have failed,
/// too. `started`: the result of take_mahimahi_date() for all files.
bool import_mahimahi(std::string_view file, UnixTime started, Collector& collector);

}  // namespace reprise::importing
