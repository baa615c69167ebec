#pragma once

#include <gmock/gmock.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/archive/import/collecting_sink.h"

namespace reprise::importing {

inline const std::string kResponse = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody";

/// Imports texts, and shows what came of it.
class ImportTest : public testing::Test {
 protected:
  /// Imports one recording into an empty sink. Returns the fault's text, or empty.
  std::string import(std::string_view recording, bool keep_going = false) {
    sink = {};
    Importer importer(sink, keep_going);
    auto const fault = read(importer, recording);
    EXPECT_FALSE(importer.finish());
    report = importer.report();
    return fault;
  }
  std::string read(Importer& importer, std::string_view recording) {
    MemoryInput input(recording);
    auto const fault = importer.read(
        input,
        [this](const std::string& name) -> std::unique_ptr<ByteSource> {
          auto const found = attachments.find(name);
          if (found == attachments.end()) return nullptr;
          return std::make_unique<InputSource>(found->second, 0, found->second.size_bytes(),
                                               nullptr);
        },
        nullptr);
    return fault ? fault->what : "";
  }

  std::string body(std::size_t index) const {
    return sink.body_of(sink.exchanges.at(index).response.body);
  }
  std::string request_body(std::size_t index) const {
    return sink.body_of(sink.exchanges.at(index).request.body);
  }
  std::string url(std::size_t index) const { return url_of(sink.exchanges.at(index).request); }
  /// The response's fields, "name: value" a line.
  std::string fields(std::size_t index) const {
    std::string text;
    for (auto const& field : sink.exchanges.at(index).response.headers.list()) {
      text.append(field.name).append(": ").append(field.value).append("\n");
    }
    return text;
  }

  CollectingSink sink;
  ImportReport report;
  std::map<std::string, MemoryInput> attachments;
};

/// A WARC record, and what stands in the head of one about `uri`.
std::string record(const std::string& type, const std::string& head, const std::string& block);
std::string about(const std::string& id, const std::string& more = "",
                  const std::string& uri = "http://a.test/x");
/// "WARC-Block-Digest: sha256:..." of `block`.
std::string block_digest(std::string_view block);

std::string little_endian(std::uint64_t value, int bytes);
/// A zip of stored entries.
std::string zip(const std::vector<std::pair<std::string, std::string>>& entries);

/// `text` as one gzip member; as base64.
std::string gzip(std::string_view text);
std::string base64(std::string_view text);

}  // namespace reprise::importing
