#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "archive/reader.h"
#include "archive/writer.h"
#include "tests/scratch_folder.h"

namespace reprise {

/// An archive of one session that a test fills; it is closed when it is first read.
class RecordedArchive {
 public:
  RecordedArchive() { EXPECT_TRUE(writer_->begin_session({})); }

  /// An exchange with https://a.test, answered with 200, to be changed before it is added.
  static Exchange exchange(std::string method, std::string target, Headers response = {}) {
    Exchange made;
    made.request.method = std::move(method);
    made.request.scheme = Scheme::kHttps;
    made.request.host = "a.test";
    made.request.port = 443;
    made.request.target = std::move(target);
    made.response.status = 200;
    made.response.version = HttpVersion::kHttp11;
    made.response.headers = std::move(response);
    return made;
  }
  void add(Exchange exchange, std::string_view body = {}, std::string_view request_body = {}) {
    exchange.sequence = ++count_;
    exchange.request.body = stored(request_body);
    exchange.response.body = stored(body);
    EXPECT_TRUE(writer_->add_exchange(std::move(exchange)));
  }

  void add(ConnectionFacts connection) {
    connection.session = 1;
    EXPECT_TRUE(writer_->add_connection(std::move(connection)));
  }

  void add(DnsAnswer answer) {
    answer.session = 1;
    EXPECT_TRUE(writer_->add_answer(std::move(answer)));
  }

  /// Changes a byte of `text` where it first stands in the file. Nothing is added after that.
  void damage(std::string_view text) {
    close();
    auto const path = folder_ / "a.reprise";
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    std::string const bytes{std::istreambuf_iterator<char>(file), {}};
    auto const at = bytes.find(text);
    ASSERT_NE(at, std::string::npos) << text;
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(~bytes[at]));
  }

  const ArchiveReader& reader() {
    close();
    if (!reader_) reader_ = ArchiveReader::open(folder_ / "a.reprise", {}).value();
    return *reader_;
  }

 private:
  void close() {
    if (!writer_) return;
    EXPECT_TRUE(writer_->end_session());
    EXPECT_TRUE(writer_->close());
    writer_.reset();
  }
  StoredBody stored(std::string_view bytes) {
    BodyWriter body(*writer_);
    EXPECT_TRUE(body.append(std::as_bytes(std::span(bytes))));
    return body.finish().value();
  }

  ScratchFolder folder_;
  std::unique_ptr<ArchiveWriter> writer_ = ArchiveWriter::create(folder_ / "a.reprise", {}).value();
  std::uint64_t count_ = 0;
  std::unique_ptr<ArchiveReader> reader_;
};

}  // namespace reprise
