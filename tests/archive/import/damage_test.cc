// Recordings that were damaged at random, with fixed seeds: whatever a file reveals by its
// checksums, digests or syntax is refused or named.

#include <cstdlib>
#include <fstream>
#include <iostream>

#include "tests/archive/import/damaged.h"
#include "tests/archive/import/import_fixture.h"

namespace reprise::importing {
namespace {

namespace fs = std::filesystem;

/// What became of damaged files of one kind.
struct Tally {
  std::size_t files = 0;
  std::size_t refused = 0;
  std::size_t named = 0;   ///< imported; the report names a loss
  std::size_t same = 0;    ///< nothing that is imported was hit
  std::size_t hidden = 0;  ///< changed, where the format has nothing that could reveal it
  std::size_t missed = 0;  ///< changed without a word, though the file reveals it
};

/// A recording, and how much of itself its format covers by checksums.
struct Sample {
  std::string name;
  std::string bytes;
  enum class Cover : std::uint8_t { kAll, kDigests, kNone } cover = Cover::kNone;
};

bool reveals(const Sample& sample, const Damaged& damaged) {
  if (sample.cover != Sample::Cover::kDigests) return sample.cover == Sample::Cover::kAll;
  for (const Range& block : digested_blocks(sample.bytes)) {
    for (const Range& touched : damaged.touched) {
      if (touched.begin < block.end && touched.end > block.begin) return true;
    }
  }
  return false;
}

class ImportDamage : public ImportTest {
 protected:
  /// Imports `count` damaged forms of a sample.
  void check(const Sample& sample, std::uint64_t seed, std::size_t count, Tally& tally) {
    ASSERT_EQ(import(sample.bytes), "") << sample.name;
    auto const whole = contents_of(sink);
    auto const said = report;
    std::mt19937_64 random(seed);
    for (std::size_t i = 0; i < count; ++i) {
      auto const damaged = damage(sample.bytes, random);
      ++tally.files;
      // (An import of nothing is refused, too: by the command.)
      if (!import(damaged.bytes).empty() || sink.exchanges.empty()) {
        ++tally.refused;
      } else if (contents_of(sink) == whole) {
        ++tally.same;
      } else if (says_more(said, report)) {
        ++tally.named;
      } else if (!reveals(sample, damaged)) {
        ++tally.hidden;
      } else {
        ++tally.missed;
        ADD_FAILURE() << sample.name << ", seed " << seed << ", file " << i << ": " << damaged.what;
      }
    }
  }
};

Sample::Cover cover_of(const std::string& bytes) {
  if (bytes.starts_with("PK") || bytes.starts_with("\x1f\x8b")) return Sample::Cover::kAll;
  return bytes.starts_with("WARC") ? Sample::Cover::kDigests : Sample::Cover::kNone;
}

std::string kind_of(const fs::path& file, const std::string& bytes) {
  if (bytes.starts_with("WARC")) return "WARC, plain";
  auto const suffix = file.extension().string();
  if (file.string().find(".warc.gz") != std::string::npos) return "WARC, gzip";
  if (suffix == ".wacz") return "WACZ";
  if (suffix == ".har") return "HAR";
  if (suffix == ".mitm") return "mitmproxy";
  if (suffix == ".wprgo") return ".wprgo";
  return suffix == ".arc" ? "ARC, plain" : "other";
}

std::string read_whole(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A recording of some exchanges, as WARC records with digests.
std::vector<std::string> records_with_digests() {
  std::vector<std::string> records;
  for (int i = 0; i < 6; ++i) {
    auto const id = std::to_string(i);
    auto const uri = "http://a.test/" + id;
    auto const request = "GET /" + id + " HTTP/1.1\r\nHost: a.test\r\n\r\n";
    auto const response =
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n" + std::string(i * 200, 'a' + i);
    records.push_back(record(
        "request",
        about("q" + id, "WARC-Concurrent-To: <r" + id + ">\r\n" + block_digest(request), uri),
        request));
    records.push_back(record("response", about("r" + id, block_digest(response), uri), response));
  }
  return records;
}

TEST_F(ImportDamage, OfWhatAFormatCoversIsNeverTakenForGood) {
  std::string plain;
  std::string members;
  for (auto const& each : records_with_digests()) {
    plain += each;
    members += gzip(each);
  }
  std::string const pages = "{\"format\":\"json-pages-1.0\"}\n{\"url\":\"http://a.test/1\"}\n";
  std::string const har =
      R"({"log":{"entries":[{"request":{"method":"GET","url":"http://a.test/"},)"
      R"("response":{"status":200,"headers":[],"content":{"size":2,"text":"hi"}}}]}})";
  using Cover = Sample::Cover;
  for (auto const& sample :
       {Sample{"a WARC with digests", plain, Cover::kDigests},
        Sample{"a WARC with a member a record", members, Cover::kAll},
        Sample{"a WARC as one member", gzip(plain), Cover::kAll},
        Sample{"a WACZ with a plain WARC",
               zip({{"pages/pages.jsonl", pages}, {"archive/a.warc", plain}}), Cover::kAll},
        Sample{"a WACZ with a compressed WARC",
               zip({{"archive/a.warc.gz", members}, {"pages/pages.jsonl", pages}}), Cover::kAll},
        Sample{"a HAR in a zip", zip({{"a.har", har}}), Cover::kAll},
        Sample{"a compressed HAR", gzip(har), Cover::kAll}}) {
    Tally tally;
    check(sample, 1, 150, tally);
    EXPECT_EQ(tally.files, tally.refused + tally.named + tally.same + tally.hidden);
    EXPECT_GT(tally.refused, 50U) << sample.name;
    if (sample.cover == Cover::kAll) EXPECT_EQ(tally.hidden, 0U) << sample.name;
  }
}

TEST_F(ImportDamage, OfRealRecordingsIsNeverTakenForGood) {
  constexpr std::size_t kFiles = 500;
  constexpr std::uintmax_t kBytesMax = 1 << 20;
  const char* const corpus = std::getenv("REPRISE_CORPUS");
  if (corpus == nullptr) GTEST_SKIP() << "REPRISE_CORPUS names no folder";
  std::map<std::string, std::vector<fs::path>> kinds;
  for (auto const& entry : fs::recursive_directory_iterator(corpus)) {
    if (!entry.is_regular_file() || entry.file_size() > (8 * kBytesMax)) continue;
    auto const bytes = read_whole(entry.path());
    if (bytes.size() < 2 || !import(bytes).empty() || sink.exchanges.empty()) continue;
    auto const kind = kind_of(entry.path(), bytes);
    if (bytes.size() <= kBytesMax || kind == ".wprgo") kinds[kind].push_back(entry.path());
  }
  std::map<std::string, Tally> tallies;
  std::size_t round = 0;
  for (std::size_t made = 0; made < kFiles; ++round) {
    for (auto& [kind, files] : kinds) {
      if (round == 0) std::ranges::sort(files);
      if (made == kFiles) break;
      auto const& file = files[round % files.size()];
      auto const bytes = read_whole(file);
      check({file.string(), bytes, cover_of(bytes)}, made++, 1, tallies[kind]);
    }
  }
  std::cout << "| recording | damaged | refused | loss named | same | hidden | missed |\n";
  for (auto const& [kind, t] : tallies) {
    std::cout << "| " << kind << " | " << t.files << " | " << t.refused << " | " << t.named << " | "
              << t.same << " | " << t.hidden << " | " << t.missed << " |\n";
  }
}

}  // namespace
}  // namespace reprise::importing
