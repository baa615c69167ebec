#include "proxy/replay/response/stitched_files.h"

#include <string>

namespace reprise {

const StitchedParts* StitchedFiles::of(std::uint32_t ordinal) {
  std::scoped_lock const lock(mutex_);
  auto const known = files_.find(ordinal);
  if (known != files_.end()) return known->second.parts.get();
  if (files_.size() >= kFilesMax) return nullptr;
  auto const part = StitchedParts::first_part(archive_, ordinal, cut_too_);
  auto like = part ? exchanges_.get(*part) : nullptr;
  if (!like || like->response() == nullptr) {
    files_.emplace(ordinal, Stitched{});
    return nullptr;
  }
  StitchedParts::Sources sources{.archive = archive_,
                                 .cut_too = cut_too_,
                                 .on_damage = [this, like](const std::string& problem) {
                                   on_damage_(like->exchange().request, problem);
                                 }};
  auto made = StitchedParts::of(std::move(sources), *part, *like->response());
  Stitched stitched{.like = std::move(like), .parts = std::move(made)};
  return files_.emplace(ordinal, std::move(stitched)).first->second.parts.get();
}

}  // namespace reprise
