#include "base/system/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "base/system/last_error.h"

namespace reprise {
namespace {

/// Zero if the kernel does not provide it.
std::uint64_t available_memory_bytes() {
  std::ifstream meminfo("/proc/meminfo");
  std::string name;
  std::uint64_t kibibytes = 0;
  std::string unit;
  while (meminfo >> name >> kibibytes && std::getline(meminfo, unit)) {
    if (name == "MemAvailable:") return kibibytes * 1024;
  }
  return 0;
}

}  // namespace

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

Result<MappedFile> MappedFile::map(const Descriptor& file, std::uint64_t size_bytes) {
  MappedFile mapped;
  if (size_bytes == 0) return mapped;
  auto* const address = ::mmap(nullptr, size_bytes, PROT_READ, MAP_SHARED, file.get(), 0);
  if (address == MAP_FAILED) return fail(last_system_error());
  mapped.bytes_ = {static_cast<const std::byte*>(address), size_bytes};
  return mapped;
}

void MappedFile::populate() const {
  if (bytes_.empty() || bytes_.size() >= available_memory_bytes() / 2) return;
  ::madvise(const_cast<std::byte*>(bytes_.data()), bytes_.size(), MADV_POPULATE_READ);
}

Result<std::uint64_t> file_size(const Descriptor& file) {
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return fail(last_system_error());
  return static_cast<std::uint64_t>(status.st_size);
}

Result<void> sync_file(const std::filesystem::path& path) {
  Descriptor const file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open() || ::fsync(file.get()) != 0) return fail(last_system_error());
  return {};
}

}  // namespace reprise
