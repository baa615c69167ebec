#pragma once

#include <filesystem>
#include <functional>

#include "archive/import/captures.h"
#include "archive/import/collect/collector.h"
#include "archive/import/source/byte_source.h"

namespace reprise::importing {

/// The known kinds of recordings.
enum class RecordingKind : std::uint8_t {
  kUnknown,
  kWprgo,
  kHar,
  kWarc,
  kArc,
  kZip,  ///< WACZ, several of them, or a HAR with its attachments
  kMitmproxy,
};

/// By content: `start` is the beginning of the file, decompressed if it was gzip or zstd.
RecordingKind recognise(std::string_view start);

/// Called at every read, in bytes of the file.
using Progress = InputSource::Progress;

/// Opens a file beside the recording by its name, as used in some HARs. Null if it does not exist.
using Attachments = std::function<std::unique_ptr<ByteSource>(const std::string& name)>;

/// One import: recordings of any kind, which become one session.
class Importer {
 public:
  /// `sink` must outlive this. `keep_going`: after damage, look for the rest of the recording.
  Importer(ExchangeSink& sink, bool keep_going)
      : collector_(sink, keep_going), captures_(collector_) {}

  /// `stop` is called after each exchange, and at each read while a recording is searched for what
  /// is needed before its first exchange, such as the session's start. If it returns true, reading
  /// ends with errc::operation_canceled.
  void stop_when(std::function<bool()> stop) { collector_.stop_when(std::move(stop)); }

  /// Reads one recording. Pure: uses only `input`, `attachments` and the sink. Returns the reason
  /// why it could not be read to its end; data read before that stays.
  std::optional<Fault> read(Input& input, const Attachments& attachments, const Progress& progress);
  /// The same for a file or a folder of mahimahi, by path.
  std::optional<Fault> read_path(const std::filesystem::path& path, const Progress& progress);
  /// Call it after all recordings. Begins a session if there were no exchanges. Errors are the
  /// sink's.
  std::optional<Fault> finish();

  const ImportReport& report() { return collector_.report(); }

 private:
  void read_any(Input& input, const Attachments& attachments, const Progress& progress, int depth);
  void read_zip(Input& input, const Progress& progress, int depth);
  std::optional<Fault> read_folder(const std::filesystem::path& path, const Progress& progress);

  Collector collector_;
  Captures captures_;
};

/// Whether `path` is a folder of mahimahi's `mm-webrecord`: one of the first 16 by name begins
/// as an exchange, of those named save.* where there are such. Reads at most 64 KiB of each.
bool is_mahimahi_folder(const std::filesystem::path& path);

/// The total of `progress` for `path`; 0 if it cannot be read.
std::uint64_t bytes_to_read(const std::filesystem::path& path);

}  // namespace reprise::importing
