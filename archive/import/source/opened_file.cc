#include "archive/import/source/opened_file.h"

#include <fcntl.h>

#include "archive/import/source/decompress.h"
#include "base/system/descriptor.h"
#include "base/system/last_error.h"

namespace reprise::importing {

std::expected<OpenedFile, std::string> OpenedFile::open(const std::filesystem::path& path) {
  Descriptor const file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return std::unexpected("cannot be read: " + last_system_error().message());
  auto const size = file_size(file);
  if (!size) return std::unexpected("cannot be read: " + size.error().message());
  if (*size == 0) return std::unexpected("is empty");
  auto map = MappedFile::map(file, *size);
  if (!map) return std::unexpected("cannot be read: " + map.error().message());
  return OpenedFile(std::move(*map));
}

std::unique_ptr<ByteSource> OpenedFile::source() {
  return decompressed(std::make_unique<InputSource>(input_, 0, input_.size_bytes(), nullptr),
                      text());
}

std::string OpenedFile::start() {
  auto const from = source();
  ByteReader reader(*from);
  return std::string(reader.fill(ByteReader::kBufferBytes));
}

}  // namespace reprise::importing
