#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <expected>
#include <span>
#include <utility>

#include "archive/import/import.h"
#include "archive/import/mahimahi.h"
#include "archive/open_file.h"
#include "base/system/descriptor.h"
#include "base/system/last_error.h"
#include "base/system/mapped_file.h"
#include "base/text/counted.h"

namespace reprise::importing {
namespace fs = std::filesystem;
namespace {

class FileInput final : public Input {
 public:
  FileInput(Descriptor file, std::uint64_t size_bytes)
      : file_(std::move(file)), size_bytes_(size_bytes) {}

  std::uint64_t size_bytes() const override { return size_bytes_; }

  std::size_t read_at(std::uint64_t offset, std::span<char> into,
                      std::optional<Fault>& fault) override {
    while (true) {
      auto const got = ::pread(file_.get(), into.data(), into.size(), static_cast<off_t>(offset));
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno == EINTR) continue;
      fault = Fault{.what = "cannot be read", .system = last_system_error()};
      return 0;
    }
  }

 private:
  Descriptor file_;
  std::uint64_t size_bytes_;
};

Result<std::unique_ptr<Input>> open_input(const fs::path& path) {
  auto file = open_regular_file(path, FileLock::kNone);
  if (!file) return fail(file.error());
  auto const size = file_size(*file);
  if (!size) return fail(size.error());
  return std::make_unique<FileInput>(std::move(*file), *size);
}

/// A source that owns its file.
class FileSource final : public ByteSource {
 public:
  explicit FileSource(std::unique_ptr<Input> file)
      : file_(std::move(file)), source_(*file_, 0, file_->size_bytes(), nullptr) {}
  std::size_t read(std::span<char> into) override {
    auto const got = source_.read(into);
    if (source_.fault()) fault_ = source_.fault();
    return got;
  }

 private:
  std::unique_ptr<Input> file_;
  InputSource source_;
};

/// Opens a file in the folder of `recording`. A name outside it finds nothing: HARs are untrusted.
std::unique_ptr<ByteSource> open_attachment(const fs::path& recording, const std::string& name) {
  auto const leads_away =
      name.find('/') != std::string::npos || name.find('\0') != std::string::npos;
  if (name.empty() || name == "." || name == ".." || leads_away) return nullptr;
  auto const path = recording.parent_path() / name;
  if (std::error_code error; fs::is_symlink(path, error)) return nullptr;
  auto input = open_input(path);
  return input ? std::make_unique<FileSource>(std::move(*input)) : nullptr;
}

/// The files of a folder, ordered by name, so the order is always the same.
Result<std::vector<fs::path>> files_of(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    auto const name = entry->path().filename().string();
    if (entry->is_regular_file(error) && !entry->is_symlink(error) && !name.starts_with('.')) {
      files.push_back(entry->path());
    }
  }
  if (error) return fail(error);
  std::ranges::sort(files);
  return files;
}

/// The files of a mahimahi folder.
struct ExchangeFiles {
  std::vector<fs::path> files;
  std::size_t passed_over = 0;  ///< other files of the folder
};

/// mahimahi names each exchange save.XXXXXX. A folder without such names was renamed: all count.
Result<ExchangeFiles> exchange_files_of(const fs::path& folder) {
  auto all = files_of(folder);
  if (!all) return fail(all.error());
  ExchangeFiles found;
  for (auto const& file : *all) {
    if (file.filename().string().starts_with("save.")) found.files.push_back(file);
  }
  if (found.files.empty()) return ExchangeFiles{.files = std::move(*all)};
  found.passed_over = all->size() - found.files.size();
  return found;
}

/// A file of mahimahi. The error names it.
std::expected<std::string, Fault> read_exchange(const fs::path& file) {
  auto const name = file.filename().string();
  auto const input = open_input(file);
  if (!input) return std::unexpected(Fault{.what = name, .system = input.error()});
  if ((*input)->size_bytes() > kMahimahiBytesMax) {
    return std::unexpected(Fault{.what = name + ": too large"});
  }
  std::string bytes((*input)->size_bytes(), '\0');
  std::optional<Fault> fault;
  bytes.resize((*input)->read_at(0, bytes, fault));
  if (fault) return std::unexpected(std::move(*fault));
  return bytes;
}

/// Mahimahi writes no times. Files that cannot be read are ignored here.
UnixTime start_of_folder(const std::vector<fs::path>& files) {
  EarliestDate date;
  for (auto const& file : files) {
    if (auto const bytes = read_exchange(file)) take_mahimahi_date(*bytes, date);
  }
  return date.get();
}

bool is_mahimahi_file(const fs::path& file) {
  auto const input = open_input(file);
  if (!input) return false;
  std::string start(kMahimahiStartBytes, '\0');
  std::optional<Fault> fault;
  start.resize((*input)->read_at(0, start, fault));
  return !fault && begins_as_mahimahi(start);
}

std::uint64_t size_of(const fs::path& file) {
  std::error_code error;
  auto const size = fs::file_size(file, error);
  return error ? 0 : size;
}

}  // namespace

bool is_mahimahi_folder(const fs::path& path) {
  constexpr std::size_t kLookedAt = 16;
  auto const found = exchange_files_of(path);
  if (!found) return false;
  auto const first = std::span(found->files).first(std::min(found->files.size(), kLookedAt));
  return std::ranges::any_of(first, is_mahimahi_file);
}

std::uint64_t bytes_to_read(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return size_of(path);
  std::uint64_t bytes = 0;
  auto const found = exchange_files_of(path);
  if (!found) return 0;
  for (auto const& file : found->files) bytes += size_of(file);
  return bytes;
}

std::optional<Fault> Importer::read_path(const fs::path& path, const Progress& progress) {
  if (std::error_code error; fs::is_directory(path, error)) return read_folder(path, progress);
  auto const input = open_input(path);
  if (!input) return Fault{.what = {}, .system = input.error()};
  return read(
      **input, [&path](const std::string& name) { return open_attachment(path, name); }, progress);
}

/// Mahimahi writes one file per exchange.
std::optional<Fault> Importer::read_folder(const fs::path& path, const Progress& progress) {
  auto const found = exchange_files_of(path);
  if (!found) return Fault{.what = {}, .system = found.error()};
  if (found->files.empty()) return Fault{.what = "the folder contains no files"};
  if (found->passed_over > 0) {
    collector_.report().remark(counted(found->passed_over, "file") +
                               " of the folder without the name save.* passed over");
  }
  auto const started = start_of_folder(found->files);
  for (auto const& file : found->files) {
    auto const bytes = read_exchange(file);
    if (!bytes) return bytes.error();
    if (progress) progress(bytes->size());
    if (!import_mahimahi(*bytes, started, collector_) && !collector_.failed()) {
      collector_.damage(file.filename().string() + ": not a mahimahi exchange");
    }
    if (collector_.failed()) break;
  }
  return collector_.take_fault();
}

}  // namespace reprise::importing
