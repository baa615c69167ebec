#include "tools/experiment/fresh_folder.h"

#include <algorithm>

#include "base/system/json_file.h"
#include "tools/process/output_folder.h"
#include "tools/process/say.h"

namespace reprise {

bool make_fresh_folder(const std::filesystem::path& folder, const std::vector<std::string>& names) {
  if (folder.empty()) return true;
  if (auto const made = make_output_folder(folder); !made) {
    say(0, "-o: " + made.error());
    return false;
  }
  return std::ranges::all_of(
      names, [&](const std::string& name) { return remove_stale_file(folder / name, "-o"); });
}

}  // namespace reprise
