#include "archive/codec.h"
#include "archive/exchange_site.h"

#include <gtest/gtest.h>

#include "tests/archive/archive_fixture.h"

namespace reprise {
namespace {

// Hand-made wire format: what no encoder of ours writes, but a stranger may.

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}
std::string number(unsigned field, std::uint64_t value) {
  return varint(field << 3) + varint(value);
}
std::string text(unsigned field, std::string_view value) {
  return varint((field << 3) | 2) + varint(value.size()) + std::string(value);
}
std::string repeat(std::string_view piece, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += piece;
  return all;
}

/// An exchange with `request` and `response` as the bodies of those messages.
std::string exchange_of(std::string_view request, std::string_view response) {
  return number(1, 1) + number(2, 1) + number(10, 1) + text(6, request) + text(8, response);
}

const std::string kRequest = text(1, "GET") + number(2, 2);

bool decodes(std::string_view payload) {
  return decode_exchange(as_bytes(payload)).has_value();
}

TEST(Codec, DecodesTheHandMadeExchangeThatTheOthersChange) {
  EXPECT_TRUE(decodes(exchange_of(kRequest, number(1, 200))));
}

TEST(Codec, IgnoresFieldsOfALaterVersion) {
  EXPECT_TRUE(decodes(exchange_of(kRequest + number(99, 7), "") + text(77, "new")));
}

TEST(Codec, ReadsTheSiteOfAnExchangeAlone) {
  auto const payload = exchange_of(kRequest + text(3, "a.test") + number(4, 8443) + number(99, 7),
                                   number(1, 200) + number(3, 3)) +
                       text(77, "new");
  auto const site = decode_exchange_site(as_bytes(payload));
  ASSERT_TRUE(site);
  EXPECT_EQ(site->scheme, Scheme::kHttps);
  EXPECT_EQ(site->host, "a.test");
  EXPECT_EQ(site->port, 8443);
  EXPECT_EQ(site->version, HttpVersion::kH2);
  for (std::size_t size = 0; size < payload.size(); ++size) {
    auto const begun = as_bytes(payload).first(size);
    EXPECT_TRUE(decode_exchange_site(begun) || !decode_exchange(begun)) << size;
  }
  EXPECT_FALSE(decode_exchange_site(as_bytes(exchange_of(kRequest + number(4, 65'536), ""))));
  EXPECT_FALSE(decode_exchange_site(as_bytes(exchange_of(text(1, "GET") + number(2, 3), ""))));
  EXPECT_FALSE(decode_exchange_site(as_bytes(exchange_of(kRequest, number(3, 9)))));
  EXPECT_FALSE(decode_exchange_site(as_bytes(number(1, 1))));
}

TEST(Codec, RefusesNumbersOutOfRange) {
  EXPECT_FALSE(decodes(exchange_of(text(1, "GET") + number(2, 3), ""))) << "scheme";
  EXPECT_FALSE(decodes(exchange_of(kRequest + number(4, 65'536), ""))) << "port";
  EXPECT_FALSE(decodes(exchange_of(kRequest + number(6, 5), ""))) << "version";
  EXPECT_FALSE(decodes(exchange_of(kRequest, number(1, 65'536)))) << "status";
  EXPECT_FALSE(decodes(exchange_of(kRequest, "") + number(10, 5))) << "outcome";
  EXPECT_FALSE(decodes(exchange_of(kRequest, "") + number(1, 0))) << "session";
}

TEST(Codec, RefusesHeaderLengthsThatDoNotFitTheText) {
  auto const with_fields = [](std::string_view lengths, std::string_view bytes) {
    return decodes(exchange_of(kRequest + text(7, text(1, lengths) + text(2, bytes)), ""));
  };
  EXPECT_TRUE(with_fields(std::string("\1\2", 2), "abc"));
  EXPECT_FALSE(with_fields(std::string("\1\2", 2), "abcd"));
  EXPECT_FALSE(with_fields(std::string("\1\2", 2), "ab"));
  EXPECT_FALSE(with_fields(std::string("\3", 1), "abc")) << "a name without a value";
  EXPECT_FALSE(with_fields(varint(UINT32_MAX) + varint(4), "abc")) << "the sum wraps around";
  EXPECT_TRUE(with_fields(std::string(2 * kHeaderFieldsMax, '\0'), ""));
  EXPECT_FALSE(with_fields(std::string(2 * kHeaderFieldsMax + 2, '\0'), ""));
}

TEST(Codec, RefusesBodiesThatDoNotAddUp) {
  auto const with_body = [](std::string_view body) {
    return decodes(exchange_of(kRequest + text(9, body), ""));
  };
  std::string const offset("\x10\0\0\0\0\0\0\0", 8);
  std::string const three("\3\0\0\0", 4);
  std::string const none("\0\0\0\0", 4);
  std::string const digest(32, 'd');
  EXPECT_TRUE(with_body(number(1, 3) + text(2, digest) + text(3, offset) + text(4, three)));
  EXPECT_FALSE(with_body(number(1, 4) + text(2, digest) + text(3, offset) + text(4, three)));
  EXPECT_FALSE(with_body(number(1, 3) + text(2, digest) + text(3, offset)));
  EXPECT_FALSE(with_body(number(1, 3) + text(2, "short") + text(3, offset) + text(4, three)));
  EXPECT_FALSE(with_body(text(2, digest) + text(3, offset) + text(4, none)));
  EXPECT_FALSE(with_body(text(2, digest))) << "a digest of nothing";
}

TEST(Codec, RefusesCountsThatWouldCostMuchMoreMemoryThanBytes) {
  auto const interim = text(7, "");
  EXPECT_TRUE(decodes(exchange_of(kRequest, "") + repeat(interim, kInterimMax)));
  EXPECT_FALSE(decodes(exchange_of(kRequest, "") + repeat(interim, kInterimMax + 1)));
  EXPECT_FALSE(decodes(exchange_of(kRequest, "") + repeat(interim, 4'000'000)));
  auto const too_many = repeat(text(10, ""), kStringsMax + 1);
  EXPECT_FALSE(decode_connection(as_bytes(number(3, 1) + too_many)));
  EXPECT_TRUE(decode_connection(as_bytes(number(3, 1) + text(10, "a"))));
  EXPECT_FALSE(decodes(exchange_of(kRequest, text(7, repeat("\1", kChunkTimesMax + 1)) +
                                                 text(8, repeat("\1", kChunkTimesMax + 1)))));
}

TEST(Codec, TellsATimedSizeOfZeroFromNone) {
  auto exchange = an_exchange(1, "/");
  exchange.session = 1;
  std::optional<std::uint64_t> const sizes[] = {std::nullopt, 0U, std::uint64_t{1} << 40};
  for (auto const& size : sizes) {
    exchange.response.timed_bytes = size;
    auto const encoded = encode_exchange(exchange);
    ASSERT_TRUE(encoded);
    auto const decoded = decode_exchange(as_bytes(*encoded));
    ASSERT_TRUE(decoded);
    EXPECT_EQ(decoded->response.timed_bytes, size);
  }
}

TEST(Codec, RefusesAnswersOutOfRange) {
  auto const answers = [](std::string_view payload) {
    return decode_dns_answer(as_bytes(payload)).has_value();
  };
  auto const plain = number(1, 1) + text(2, "a.example") + number(3, 28);
  EXPECT_TRUE(answers(plain));
  EXPECT_TRUE(answers(plain + number(4, 65'535)));
  EXPECT_FALSE(answers(plain + number(4, 65'536))) << "rcode";
  EXPECT_FALSE(answers(plain + number(3, 65'536))) << "type";
  for (unsigned const field : {6U, 7U, 8U}) {
    EXPECT_TRUE(answers(plain + repeat(text(field, ""), kDnsRecordsMax)));
    EXPECT_FALSE(answers(plain + repeat(text(field, ""), kDnsRecordsMax + 1)));
  }
}

TEST(Codec, RefusesWhatIsCutOffOrNested) {
  auto const whole = exchange_of(kRequest, number(1, 200));
  for (std::size_t size = 1; size < whole.size(); ++size) {
    static_cast<void>(decodes(std::string_view(whole).substr(0, size)));
  }
  EXPECT_FALSE(decodes(std::string_view(whole).substr(0, whole.size() - 1)));
  EXPECT_FALSE(decodes(whole + repeat("\x0b", 100'000))) << "groups without end";
}

}  // namespace
}  // namespace reprise
