// The tree-construction data of html5lib-tests: a document of it, with the script, has the tree
// that it had. REPRISE_HTML5LIB_TESTS names the folder that "tree-construction" lies in.

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "tests/inject/find_place.h"
#include "tests/inject/gumbo_tree.h"

namespace reprise::inject {
namespace {

/// The documents of one file; fragments are left out: they are not parsed from responses.
std::vector<std::string> documents_in(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<std::string> documents;
  std::string line, document, section;
  bool fragment = false;
  auto const end = [&] {
    if (!section.empty() && !fragment) {
      if (!document.empty()) document.pop_back();  // the line end before "#errors"
      documents.push_back(document);
    }
    document.clear();
    fragment = false;
  };
  while (std::getline(file, line)) {
    if (line == "#data") {
      end();
      section = line;
    } else if (line.starts_with("#") && (section != "#data" || line == "#errors")) {
      section = line;
      fragment = fragment || line == "#document-fragment";
    } else if (section == "#data") {
      document += line + '\n';
    }
  }
  end();
  return documents;
}

TEST(Html5libTests, EveryDocumentKeepsItsTreeAndRunsTheScriptFirst) {
  const char* const folder = std::getenv("REPRISE_HTML5LIB_TESTS");
  if (folder == nullptr) GTEST_SKIP() << "REPRISE_HTML5LIB_TESTS is not set";
  std::size_t documents = 0, nowhere = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(
           std::filesystem::path(folder) / "tree-construction")) {
    if (entry.path().extension() != ".dat") continue;
    for (const std::string& document : documents_in(entry.path())) {
      ++documents;
      auto const place = find_place(Markup::kHtml, "utf-8", document);
      auto const before = tree_of(document, "ours()");
      if (!place) {
        // The one exception: a document that ends inside its first comment or doctype.
        ++nowhere;
        EXPECT_TRUE(before.scripts.empty()) << document;
        continue;
      }
      EXPECT_EQ(find_place(Markup::kHtml, "utf-8", document, 1)->offset_bytes, place->offset_bytes);
      auto const after =
          tree_of(with_script(document, *place, "<script>ours()</script>"), "ours()");
      EXPECT_EQ(after.dump, before.dump) << entry.path() << ":\n" << document;
      EXPECT_EQ(after.found, 1) << document;
      ASSERT_FALSE(after.scripts.empty());
      EXPECT_EQ(after.scripts.front(), "ours()") << document;
    }
  }
  EXPECT_GT(documents, 1000U);
  EXPECT_LT(nowhere, documents / 20);
  RecordProperty("documents", static_cast<int>(documents));
  std::cout << documents << " documents, " << nowhere << " without a place\n";
}

}  // namespace
}  // namespace reprise::inject
