#include "dns/hosts_file.h"

#include <algorithm>
#include <unordered_map>

#include "dns/host.h"

namespace reprise::dns {
namespace {

namespace ip = boost::asio::ip;

constexpr std::size_t kProblemsMax = 20;
constexpr std::size_t kShownMax = 80;  // of a word, in a problem's text

std::string_view take_word(std::string_view& line) {
  constexpr std::string_view kBlank = " \t\r\f\v";
  line.remove_prefix(std::min(line.find_first_not_of(kBlank), line.size()));
  auto const word = line.substr(0, line.find_first_of(kBlank));
  line.remove_prefix(word.size());
  return word;
}

class Parser {
 public:
  void line(std::string_view line, std::size_t number) {
    number_ = number;
    line = line.substr(0, line.find('#'));
    auto const address_text = take_word(line);
    if (address_text.empty()) return;
    boost::system::error_code error;
    auto const address = ip::make_address(address_text, error);
    if (error) return problem(address_text, "is not an IP address");
    auto name = take_word(line);
    if (name.empty()) return problem(address_text, "has no name after the address");
    for (; !name.empty(); name = take_word(line)) add(name, address);
  }

  HostsFile finish() { return std::move(file_); }

 private:
  void add(std::string_view name, const ip::address& address) {
    auto& zone = file_.zone;
    if (name == "*") {
      if (!address.is_v4()) return problem(name, "needs an IPv4 address");
      if (!zone.catch_all) zone.catch_all = address.to_v4();
      return;
    }
    auto const host = normal_host(name);
    if (!host || parse_address(*host)) return problem(name, "is not a host name");
    auto const [at, added] = by_host_.try_emplace(*host, zone.entries.size());
    if (added) zone.entries.push_back({.host = *host});
    auto& entry = zone.entries[at->second];
    if (address.is_v4()) {
      entry.v4.push_back(address.to_v4());
    } else {
      entry.v6.push_back(address.to_v6());
    }
  }

  void problem(std::string_view word, const char* what) {
    if (file_.problems.size() == kProblemsMax) return;
    file_.problems.push_back(
        {.line = number_, .what = "'" + std::string(word.substr(0, kShownMax)) + "' " + what});
  }

  HostsFile file_;
  std::unordered_map<std::string, std::size_t> by_host_;
  std::size_t number_ = 0;
};

}  // namespace

HostsFile parse_hosts(std::string_view text) {
  Parser parser;
  for (std::size_t number = 1; !text.empty(); ++number) {
    auto const end = std::min(text.find('\n'), text.size());
    parser.line(text.substr(0, end), number);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parser.finish();
}

}  // namespace reprise::dns
