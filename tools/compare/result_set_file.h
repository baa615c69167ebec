#pragma once

// The set.json of a result set.

#include <boost/json/object.hpp>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace reprise {

inline constexpr std::string_view kSetSchema = "reprise-set/1";

/// A page of a set. `name` is the name of a file; `failure` is untrusted text.
struct SetPage {
  std::string name;
  /// Why nothing of it was measured on any side; empty if something was, or if nobody tried.
  std::string failure;
};

/// As `campaign collect` writes it: a line for the set, then one for each page. Pages are read one
/// at a time. The text is untrusted: what is no name of a file is passed over.
class ResultSetFile {
 public:
  explicit ResultSetFile(const std::filesystem::path& path);

  /// Empty if the file is missing, or is no set.json.
  std::set<std::string> sides() const;
  /// Nothing after the last one.
  std::optional<SetPage> next_page();

 private:
  std::ifstream file_;
  boost::json::object head_;
};

}  // namespace reprise
