#pragma once

#include <gmock/gmock.h>

#include "archive/export/export.h"
#include "archive/import/import.h"
#include "tests/archive/archive_fixture.h"

namespace reprise::exporting {

class TextOutput final : public Output {
 public:
  void write(std::string_view bytes) override { text += bytes; }
  std::string text;
};

/// What a target makes of an archive's last complete session.
struct Exported {
  std::string text;
  ExportReport report;
  std::optional<Fault> fault;
};
Exported export_as(const ArchiveReader& archive, Target target, bool gzip = false);

/// Imports a file's bytes into a new archive.
void import_into(const std::filesystem::path& path, std::string_view recording);

/// `body` without its content codings; as it is where it has not got them.
std::string decoded(const ArchiveReader& archive, const Headers& headers, const StoredBody& body);

/// "name: value" a line.
std::string lines_of(const Headers& headers);

/// Holds `after` against what the target's row in docs/formats.md promises to keep of `before`.
void expect_kept(Target target, const ArchiveReader& before, const ArchiveReader& after);

}  // namespace reprise::exporting
