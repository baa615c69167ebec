#include "tools/predict/tested_file.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "analysis/dependency/dependency_json.h"
#include "base/system/private_file.h"
#include "base/system/text_file.h"
#include "base/text/counted.h"
#include "tools/archive/given_archive.h"

namespace reprise {

TestedFile::TestedFile(const std::filesystem::path& archive)
    : path_(without_slash(archive).concat(".dependency.json")) {}

bool TestedFile::exists() const {
  std::error_code error;
  return std::filesystem::exists(path_, error);
}

std::expected<std::vector<TestedPage>, std::string> TestedFile::pages(
    const std::string& sha256) const {
  if (!exists()) return {};
  auto const ignored = path_.string() + " is ignored: ";
  auto const text = read_text_file(path_, kDependencyBytesMax);
  if (!text) return std::unexpected(ignored + text.error().message());
  auto tested = read_tested_dependencies(*text);
  if (!tested) return std::unexpected(ignored + tested.error());
  if (tested->archive_sha256 != sha256 || sha256.empty()) {
    return std::unexpected(ignored +
                           "the archive has changed since. Run `reprise predict "
                           "--perturb` again");
  }
  return std::move(tested->pages);
}

std::expected<std::optional<TestedPage>, std::string> TestedFile::page(
    const std::string& sha256, const std::string& url) const {
  auto all = pages(sha256);
  if (!all) return std::unexpected(std::move(all.error()));
  auto const found =
      std::ranges::find(*all, url, [](const TestedPage& each) { return each.graph.page; });
  if (found == all->end()) return std::nullopt;
  return std::move(*found);
}

std::optional<std::string> TestedFile::keep(const std::string& sha256, TestedPage page) const {
  if (sha256.empty()) return path_.string() + " is not written: the archive cannot be read";
  TestedDependencies tested{.archive_sha256 = sha256, .pages = {}};
  if (auto earlier = pages(sha256)) tested.pages = std::move(*earlier);
  tested.put(std::move(page));
  auto const count = tested.pages.size();
  auto const text = tested_dependencies_json(tested);
  // Beside an archive of a stranger, a symbolic link can lead anywhere: it is replaced.
  if (auto const written = replace_file(text, path_, 0600); !written) {
    return path_.string() + " cannot be written: " + written.error().message() +
           "; later predictions will not know what was tested";
  }
  auto const dropped = count - tested.pages.size();
  if (dropped == 0) return std::nullopt;
  return path_.string() + " is full: without " + counted(dropped, "page") + " tested earlier";
}

}  // namespace reprise
