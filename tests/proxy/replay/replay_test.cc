#include "proxy/replay/replay.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "archive/writer.h"

namespace reprise {
namespace {

std::filesystem::path new_folder() {
  auto pattern = (std::filesystem::temp_directory_path() / "reprise-test-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) ADD_FAILURE() << "cannot make a scratch folder";
  return pattern;
}

/// A replay of an archive that holds TLS connections alone.
class TlsPlans : public testing::Test {
 protected:
  ~TlsPlans() override { std::filesystem::remove_all(folder_); }

  void recorded(const std::string& host, std::uint16_t port, const std::string& version) {
    ConnectionFacts facts;
    facts.session = session_;
    facts.id = ++connections_;
    facts.scheme = Scheme::kHttps;
    facts.host = host;
    facts.port = port;
    facts.alpn = "http/1.1";
    facts.tls_version = version;
    ASSERT_TRUE(writer_->add_connection(std::move(facts)));
  }

  std::string version(const std::string& host, std::uint16_t port) {
    if (writer_) {
      EXPECT_TRUE(writer_->end_session());
      EXPECT_TRUE(writer_->close());
      writer_.reset();
      reader_ = ArchiveReader::open(folder_ / "a.reprise", {}).value();
      replay_ = std::make_unique<Replay>(*reader_, 0);
    }
    return replay_->tls_plan(host, port).tls_version;
  }

 private:
  std::filesystem::path folder_ = new_folder();
  std::unique_ptr<ArchiveWriter> writer_ = ArchiveWriter::create(folder_ / "a.reprise", {}).value();
  std::uint32_t session_ = writer_->begin_session({}).value();
  std::uint64_t connections_ = 0;
  std::unique_ptr<ArchiveReader> reader_;
  std::unique_ptr<Replay> replay_;
};

TEST_F(TlsPlans, AreThoseOfThePort) {
  recorded("a.test", 443, "TLSv1.3");
  recorded("a.test", 8443, "TLSv1.2");
  EXPECT_EQ(version("a.test", 443), "TLSv1.3");
  EXPECT_EQ(version("a.test", 8443), "TLSv1.2");
}

TEST_F(TlsPlans, FallBackOn443WhateverWasRecordedFirst) {
  recorded("a.test", 80, "TLSv1.2");
  recorded("a.test", 443, "TLSv1.3");
  recorded("a.test", 8443, "TLSv1.2");
  EXPECT_EQ(version("a.test", 9000), "TLSv1.3");
}

TEST_F(TlsPlans, FallBackOnAnyPortOfTheHost) {
  recorded("a.test", 8443, "TLSv1.2");
  EXPECT_EQ(version("a.test", 443), "TLSv1.2");
}

TEST_F(TlsPlans, AreNeverThoseOfAnotherHost) {
  recorded("a.test", 443, "TLSv1.2");
  recorded("c.test", 443, "TLSv1.2");
  EXPECT_EQ(version("b.test", 443), "");
}

}  // namespace
}  // namespace reprise
