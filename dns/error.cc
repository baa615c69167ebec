#include "dns/error.h"

#include <string>

namespace reprise::dns {
namespace {

const char* text_of(errc error) {
  switch (error) {
    case errc::truncated:
      return "the DNS message ends too early";
    case errc::bad_name:
      return "not a domain name";
    case errc::bad_pointer:
      return "a compressed name has an invalid pointer";
    case errc::bad_record:
      return "a record does not match its type";
    case errc::bad_edns:
      return "malformed EDNS record";
    case errc::trailing_bytes:
      return "bytes after the end of the DNS message";
    case errc::too_large:
      return "the DNS message is too large";
    case errc::bad_address:
      return "not an IP address";
    case errc::bad_line:
      return "a line is not 'ADDRESS NAME...'";
    case errc::too_many_addresses:
      return "more than 65000 origin addresses";
    case errc::no_servers:
      return "no DNS server to ask; name one with --dns-server";
    case errc::timed_out:
      return "no DNS server answered in time";
    case errc::no_such_name:
      return "no such name";
    case errc::no_address:
      return "the name has no address";
    case errc::refused:
      return "the DNS servers refused or failed";
    case errc::unreachable:
      return "no DNS server can be reached";
    case errc::stopped:
      return "the look-up was stopped";
  }
  return "unknown DNS error";
}

class Category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "dns"; }
  std::string message(int value) const override { return text_of(static_cast<errc>(value)); }
};

}  // namespace

const std::error_category& category() {
  static const Category category;
  return category;
}

std::error_code make_error_code(errc error) {
  return {static_cast<int>(error), category()};
}

}  // namespace reprise::dns
