#include "tools/archive/errors.h"

#include "archive/error.h"

namespace reprise {

std::string archive_error_text(const std::filesystem::path& path, std::error_code error) {
  auto text = path.string() + ": " + error.message();
  if (error == archive_errc::already_exists) {
    return text + "; use --append to add a session, or choose another file";
  }
  if (error == archive_errc::newer_version) return text + "; update reprise";
  if (error == archive_errc::corrupt) {
    return text +
           ". Run `reprise archive verify` to see where, `reprise archive repair` to keep the "
           "undamaged exchanges";
  }
  if (error == archive_errc::bad_header) return text + "; use a copy";
  if (error == archive_errc::locked) return text + "; stop the other reprise first";
  if (error == archive_errc::not_an_archive) {
    return text +
           "; `reprise archive import F -o page.reprise` reads HAR, WARC, .wprgo, mitmproxy and "
           "mahimahi recordings";
  }
  if (error == std::errc::is_a_directory) {
    return text + "; give an archive. `reprise archive import` makes one from a mahimahi folder";
  }
  return text;
}

std::string no_session_text(const std::filesystem::path& path, std::uint32_t asked) {
  if (asked == 0) return path.string() + ": no session: the archive is empty";
  return path.string() + ": no session " + std::to_string(asked) +
         "; `reprise archive ls` names the sessions";
}

}  // namespace reprise
