#include "proxy/replay/replay_session.h"

#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "archive/writer.h"
#include "proxy/replay/replay_connection.h"
#include "tests/scratch_folder.h"

namespace reprise {
namespace {

/// A replay of an archive of TLS connections, and of what an import has instead of them.
class TlsPlansTest : public testing::Test {
 protected:
  void recorded(const std::string& host, std::uint16_t port, const std::string& version,
                const std::string& alpn = "http/1.1") {
    ConnectionFacts facts;
    facts.session = session_;
    facts.id = ++connections_;
    facts.scheme = Scheme::kHttps;
    facts.host = host;
    facts.port = port;
    facts.alpn = alpn;
    facts.tls_version = version;
    ASSERT_TRUE(writer_->add_connection(std::move(facts)));
  }

  void exchanged(const std::string& host, HttpVersion version) {
    Exchange exchange;
    exchange.session = session_;
    exchange.sequence = ++exchanges_;
    exchange.request = {
        .method = "GET", .scheme = Scheme::kHttps, .host = host, .port = 443, .target = "/"};
    exchange.response = {.status = 200, .version = version};
    ASSERT_TRUE(writer_->add_exchange(std::move(exchange)));
  }

  const TlsPlans& plans(Protocol protocol = Protocol::kRecorded) {
    if (writer_) {
      EXPECT_TRUE(writer_->end_session());
      EXPECT_TRUE(writer_->close());
      writer_.reset();
      reader_ = ArchiveReader::open(folder_ / "a.reprise", {}).value();
    }
    replay_ =
        std::make_unique<ReplaySession>(*reader_, ReplaySession::Options{.protocol = protocol});
    return replay_->tls_plans();
  }
  std::string version(const std::string& host, std::uint16_t port) {
    return plans().of(host, port).tls_version;
  }
  std::string protocol(const std::string& host) { return plans().of(host, 443).alpn; }
  /// The version that a client gets that offers `versions`; empty: any.
  std::string version_for(const std::string& host, std::vector<std::uint16_t> versions) {
    (void)plans();
    ReplayConnection connection(*replay_);
    ConnectionInfo const info;
    ClientHello const hello{.server_name = host, .versions = std::move(versions)};
    net::io_context context{1};
    TlsPlan planned;
    net::co_spawn(context, connection.plan_tls(info, hello),
                  [&planned](std::exception_ptr broken, TlsPlan plan) {
                    if (broken) std::rethrow_exception(broken);
                    planned = std::move(plan);
                  });
    context.run();
    return planned.tls_version;
  }

 private:
  ScratchFolder folder_;
  std::unique_ptr<ArchiveWriter> writer_ = ArchiveWriter::create(folder_ / "a.reprise", {}).value();
  std::uint32_t session_ = writer_->begin_session({}).value();
  std::uint64_t connections_ = 0;
  std::uint64_t exchanges_ = 0;
  std::unique_ptr<ArchiveReader> reader_;
  std::unique_ptr<ReplaySession> replay_;
};

TEST_F(TlsPlansTest, AreThoseOfThePort) {
  recorded("a.test", 443, "TLSv1.3");
  recorded("a.test", 8443, "TLSv1.2");
  EXPECT_EQ(version("a.test", 443), "TLSv1.3");
  EXPECT_EQ(version("a.test", 8443), "TLSv1.2");
}

TEST_F(TlsPlansTest, FallBackOn443WhateverWasRecordedFirst) {
  recorded("a.test", 80, "TLSv1.2");
  recorded("a.test", 443, "TLSv1.3");
  recorded("a.test", 8443, "TLSv1.2");
  EXPECT_EQ(version("a.test", 9000), "TLSv1.3");
}

TEST_F(TlsPlansTest, AVersionIsOneThatTheClientOffers) {
  constexpr std::uint16_t kGrease = 0x3a3a;
  recorded("new.test", 443, "TLSv1.3");
  recorded("old.test", 443, "TLSv1.2");
  for (const char* const host : {"new.test", "old.test"}) {
    SCOPED_TRACE(host);
    auto const recorded_version = version(host, 443);
    EXPECT_EQ(version_for(host, {kGrease, TLS1_3_VERSION, TLS1_2_VERSION}), recorded_version);
    auto const other = recorded_version == "TLSv1.3" ? TLS1_2_VERSION : TLS1_3_VERSION;
    EXPECT_EQ(version_for(host, {kGrease, static_cast<std::uint16_t>(other)}), "");
  }
}

TEST_F(TlsPlansTest, FallBackOnAnyPortOfTheHost) {
  recorded("a.test", 8443, "TLSv1.2");
  EXPECT_EQ(version("a.test", 443), "TLSv1.2");
}

TEST_F(TlsPlansTest, AreNeverThoseOfAnotherHost) {
  recorded("a.test", 443, "TLSv1.2");
  recorded("c.test", 443, "TLSv1.2");
  EXPECT_EQ(version("b.test", 443), "");
}

TEST_F(TlsPlansTest, OfferWhatWasRecorded) {
  recorded("h2.test", 443, "TLSv1.3", "h2");
  recorded("h1.test", 443, "TLSv1.3", "http/1.1");
  recorded("silent.test", 443, "TLSv1.3", "");
  EXPECT_EQ(protocol("h2.test"), "h2");
  EXPECT_EQ(protocol("h1.test"), "http/1.1");
  EXPECT_EQ(protocol("silent.test"), "http/1.1");
  EXPECT_EQ(protocol("other.test"), "http/1.1");
  EXPECT_EQ(plans().unnamed("127.0.0.1").alpn, "http/1.1");
  for (const TlsHost& host : plans().hosts()) EXPECT_FALSE(host.assumed) << host.host;
}

TEST_F(TlsPlansTest, OfferOneProtocolForAllWhenToldTo) {
  recorded("h2.test", 443, "TLSv1.3", "h2");
  recorded("h1.test", 443, "TLSv1.3", "http/1.1");
  EXPECT_EQ(plans(Protocol::kH1).of("h2.test", 443).alpn, "http/1.1");
  EXPECT_EQ(plans(Protocol::kH2).of("h1.test", 443).alpn, "h2");
  EXPECT_EQ(plans(Protocol::kH2).of("other.test", 443).alpn, "h2");
  EXPECT_EQ(plans(Protocol::kH2).unnamed("127.0.0.1").alpn, "h2");
}

TEST_F(TlsPlansTest, OfferH2WithoutANameIfEveryHostSpokeIt) {
  recorded("a.test", 443, "TLSv1.3", "h2");
  recorded("b.test", 443, "TLSv1.3", "h2");
  EXPECT_EQ(plans().unnamed("127.0.0.1").alpn, "h2");
}

TEST_F(TlsPlansTest, JudgeEachHostByItselfWhereARecordingAndAnImportWereMerged) {
  recorded("recorded.test", 443, "TLSv1.2", "h2");
  recorded("imported.test", 443, "", "");  // an address is all that the import knew
  exchanged("recorded.test", HttpVersion::kHttp11);
  exchanged("imported.test", HttpVersion::kH2);
  exchanged("old.test", HttpVersion::kHttp11);
  EXPECT_EQ(protocol("recorded.test"), "h2");
  EXPECT_EQ(version("recorded.test", 443), "TLSv1.2");
  EXPECT_EQ(protocol("imported.test"), "h2");
  EXPECT_TRUE(plans().knows("old.test"));
  EXPECT_EQ(protocol("old.test"), "http/1.1");
  for (const TlsHost& host : plans().hosts()) EXPECT_FALSE(host.assumed) << host.host;
}

TEST_F(TlsPlansTest, KnowHostsOfAMergedImportThatHasNoConnections) {
  recorded("recorded.test", 443, "TLSv1.3", "h2");
  exchanged("imported.test", HttpVersion::kH2);
  EXPECT_EQ(protocol("imported.test"), "h2");
  EXPECT_EQ(plans().leaves().size(), 2);
}

TEST_F(TlsPlansTest, AssumeH2WhereAnImportDoesNotSay) {
  exchanged("unknown.test", HttpVersion::kUnknown);
  exchanged("h3.test", HttpVersion::kH3);
  exchanged("h1.test", HttpVersion::kHttp11);
  exchanged("mixed.test", HttpVersion::kUnknown);
  exchanged("mixed.test", HttpVersion::kHttp11);
  std::string hosts;
  for (const TlsHost& host : plans().hosts()) {
    hosts += host.host + " " + host.protocol + (host.assumed ? " assumed, " : ", ");
  }
  EXPECT_EQ(hosts,
            "h1.test http/1.1, h3.test h2 assumed, mixed.test http/1.1, unknown.test h2 assumed, ");
}

TEST_F(TlsPlansTest, AssumeH2ForWhatIsNotServed) {
  recorded("spdy.test", 443, "TLSv1.2", "spdy/3.1");
  recorded("sure.test", 443, "TLSv1.2", "h2");
  EXPECT_EQ(protocol("spdy.test"), "h2");
  EXPECT_TRUE(plans().hosts()[0].assumed);
  EXPECT_FALSE(plans().hosts()[1].assumed);
}

TEST(Synthesis, CountsWhatAnotherVersionLosesAndNeeds) {
  std::vector<HeaderView> const fields{
      {"Connection", "keep-alive"}, {"Keep-Alive", "1"}, {"Content-Type", "text/plain"}};
  StoredRequest const request{.method = "GET"};
  StoredReply const old{
      .status = 200, .reason = "OK", .version = HttpVersion::kHttp11, .headers = Headers(fields)};
  auto const as_h2 = synthesised(request, old, HttpVersion::kH2);
  EXPECT_EQ(as_h2.served_as_h2, 1U);
  EXPECT_EQ(as_h2.connection_fields_removed, 2U);
  EXPECT_EQ(synthesised(request, old, HttpVersion::kHttp10).responses(), 0U);

  std::vector<HeaderView> const sums{{"x-sum", "1"}};
  StoredReply const recent{.status = 200, .version = HttpVersion::kH2, .trailers = Headers(sums)};
  auto const as_h1 = synthesised(request, recent, HttpVersion::kHttp11);
  EXPECT_EQ(as_h1.served_as_h1, 1U);
  EXPECT_EQ(as_h1.reason_phrase_added, 1U);
  EXPECT_EQ(as_h1.framing_added, 1U);
  EXPECT_EQ(as_h1.trailers_removed, 1U);
  EXPECT_EQ(synthesised(request, recent, HttpVersion::kH2).responses(), 0U);

  for (HttpVersion const version : {HttpVersion::kH3, HttpVersion::kUnknown}) {
    StoredReply const other{.status = 200, .version = version};
    EXPECT_EQ(synthesised(request, other, HttpVersion::kHttp11).framing_added, 1U);
  }
  std::vector<HeaderView> const chunks{{"Transfer-Encoding", "chunked"}};
  StoredReply const chunked{.status = 200, .headers = Headers(chunks)};
  EXPECT_EQ(synthesised(request, chunked, HttpVersion::kHttp11).framing_added, 0U);
}

}  // namespace
}  // namespace reprise
