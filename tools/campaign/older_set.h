#pragma once

// The set.json of a result set that is about to be replaced.

#include <boost/json/object.hpp>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace reprise {

inline constexpr std::string_view kSetSchema = "reprise-set/1";

/// As `campaign collect` writes it: a line for the set, then one for each page. Pages are read one
/// at a time. The text is untrusted: what is no name of a file is passed over.
class OlderSet {
 public:
  explicit OlderSet(const std::filesystem::path& path);

  std::set<std::string> sides() const;
  /// The name of the next page; nothing after the last one.
  std::optional<std::string> next_page();

 private:
  std::ifstream file_;
  boost::json::object head_;
};

}  // namespace reprise
