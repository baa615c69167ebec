#include "tools/archive/errors.h"

#include "archive/error.h"

namespace reprise {

std::string archive_error_text(const std::filesystem::path& path, std::error_code error) {
  auto text = path.string() + ": " + error.message();
  if (error == archive_errc::already_exists) {
    return text + "; --append adds a session to it, or name another file";
  }
  if (error == archive_errc::newer_version) return text + "; update reprise";
  if (error == archive_errc::locked) return text + "; end the other reprise first";
  if (error == archive_errc::not_an_archive) {
    return text + "; name a file that `reprise record` wrote";
  }
  return text;
}

}  // namespace reprise
