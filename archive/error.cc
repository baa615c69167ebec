#include "archive/error.h"

#include <string>

namespace reprise {
namespace {

class ArchiveCategory final : public std::error_category {
 public:
  const char* name() const noexcept override { return "archive"; }
  std::string message(int value) const override {
    switch (static_cast<archive_errc>(value)) {
      case archive_errc::not_an_archive:
        return "not a reprise archive";
      case archive_errc::newer_version:
        return "written by a newer reprise";
      case archive_errc::bad_header:
        return "its file header is damaged: no command can read it";
      case archive_errc::corrupt:
        return "damaged: a checksum or a length does not hold";
      case archive_errc::too_large:
        return "exceeds a limit of the archive format";
      case archive_errc::locked:
        return "in use by another process";
      case archive_errc::already_exists:
        return "already exists";
      case archive_errc::removed:
        return "removed or replaced while it was being written: the recording is lost";
    }
    return "unknown archive error";
  }
};

}  // namespace

const std::error_category& archive_category() {
  static const ArchiveCategory category;
  return category;
}

std::error_code make_error_code(archive_errc error) {
  return {static_cast<int>(error), archive_category()};
}

}  // namespace reprise
