#pragma once

// `--what-if` of replay, load and the sides of a gate.

#include <boost/json/array.hpp>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/system/private_folder.h"
#include "proxy/whatif/conditions.h"
#include "proxy/whatif/effect.h"
#include "tools/commands.h"
#include "tools/serve/serving.h"

namespace reprise {

struct WhatIfOptions {
  std::vector<std::string> texts;  ///< as given
  std::uint32_t session = 0;       ///< the recorded one that is served; 0: as session_to_replay()
  std::uint64_t seed = 0;          ///< of think times that are drawn
  /// Whether requests have think times before (--think-time).
  bool has_think_times = true;
  std::vector<std::string> protocols = {};  ///< --protocol of its replays; empty: not known
  bool may_be_idle = false;                 ///< texts that change nothing are no errors
  /// Asked between exchanges: the exit code of a command that is to end, or nothing.
  std::function<std::optional<int>()> ended = {};
};

/// The archive to serve: the given one, or its changed copy in a private folder, which lives as
/// long as this object.
class WhatIfArchive {
 public:
  /// Errors: an invalid text, one that changes nothing, an unusable archive, an end.
  static std::expected<WhatIfArchive, CommandRefusal> make(const std::filesystem::path& archive,
                                                           const WhatIfOptions& options);

  /// The path to open.
  const std::filesystem::path& path() const { return path_; }
  /// Removes the copy. Call it once the archive is open.
  void remove_copy() { folder_.remove(); }

  /// How it is to be served.
  const whatif::Conditions& conditions() const { return conditions_; }
  /// The texts that a replay of path() still has to be given.
  const std::vector<std::string>& condition_texts() const { return condition_texts_; }
  /// One for each text, in order.
  const std::vector<whatif::Effect>& effects() const { return effects_; }

 private:
  explicit WhatIfArchive(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
  PrivateFolder folder_;  // of the copy
  whatif::Conditions conditions_;
  std::vector<std::string> condition_texts_;
  std::vector<whatif::Effect> effects_;
};

/// Lines for people: what each what-if changed, and what it could not.
std::string what_if_text(const std::vector<whatif::Effect>& effects);
/// The same for reports: `text`, `selected`, `changed`, `places`, `remarks`.
boost::json::array what_if_json(const std::vector<whatif::Effect>& effects);

/// Moves hosts away and together, and makes names slow. A host that is put with the page gets the
/// page's addresses, at most dns::Responder::kAddressesMax.
void change_naming(const whatif::Conditions& conditions, Naming& naming);

}  // namespace reprise
