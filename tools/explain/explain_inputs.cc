#include "tools/explain/explain_inputs.h"

#include <fcntl.h>

#include <cstdio>
#include <expected>
#include <string>
#include <string_view>

#include "analysis/beacons/beacon_reader.h"
#include "analysis/calls/call_lines.h"
#include "analysis/sources/archive_calls.h"
#include "analysis/sources/har_calls.h"
#include "analysis/sources/load_calls.h"
#include "archive/import/import.h"
#include "archive/import/source/decompress.h"
#include "archive/import/source/json_reader.h"
#include "archive/record.h"
#include "base/system/descriptor.h"
#include "base/system/last_error.h"
#include "base/system/mapped_file.h"
#include "base/text/counted.h"
#include "base/text/white_space.h"
#include "pageload/results/result_file.h"
#include "tools/archive/given_archive.h"
#include "tools/archive/open.h"
#include "tools/commands.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;
using importing::ByteReader;

int say(const fs::path& path, const std::string& wrong) {
  std::fprintf(stderr, "reprise: %s: %s\n", path.c_str(), wrong.c_str());
  return kExitFailed;
}

/// A file, mapped, and decompressed while it is read.
class OpenFile {
 public:
  static std::expected<OpenFile, std::string> open(const fs::path& path) {
    Descriptor const file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.is_open()) return std::unexpected("cannot be read: " + last_system_error().message());
    auto const size = file_size(file);
    if (!size) return std::unexpected("cannot be read: " + size.error().message());
    if (*size == 0) return std::unexpected("is empty");
    auto map = MappedFile::map(file, *size);
    if (!map) return std::unexpected("cannot be read: " + map.error().message());
    return OpenFile(std::move(*map));
  }

  std::span<const std::byte> bytes() const { return map_.bytes(); }
  std::unique_ptr<importing::ByteSource> source() {
    return importing::decompressed(
        std::make_unique<importing::InputSource>(input_, 0, input_.size_bytes(), nullptr), text());
  }
  /// The first bytes, decompressed.
  std::string start() {
    auto const from = source();
    ByteReader reader(*from);
    return std::string(reader.fill(ByteReader::kBufferBytes));
  }

 private:
  explicit OpenFile(MappedFile map) : map_(std::move(map)), input_(text()) {}
  std::string_view text() const {
    return {reinterpret_cast<const char*>(map_.bytes().data()), map_.bytes().size()};
  }

  MappedFile map_;
  importing::MemoryInput input_;
};

/// Whether the text begins as a JSON object with this member, before any member of 64 KiB.
bool has_member(std::string_view start, std::string_view wanted) {
  importing::MemoryInput input(start);
  importing::InputSource source(input, 0, start.size(), nullptr);
  ByteReader reader(source);
  importing::JsonReader json(reader);
  if (json.peek() != importing::JsonKind::kObject || !json.enter_object()) return false;
  for (std::string name; json.next_member(name); json.skip()) {
    if (name == wanted) return true;
  }
  return false;
}

/// Whether one of the first lines is a beacon (analysis/beacons/BEACONS.md).
bool has_beacon(std::string_view start) {
  constexpr int kLinesTried = 16;
  for (int i = 0; i < kLinesTried && !start.empty(); ++i) {
    auto const end = std::min(start.find('\n'), start.size());
    auto const line = trim(start.substr(0, end));
    start.remove_prefix(std::min(end + 1, start.size()));
    if (line.starts_with('{')) {
      for (auto const* const member : {"entries", "requests", "restiming"}) {
        if (has_member(line, member)) return true;
      }
    } else if (line.starts_with('[') ? line.contains("\"entryType\"")
                                     : line.contains("restiming=") || line.contains("nt_nav_st=")) {
      return true;
    }
  }
  return false;
}

class InputReader {
 public:
  InputReader(const fs::path& path, ExplainInputs& inputs) : path_(path), inputs_(inputs) {}

  int run() {
    auto file = OpenFile::open(path_);
    if (!file) return say(path_, file.error());
    if (check_file_header(file->bytes().first(std::min(file->bytes().size(), kFileHeaderBytes)))) {
      return read_archive(path_);
    }
    auto const start = file->start();
    auto const kind = importing::recognise(start);
    // A line of JSON can be taken for another tool's recording, a form cannot.
    bool const is_json = start.starts_with('{') || start.starts_with('[');
    bool const is_recording = kind != importing::RecordingKind::kUnknown && !is_json;
    if (!is_recording && has_beacon(start)) return read_beacons(*file);
    if (kind == importing::RecordingKind::kHar) return read_har(*file);
    if (kind != importing::RecordingKind::kUnknown) return read_recording();
    auto const first_line = std::string_view(start).substr(0, start.find('\n'));
    if (has_member(first_line, "calls")) return read_lines(*file);
    return read_result();
  }

 private:
  void add(CallTree tree, std::size_t load) {
    inputs_.views.push_back(
        {.input = inputs_.inputs.size(), .load = load, .tree = std::move(tree)});
    ++views_;
  }
  int finish(std::string_view nothing) {
    if (views_ == 0) return say(path_, std::string(nothing));
    inputs_.inputs.push_back({.name = path_.filename().string(), .views = views_});
    return kExitDone;
  }

  int read_result() {
    auto const result = read_result_file(path_);
    if (!result) {
      return say(
          path_,
          "neither a result of `load -o`, an archive, a HAR, nor lines of calls or beacons: " +
              result.error());
    }
    for (auto& [load, tree] : calls_of(*result, inputs_.losses)) add(std::move(tree), load + 1);
    return finish("has no load that counts");
  }

  int read_archive(const fs::path& path) {
    auto const archive = open_with_remarks(path);
    return archive ? take_archive(*archive) : kExitArchive;
  }
  int take_archive(const OpenArchive& archive) {
    std::size_t session = 0;
    for (CallTree& tree : calls_of(*archive.reader, inputs_.losses))
      add(std::move(tree), ++session);
    return finish("has no exchange with recorded times");
  }
  int read_recording() {
    auto given = GivenArchive::take(path_);
    if (!given) return given.error();
    auto const archive = open_with_remarks(given->path());
    given->remove_copy();
    return archive ? take_archive(*archive) : kExitArchive;
  }

  int read_har(OpenFile& file) {
    auto const source = file.source();
    ByteReader reader(*source);
    auto trees = read_har_calls(reader);
    if (!trees) return say(path_, trees.error());
    std::size_t page = 0;
    for (CallTree& tree : *trees) add(std::move(tree), ++page);
    return finish("");
  }

  int read_lines(OpenFile& file) {
    auto const source = file.source();
    ByteReader reader(*source);
    std::size_t number = 0;
    std::size_t bad = 0;
    for (std::string line; ++number, line.clear(), reader.line(line, kCallLineBytesMax);) {
      if (line.find_first_not_of(" \t") == std::string::npos) continue;
      if (auto tree = read_call_line(line)) {
        add(std::move(*tree), number);
      } else if (++bad == 1) {
        say(path_, "line " + std::to_string(number) + " skipped: " + tree.error());
      }
    }
    if (reader.failed()) say(path_, reader.fault()->what);
    if (bad > 1) say(path_, counted(bad, "line") + " skipped in all");
    if (bad > 0) inputs_.losses.push_back({.what = "lines that are not calls", .count = bad});
    return finish("has no line of calls");
  }

  int read_beacons(OpenFile& file) {
    auto const source = file.source();
    ByteReader reader(*source);
    BeaconReader beacons;
    std::size_t number = 0, bad = 0, others = 0;
    for (std::string line;
         ++number, line.clear(), reader.line(line, BeaconReader::kLineBytesMax);) {
      if (trim(line).empty()) continue;
      if (auto const view = beacons.read(line)) {
        add(tree_of(**view), number);
      } else if (view.error().is_other_beacon) {
        ++others;
      } else if (++bad == 1) {
        say(path_, "line " + std::to_string(number) + " skipped: " + view.error().why);
      }
    }
    if (reader.failed()) say(path_, reader.fault()->what);
    if (bad > 1) say(path_, counted(bad, "line") + " skipped in all");
    if (bad > 0) inputs_.losses.push_back({.what = "lines that are not beacons", .count = bad});
    if (others > 0) {
      inputs_.losses.push_back({.what = "beacons that are not of a view", .count = others});
    }
    return finish("has no beacon of a view");
  }

  const fs::path& path_;
  ExplainInputs& inputs_;
  std::size_t views_ = 0;
};

}  // namespace

int read_explain_input(const fs::path& path, ExplainInputs& inputs) {
  return InputReader(path, inputs).run();
}

}  // namespace reprise
