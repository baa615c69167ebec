#include "proxy/tls/client_hello.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "proxy/tls/openssl_ptr.h"
#include "tests/proxy/tls/client_hello_builder.h"
#include "tests/proxy/tls/handshake.h"

namespace reprise {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Parses what must be a whole ClientHello.
ClientHello parse_whole(const ByteString& stream) {
  auto const parsed = parse_client_hello(stream);
  EXPECT_TRUE(parsed.has_value()) << parsed.error().message();
  EXPECT_TRUE(parsed && *parsed) << "asks for more than the " << stream.size() << " bytes";
  return parsed && *parsed ? **parsed : ClientHello{};
}

testing::AssertionResult asks_for_more(std::span<const std::byte> stream) {
  auto const parsed = parse_client_hello(stream);
  if (!parsed) return testing::AssertionFailure() << parsed.error().message();
  if (*parsed) return testing::AssertionFailure() << "parsed already";
  return testing::AssertionSuccess();
}

testing::AssertionResult fails_with(client_hello_errc error, const ByteString& stream) {
  auto const parsed = parse_client_hello(stream);
  if (parsed) return testing::AssertionFailure() << (*parsed ? "parsed" : "asks for more");
  if (parsed.error() != make_error_code(error)) {
    return testing::AssertionFailure() << parsed.error().message();
  }
  return testing::AssertionSuccess();
}

ByteString one_record(const HelloParts& parts) {
  return record(hello_message(parts));
}

ByteString with_extension(std::uint16_t type, const ByteString& data) {
  return one_record({.extensions = {{type, data}}});
}

void expect_small_hello(const ClientHello& hello) {
  EXPECT_EQ(hello.server_name, "www.example.com");
  EXPECT_THAT(hello.alpn, ElementsAre("h2", "http/1.1"));
  EXPECT_THAT(hello.versions, ElementsAre(0x0304, 0x0303));
  EXPECT_THAT(hello.cipher_suites, ElementsAre(0x1301, 0xc02b));
  EXPECT_THAT(hello.groups, ElementsAre(0x001d, 0x0017));
  EXPECT_THAT(hello.signature_algorithms, ElementsAre(0x0403, 0x0804));
  EXPECT_THAT(hello.extensions, ElementsAre(0, 10, 13, 16, 43));
}

TEST(ClientHello, ReadsEveryListInWireOrder) {
  expect_small_hello(parse_whole(one_record(small_hello())));
}

TEST(ClientHello, AsksForMoreUntilTheLastByteOfAnyRecordSplit) {
  auto const message = hello_message(small_hello());
  for (std::size_t payload_bytes = 1; payload_bytes <= message.size(); ++payload_bytes) {
    SCOPED_TRACE(payload_bytes);
    auto const stream = records(message, payload_bytes);
    for (std::size_t read = 0; read < stream.size(); ++read) {
      ASSERT_TRUE(asks_for_more(std::span(stream).first(read))) << read;
    }
    expect_small_hello(parse_whole(stream));
  }
}

TEST(ClientHello, ReadsTwoRecordsSplitAtEveryByte) {
  auto const message = hello_message(small_hello());
  for (std::size_t split = 1; split < message.size(); ++split) {
    auto const middle = message.begin() + static_cast<std::ptrdiff_t>(split);
    ByteString stream = record({message.begin(), middle});
    append(stream, record({middle, message.end()}, 22, 0x0303));
    expect_small_hello(parse_whole(stream));
  }
}

TEST(ClientHello, NeverCrashesOnAFlippedByte) {
  for (const auto& parts : {small_hello(), chromium_hello()}) {
    auto const good = one_record(parts);
    for (std::size_t at = 0; at < good.size(); ++at) {
      for (unsigned const flip : {0xffU, 0x80U, 0x01U}) {
        auto stream = good;
        stream[at] ^= static_cast<std::byte>(flip);
        auto const parsed = parse_client_hello(stream);
        if (parsed && *parsed) {
          EXPECT_LE((*parsed)->server_name.size(), 255U);
        } else if (!parsed) {
          EXPECT_FALSE(parsed.error().message().empty());
        }
      }
    }
  }
}

TEST(ClientHello, IgnoresWhatFollowsTheMessage) {
  auto stream = one_record(small_hello());
  append(stream, record(byte_string_of("\x01"), 20));
  expect_small_hello(parse_whole(stream));
}

TEST(ClientHello, KeepsGreaseAndPostQuantumValues) {
  auto const stream = one_record(chromium_hello());
  EXPECT_GT(stream.size(), 1'600U);
  EXPECT_LT(stream.size(), 1'800U);
  auto const hello = parse_whole(stream);
  EXPECT_EQ(hello.server_name, "static.example.org");
  EXPECT_EQ(hello.cipher_suites.front(), 0x2a2a);
  EXPECT_EQ(hello.cipher_suites.size(), 16U);
  EXPECT_THAT(hello.groups, ElementsAre(0x4a4a, 0x11ec, 0x001d, 0x0017, 0x0018));
  EXPECT_THAT(hello.versions, ElementsAre(0xdada, 0x0304, 0x0303));
  EXPECT_THAT(hello.extensions, ElementsAre(0x9a9a, 0, 23, 0xff01, 10, 11, 35, 16, 5, 13, 18, 51,
                                            45, 43, 27, 17613, 0xfe0d, 0x0a0a));
}

TEST(ClientHello, TakesTheLegacyVersionWhereNoneIsListed) {
  auto const hello = parse_whole(one_record({.without_extensions = true}));
  EXPECT_THAT(hello.versions, ElementsAre(0x0303));
  EXPECT_EQ(hello.server_name, "");
  EXPECT_THAT(hello.extensions, IsEmpty());
}

TEST(ClientHello, KnowsOtherProtocolsFromTheFirstBytes) {
  for (const std::string_view text : {"GET / HTTP/1.1\r\n", "PRI * HTTP/2.0\r\n", "\x80\x2e\x01",
                                      "SSH-2.0-x", "\x05\x01", "\x16\x02\x00"}) {
    EXPECT_TRUE(fails_with(client_hello_errc::not_tls, byte_string_of(text))) << text;
  }
  EXPECT_TRUE(fails_with(client_hello_errc::not_tls, record(byte_string_of("\x01"), 20)));
  EXPECT_TRUE(fails_with(client_hello_errc::not_tls, record(byte_string_of("\x02\x28"), 21)));
  EXPECT_TRUE(fails_with(client_hello_errc::not_tls, record(byte_string_of("data"), 23)));
  EXPECT_TRUE(asks_for_more({}));
}

TEST(ClientHello, RefusesOtherHandshakeMessagesAndInterleavedRecords) {
  EXPECT_TRUE(fails_with(client_hello_errc::malformed, record(handshake_message(2, {}))));
  auto const message = hello_message(small_hello());
  for (std::uint8_t const type : {20, 21, 23}) {
    auto stream = record({message.begin(), message.begin() + 50});
    append(stream, record({message.begin() + 50, message.end()}, type));
    EXPECT_TRUE(fails_with(client_hello_errc::malformed, stream));
  }
}

TEST(ClientHello, RefusesEmptyAndOverlongRecords) {
  EXPECT_TRUE(fails_with(client_hello_errc::malformed, record({})));
  ByteString header = byte_string_of("\x16\x03\x01");
  append(header, number((1 << 14) + 1, 2));
  EXPECT_TRUE(fails_with(client_hello_errc::malformed, header));
}

TEST(ClientHello, RefusesALengthOverTheLimitAtOnce) {
  ByteString start = number(1, 1);
  append(start, number(kClientHelloBytesMax - 4 - 5 + 1, 3));
  EXPECT_TRUE(fails_with(client_hello_errc::too_long, record(start)));
  append(start, ByteString(100));
  EXPECT_TRUE(fails_with(client_hello_errc::too_long, record(start)));
}

TEST(ClientHello, CountsRecordHeadersTowardsTheLimit) {
  // 12,000 bytes of payload are well below the limit, 12,000 records of one byte are not.
  auto const message = hello_message({.extensions = {{21, ByteString(12'000)}}});
  parse_whole(records(message, 1'000));
  auto const stream = records(message, 1);
  ASSERT_GT(stream.size(), kClientHelloBytesMax);
  EXPECT_TRUE(fails_with(client_hello_errc::too_long, stream));
}

TEST(ClientHello, ReadsTheLongestThatIsAllowed) {
  HelloParts parts{.extensions = {{21, {}}}};
  auto const empty_bytes = hello_message(parts).size();
  constexpr std::size_t kRecords = 4;
  parts.extensions[0].second.resize(kClientHelloBytesMax - kRecords * 5 - empty_bytes);
  auto const longest = records(hello_message(parts), 1 << 14);
  ASSERT_EQ(longest.size(), kClientHelloBytesMax);
  parse_whole(longest);
  parts.extensions[0].second.emplace_back();
  EXPECT_TRUE(fails_with(client_hello_errc::too_long, records(hello_message(parts), 1 << 14)));
}

TEST(ClientHello, RefusesHostNamesThatNoResolverTakes) {
  constexpr std::array<std::string_view, 8> kWrong = {
      "a b", "a/b", {"a\0b", 3}, "..%2f", "ex\xc3\xa4mple", "a:1", "*.example.com", "a\nb"};
  for (const std::string_view name : kWrong) {
    EXPECT_TRUE(fails_with(client_hello_errc::bad_server_name,
                           with_extension(0, server_name_extension(name))))
        << name;
  }
  EXPECT_TRUE(
      fails_with(client_hello_errc::malformed, with_extension(0, server_name_extension(""))));
  std::string const longest(255, 'a');
  EXPECT_EQ(parse_whole(with_extension(0, server_name_extension(longest))).server_name, longest);
  EXPECT_TRUE(fails_with(client_hello_errc::bad_server_name,
                         with_extension(0, server_name_extension(longest + "a"))));
  EXPECT_EQ(parse_whole(with_extension(0, server_name_extension("_A-9.B"))).server_name, "_a-9.b");
}

TEST(ClientHello, RefusesASecondHostNameButPassesOverOtherNameTypes) {
  auto const entry = [](std::uint8_t type, std::string_view name) {
    ByteString bytes = number(type, 1);
    append(bytes, prefixed(2, byte_string_of(name)));
    return bytes;
  };
  ByteString two = entry(0, "a.example");
  append(two, entry(0, "b.example"));
  EXPECT_TRUE(fails_with(client_hello_errc::malformed, with_extension(0, prefixed(2, two))));
  ByteString other = entry(7, "\xff");
  append(other, entry(0, "b.example"));
  EXPECT_EQ(parse_whole(with_extension(0, prefixed(2, other))).server_name, "b.example");
}

TEST(ClientHello, RefusesExtensionsWhoseListsAreNotWhole) {
  auto const good = server_name_extension("a.example");
  std::vector<std::pair<std::uint16_t, ByteString>> const wrong = {
      {0, {}},
      {0, prefixed(2, {})},
      {0, ByteString(good.begin(), good.end() - 1)},
      {0,
       [&] {
         auto longer = good;
         longer.emplace_back();
         return longer;
       }()},
      {16, prefixed(2, {})},
      {16, prefixed(2, prefixed(1, {}))},
      {16, prefixed(2, byte_string_of("\x03h2"))},
      {10, prefixed(2, {})},
      {10, prefixed(2, byte_string_of("odd"))},
      {10, prefixed(1, u16_list({0x1d}))},
      {13, prefixed(2, byte_string_of("\x04"))},
      {43, prefixed(1, {})},
      {43, prefixed(2, u16_list({0x0304}))},
  };
  for (const auto& [type, data] : wrong) {
    EXPECT_TRUE(fails_with(client_hello_errc::malformed, with_extension(type, data)))
        << type << ", " << data.size() << " bytes";
  }
}

TEST(ClientHello, RefusesBodiesThatBreakTheLayout) {
  auto const expect_malformed = [](const HelloParts& parts) {
    EXPECT_TRUE(fails_with(client_hello_errc::malformed, one_record(parts)));
  };
  expect_malformed({.legacy_version = 0x0403});
  expect_malformed({.session_id = ByteString(33)});
  expect_malformed({.cipher_suites = {}});
  expect_malformed({.compression = {}});
  expect_malformed({.extensions = {{16, alpn_extension({"h2"})}, {16, alpn_extension({"h2"})}}});
  expect_malformed({.trailing = ByteString(1)});
  expect_malformed({.without_extensions = true, .trailing = ByteString(1)});
  EXPECT_TRUE(fails_with(client_hello_errc::malformed, record(handshake_message(1, {}))));
}

TEST(ClientHello, ReadsWhatOpenSslSends) {
  SslContextPtr const context(SSL_CTX_new(TLS_client_method()));
  SslPtr const ssl(SSL_new(context.get()));
  SSL_set_connect_state(ssl.get());
  SSL_set_min_proto_version(ssl.get(), TLS1_2_VERSION);
  SSL_set_tlsext_host_name(ssl.get(), "Shop.Example.com");
  ASSERT_EQ(
      SSL_set_alpn_protos(ssl.get(), reinterpret_cast<const unsigned char*>("\x08http/1.1"), 9), 0);
  auto const stream = first_flight(ssl.get());
  for (std::size_t read = 0; read < stream.size(); ++read) {
    ASSERT_TRUE(asks_for_more(std::span(stream).first(read)));
  }
  auto const hello = parse_whole(stream);
  EXPECT_EQ(hello.server_name, "shop.example.com");
  EXPECT_THAT(hello.alpn, ElementsAre("http/1.1"));
  EXPECT_THAT(hello.versions, ElementsAre(0x0304, 0x0303));
  EXPECT_THAT(hello.groups, testing::Contains(0x001d));
  EXPECT_THAT(hello.cipher_suites, testing::Contains(0x1301));
}

}  // namespace
}  // namespace reprise
