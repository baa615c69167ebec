#pragma once

// Random archives, and everything that one holds in a form that can be compared with another's.

#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/archive/archive_fixture.h"

namespace reprise {

/// An exchange without the places of its bodies, and their bytes.
struct LoadedExchange {
  Exchange exchange;
  std::string request_body;
  std::string response_body;
};

struct LoadedArchive {
  std::vector<SessionInfo> sessions;
  std::vector<ConnectionFacts> connections;
  std::vector<DnsAnswer> answers;
  std::vector<LoadedExchange> exchanges;  ///< in the order of `ls`
};

/// Everything; the archive must be whole, closed and without a problem.
LoadedArchive load_all(const std::filesystem::path& path);

void expect_same(const LoadedExchange& a, const LoadedExchange& b);

/// One to three sessions with up to 40 exchanges each, that use every member: few hosts, so that
/// there are repeats, connections that several share, that nobody used and that failed, DNS answers
/// also on hosts without exchanges, bodies that many share, large ones, cookies and tokens.
void make_random_archive(const std::filesystem::path& path, std::uint64_t seed);

}  // namespace reprise
