// The codec against messages written down by hand, byte for byte after the RFCs, and against what
// is wrong in every way that a message can be.

#include "dns/wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dns/error.h"
#include "dns/svcb.h"
#include "tests/dns/message_text.h"

namespace reprise::dns {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

// What `dig +noedns example.org` sends.
constexpr const char* kQuery = R"(
  1234 0120 0001 0000 0000 0000     # id, rd ad, one question
  07 6578616d706c65 03 6f7267 00    # example.org
  0001 0001)";

// CNAME chain to two addresses, with EDNS: what a resolver answers for www.example.org A.
constexpr const char* kChain = R"(
  1234 8180 0001 0003 0000 0001
  03 777777 07 6578616d706c65 03 6f7267 00  0001 0001
  c00c 0005 0001 0000012c 0006  03 63646e c010           # www -> cdn.example.org
  c02d 0001 0001 0000003c 0004  c0000201
  c02d 0001 0001 0000003c 0004  c0000202
  00 0029 04d0 00 00 8000 000c  000a 0008 0102030405060708)";

// The HTTPS record of a site with h3 and h2, hints and ECH, as Cloudflare's customers have it.
constexpr const char* kHttps = R"(
  0001 8180 0001 0001 0000 0000
  07 6578616d706c65 03 6f7267 00  0041 0001
  c00c 0041 0001 0000012c 003d
    0001 00                                     # priority 1, the owner itself
    0001 0006 02 6833 02 6832                   # alpn h3 h2
    0004 0008 c0000201 c0000202                 # ipv4hint
    0005 0008 0006fe0d00020000                  # ech
    0006 0010 20010db8000000000000000000000001  # ipv6hint
    ff00 0000                                   # a private key
)";

// NXDOMAIN with its SOA.
constexpr const char* kNxDomain = R"(
  abcd 8583 0001 0000 0001 0000
  03 6e6978 07 6578616d706c65 03 6f7267 00  001c 0001
  c010 0006 0001 00000e10 0026
    02 6e73 c010  0a 686f73746d6173746572 c010
    78a3f1c1 00001c20 00000e10 00127500 00000e10)";

// PTR, TXT, MX and SRV with compressed names, NS, and a type that nobody knows.
constexpr const char* kMixed = R"(
  0000 8400 0000 0006 0000 0000
  01 31 07 696e2d61646472 04 61727061 00 000c 0001 00000001 000e  04 686f7374 07 6578616d706c65 00
  c02b 0010 0001 00000001 0008  03 613d62 00 02 6869
  c02b 000f 0001 00000001 0007  000a 02 6d78 c02b
  c02b 0021 0001 00000001 0008  0000 0005 01bb c02b
  c02b 0002 0001 00000001 0005  02 6e73 c02b
  c02b fde9 0001 00000001 0003  010203)";

Message decoded(const char* hex) {
  auto message = decode(from_hex(hex));
  EXPECT_TRUE(message) << message.error().message();
  return message.value_or(Message{});
}

std::error_code error_of(const char* hex) {
  auto const message = decode(from_hex(hex));
  EXPECT_FALSE(message);
  return message ? std::error_code() : message.error();
}

TEST(Wire, ReadsAQuery) {
  auto const query = decoded(kQuery);
  EXPECT_EQ(query.id, 0x1234);
  EXPECT_FALSE(query.response);
  EXPECT_TRUE(query.recursion_desired);
  EXPECT_TRUE(query.authentic_data);
  EXPECT_EQ(query.edns, std::nullopt);
  EXPECT_THAT(query.questions, ElementsAre(Question{.name = name_of("example.org")}));
}

TEST(Wire, ReadsAChainWithEdns) {
  auto const answer = decoded(kChain);
  EXPECT_TRUE(answer.response);
  EXPECT_TRUE(answer.recursion_available);
  ASSERT_THAT(answer.answers, SizeIs(3));
  EXPECT_EQ(answer.answers[0].name.text(), "www.example.org");
  EXPECT_EQ(answer.answers[0].ttl_s, 300u);
  EXPECT_EQ(std::get<Target>(answer.answers[0].data).name.text(), "cdn.example.org");
  EXPECT_EQ(answer.answers[2].name.text(), "cdn.example.org");
  EXPECT_EQ(std::get<A>(answer.answers[2].data).address,
            (std::array<std::uint8_t, 4>{192, 0, 2, 2}));
  ASSERT_TRUE(answer.edns);
  EXPECT_EQ(answer.edns->udp_size_bytes, 1232);
  EXPECT_TRUE(answer.edns->dnssec_ok);
  EXPECT_THAT(answer.edns->options, ElementsAre(EdnsOption{10, "\1\2\3\4\5\6\7\10"}));
}

TEST(Wire, ReadsAnHttpsRecord) {
  auto const answer = decoded(kHttps);
  ASSERT_THAT(answer.answers, SizeIs(1));
  auto const& https = std::get<Svcb>(answer.answers[0].data);
  EXPECT_EQ(https.priority, 1);
  EXPECT_EQ(https.target, Name());
  EXPECT_THAT(*alpn_of(https), ElementsAre("h3", "h2"));
  EXPECT_THAT(find_param(https, kSvcIpv4Hint).value(), SizeIs(2 * 4));
  EXPECT_THAT(find_param(https, kSvcIpv6Hint).value(), SizeIs(16));
  EXPECT_THAT(find_param(https, kSvcEch).value(), SizeIs(8));
  EXPECT_EQ(find_param(https, 0xff00), "");
}

TEST(Wire, ReadsASoa) {
  auto const answer = decoded(kNxDomain);
  EXPECT_EQ(answer.rcode, Rcode::kNxDomain);
  EXPECT_TRUE(answer.authoritative);
  ASSERT_THAT(answer.authorities, SizeIs(1));
  auto const& soa = std::get<Soa>(answer.authorities[0].data);
  EXPECT_EQ(soa.primary.text(), "ns.example.org");
  EXPECT_EQ(soa.mailbox.text(), "hostmaster.example.org");
  EXPECT_EQ(soa.serial, 0x78a3f1c1u);
  EXPECT_EQ(soa.minimum_s, 3600u);
}

TEST(Wire, WritesOutTheNamesInOldTypesAndCarriesOthersUntouched) {
  using namespace std::string_literals;
  auto const answer = decoded(kMixed);
  ASSERT_THAT(answer.answers, SizeIs(6));
  EXPECT_EQ(std::get<Target>(answer.answers[0].data).name.text(), "host.example");
  EXPECT_THAT(std::get<Txt>(answer.answers[1].data).strings, ElementsAre("a=b", "", "hi"));
  EXPECT_EQ(std::get<Opaque>(answer.answers[2].data).bytes, "\0\x0a\2mx\7example\0"s);
  EXPECT_EQ(std::get<Opaque>(answer.answers[3].data).bytes, "\0\0\0\5\1\xbb\7example\0"s);
  EXPECT_EQ(std::get<Target>(answer.answers[4].data).name.text(), "ns.example");
  EXPECT_EQ(std::get<Opaque>(answer.answers[5].data).bytes, "\1\2\3");
}

TEST(Wire, WritesTheGoldenMessagesByteForByte) {
  for (const char* const hex : {kQuery, kChain, kHttps, kNxDomain}) {
    EXPECT_EQ(to_hex(encoded(decoded(hex))), to_hex(from_hex(hex)));
  }
}

TEST(Wire, ReadsBackWhatItWrote) {
  for (const char* const hex : {kQuery, kChain, kHttps, kNxDomain, kMixed}) {
    auto const message = decoded(hex);
    auto const again = decode(encoded(message));
    ASSERT_TRUE(again) << hex;
    EXPECT_EQ(*again, message) << hex;
  }
}

TEST(Wire, RefusesAMessageCutAnywhere) {
  for (const char* const hex : {kQuery, kChain, kHttps, kNxDomain, kMixed}) {
    auto const whole = from_hex(hex);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      EXPECT_FALSE(decode(std::span(whole).first(size))) << hex << " cut to " << size;
    }
  }
}

TEST(Wire, RefusesBytesBehindTheLastRecord) {
  auto bytes = from_hex(kQuery);
  bytes.push_back(0);
  EXPECT_EQ(decode(bytes).error(), errc::trailing_bytes);
}

TEST(Wire, RefusesPointersThatDoNotLeadBack) {
  EXPECT_EQ(error_of("0000 0000 0001 0000 0000 0000 c00c 0001 0001"), errc::bad_pointer);
  EXPECT_EQ(error_of("0000 0000 0001 0000 0000 0000 c00e 0001 0001"), errc::bad_pointer);
  EXPECT_EQ(error_of("0000 0000 0001 0000 0000 0000 01 61 c00c 0001 0001"), errc::bad_pointer);
  EXPECT_EQ(error_of("0000 0000 0001 0000 0000 0000 ffff 0001 0001"), errc::bad_pointer);
  // Two names that point at each other: the first one's pointer leads forward.
  EXPECT_EQ(error_of("0000 0000 0002 0000 0000 0000 c012 0001 0001 c00c 0001 0001"),
            errc::bad_pointer);
}

/// A message whose second record has a name of `count` pointers in a row, then the root.
Octets message_with_pointers(unsigned count) {
  constexpr unsigned kRootAt = kHeaderBytes + 11;  // in the data of the first record
  auto bytes = from_hex("0000 8000 0000 0002 0000 0000  00 fde9 0001 00000000");
  auto const append16 = [&bytes](unsigned value) {
    bytes.push_back(static_cast<std::uint8_t>(value >> 8));
    bytes.push_back(static_cast<std::uint8_t>(value & 0xff));
  };
  auto const append_pointer = [&append16](unsigned to) { append16(0xc000 | to); };
  append16(1 + 2 * (count - 1));
  bytes.push_back(0);
  unsigned target = kRootAt;
  for (unsigned i = 1; i < count; ++i) {
    auto const here = static_cast<unsigned>(bytes.size());
    append_pointer(target);
    target = here;
  }
  append_pointer(target);
  for (auto const value : from_hex("fde9 0001 00000000 0000")) bytes.push_back(value);
  return bytes;
}

TEST(Wire, FollowsAsManyPointersAsANameCanHaveLabels) {
  auto const message = decode(message_with_pointers(128));
  ASSERT_TRUE(message) << message.error().message();
  ASSERT_THAT(message->answers, SizeIs(2));
  EXPECT_EQ(message->answers[1].name, Name());
  EXPECT_EQ(decode(message_with_pointers(129)).error(), errc::bad_pointer);
}

TEST(Wire, RefusesLabelsOfUnknownKinds) {
  EXPECT_EQ(error_of("0000 0000 0001 0000 0000 0000 41 00 0001 0001"), errc::bad_name);
  EXPECT_EQ(error_of("0000 0000 0001 0000 0000 0000 80 00 0001 0001"), errc::bad_name);
}

TEST(Wire, RefusesANameThatPointersMakeTooLong) {
  // Each name is 63 letters and then the one before it: the fourth is over 255 bytes.
  std::string hex = "0000 0000 0004 0000 0000 0000";
  std::string const label = "3f" + std::string(126, '6');
  hex += label + "00 0001 0001";
  for (const char* const before : {"c00c", "c051", "c096"}) hex += label + before + "0001 0001";
  EXPECT_EQ(error_of(hex.c_str()), errc::bad_name);
}

TEST(Wire, RefusesDataOfAnotherLengthThanItSays) {
  std::string const head = "0000 8000 0000 0001 0000 0000 00 ";
  EXPECT_EQ(error_of((head + "0001 0001 00000000 0003 010203").c_str()), errc::truncated);
  EXPECT_EQ(error_of((head + "0001 0001 00000000 0005 0102030405").c_str()), errc::bad_record);
  EXPECT_EQ(error_of((head + "0005 0001 00000000 0001 01 61 00").c_str()), errc::bad_record);
  EXPECT_EQ(error_of((head + "0010 0001 00000000 0000").c_str()), errc::bad_record);
  EXPECT_EQ(error_of((head + "0010 0001 00000000 0002 05 61626364 65").c_str()), errc::bad_record);
}

TEST(Wire, RefusesSvcParamsOutOfOrder) {
  std::string const head = "0000 8000 0000 0001 0000 0000 00 0041 0001 00000000 ";
  EXPECT_EQ(error_of((head + "000b 0001 00 0003 0000 0001 0000").c_str()), errc::bad_record);
  EXPECT_EQ(error_of((head + "000b 0001 00 0003 0000 0003 0000").c_str()), errc::bad_record);
}

TEST(Wire, RefusesEdnsTwiceOrInTheWrongPlace) {
  std::string const opt = "00 0029 0200 00000000 0000 ";
  EXPECT_EQ(error_of(("0000 0000 0000 0000 0000 0002" + opt + opt).c_str()), errc::bad_edns);
  EXPECT_EQ(error_of(("0000 0000 0000 0001 0000 0000" + opt).c_str()), errc::bad_edns);
  EXPECT_EQ(error_of("0000 0000 0000 0000 0000 0001 01 61 00 0029 0200 00000000 0000"),
            errc::bad_edns);
  EXPECT_EQ(error_of("0000 0000 0000 0000 0000 0001 00 0029 0200 00000000 0003 000a00"),
            errc::truncated);
}

TEST(Wire, CarriesAResponseCodeOverFifteenInEdns) {
  Message message;
  message.rcode = Rcode::kBadVers;
  Octets out(512);
  EXPECT_EQ(encode(message, out).error(), errc::bad_edns);
  message.edns = Edns{};
  EXPECT_EQ(decode(encoded(message))->rcode, Rcode::kBadVers);
}

TEST(Wire, SaysWhenThereIsNoRoom) {
  auto const message = decoded(kChain);
  auto const size = from_hex(kChain).size();
  for (std::size_t room = 0; room < size; ++room) {
    Octets out(room);
    EXPECT_EQ(encode(message, out).error(), errc::too_large) << room;
  }
  Octets out(size);
  EXPECT_EQ(encode(message, out), size);
}

TEST(Wire, RefusesToWriteWhatNoRecordHolds) {
  Octets out(1000);
  Message message;
  message.answers.push_back({.type = Type::kTxt, .data = Txt{.strings = {std::string(256, 'a')}}});
  EXPECT_EQ(encode(message, out).error(), errc::bad_record);
  message.answers[0].data = Txt{};
  EXPECT_EQ(encode(message, out).error(), errc::bad_record);
  message.answers[0] = {.type = Type::kHttps, .data = Svcb{.params = {{2, ""}, {1, ""}}}};
  EXPECT_EQ(encode(message, out).error(), errc::bad_record);
}

TEST(Wire, KeepsTheCaseOfEachNameWhenItCompresses) {
  Message message;
  message.questions = {{.name = name_of("WWW.Example.org")}, {.name = name_of("www.example.org")}};
  auto const bytes = encoded(message);
  EXPECT_EQ(*decode(bytes), message);
  EXPECT_EQ(bytes.size(), kHeaderBytes + (17 + 4) + (1 + 3 + 1 + 7 + 2 + 4));  // "org" is shared
}

TEST(Wire, WritesALargeMessageOfManyNames) {
  Message message;
  for (int i = 0; i < 2000; ++i) {
    auto const host = "host" + std::to_string(i % 500) + ".example.org";
    message.answers.push_back({.name = name_of(host), .data = A{{127, 0, 0, 1}}});
  }
  EXPECT_EQ(*decode(encoded(message)), message);
}

}  // namespace
}  // namespace reprise::dns
