// Malformed requests (RFC 9113 section 8) are stream errors, and no handler sees them.

#include "tests/proxy/http/h2_offence.h"

namespace reprise {
namespace {

/// The pseudo fields of a request in another order, or other ones.
Fields pseudo(std::initializer_list<std::pair<std::string, std::string>> fields) {
  return fields;
}

// Section 8.1: framing.
INSTANTIATE_TEST_SUITE_P(
    Content, H2Offence,
    testing::Values(trails("TrailersThatDoNotEnd", {{"x", "y"}}, 0),
                    trails("TrailersWithPseudoFields", {{":path", "/"}}),
                    trails("TrailersWithUpperCase", {{"X", "y"}}),
                    trails("TrailersWithConnectionFields", {{"connection", "close"}}),
                    asks("LessThanItsLength", with("content-length", "3"), "ab"),
                    asks("MoreThanItsLength", with("content-length", "3"), "abcd"),
                    asks("NothingOfItsLength", with("content-length", "1")),
                    asks("LengthThatIsNoNumber", with("content-length", "x")),
                    asks("LengthBelowZero", with("content-length", "-1")),
                    asks("LengthThatOverflows", with("content-length", "18446744073709551617")),
                    Offence{"MoreThanItsLengthInPieces", NGHTTP2_PROTOCOL_ERROR,
                            [](FrameClient& client) {
                              return client.head(1, with("content-length", "3"), 0) +
                                     FrameClient::data(1, "ab") + FrameClient::data(1, "cd");
                            },
                            true},
                    Offence{"TwoLengths", NGHTTP2_PROTOCOL_ERROR,
                            [](FrameClient& client) {
                              auto fields = with("content-length", "1");
                              fields.emplace_back("content-length", "1");
                              return client.head(1, fields, 0);
                            },
                            true}),
    name_of);

// Section 8.2: names and values.
INSTANTIATE_TEST_SUITE_P(
    Fields, H2Offence,
    testing::Values(
        asks("UpperCaseName", with("x-Upper", "1")), asks("EmptyName", with("", "1")),
        asks("SpaceInName", with("x y", "1")), asks("ColonInName", with("x:y", "1")),
        asks("ControlInName", with("x\x01", "1")), asks("DeleteInName", with("x\x7f", "1")),
        asks("HighByteInName", with("x\xc3\xa4", "1")),
        asks("NulInValue", with("x", std::string("a\0b", 3))),
        asks("LineFeedInValue", with("x", "a\nb")),
        asks("CarriageReturnInValue", with("x", "a\rb")), asks("SpaceBeforeValue", with("x", " a")),
        asks("SpaceBehindValue", with("x", "a ")), asks("TabBehindValue", with("x", "a\t")),
        asks("LineFeedInPath", changed(":path", "/a\nb")),
        asks("SpaceInAuthority", changed(":authority", "a test")),
        asks("Connection", with("connection", "close")), asks("KeepAlive", with("keep-alive", "1")),
        asks("ProxyConnection", with("proxy-connection", "close")),
        asks("TransferEncoding", with("transfer-encoding", "chunked")),
        asks("Upgrade", with("upgrade", "h2c")), asks("Te", with("te", "gzip")),
        asks("TeAmongOthers", with("te", "trailers, gzip"))),
    name_of);

// Section 8.3: pseudo fields.
INSTANTIATE_TEST_SUITE_P(
    PseudoFields, H2Offence,
    testing::Values(asks("NoMethod", without(":method")), asks("NoScheme", without(":scheme")),
                    asks("NoPath", without(":path")), asks("NoAuthority", without(":authority")),
                    asks("EmptyPath", changed(":path", "")),
                    asks("RelativePath", changed(":path", "x")),
                    asks("AsteriskForAGet", changed(":path", "*")),
                    asks("EmptyAuthority", changed(":authority", "")),
                    asks("BadPort", changed(":authority", "a.test:99999")),
                    asks("UserInAuthority", changed(":authority", "me@a.test")),
                    asks("HostThatIsAnother", with("host", "b.test")),
                    asks("MethodTwice", pseudo({{":method", "GET"},
                                                {":method", "GET"},
                                                {":scheme", "https"},
                                                {":authority", "a.test"},
                                                {":path", "/"}})),
                    asks("SchemeTwice", pseudo({{":method", "GET"},
                                                {":scheme", "https"},
                                                {":scheme", "https"},
                                                {":authority", "a.test"},
                                                {":path", "/"}})),
                    asks("PathTwice", pseudo({{":method", "GET"},
                                              {":scheme", "https"},
                                              {":authority", "a.test"},
                                              {":path", "/"},
                                              {":path", "/"}})),
                    asks("AuthorityTwice", pseudo({{":method", "GET"},
                                                   {":scheme", "https"},
                                                   {":authority", "a.test"},
                                                   {":authority", "a.test"},
                                                   {":path", "/"}})),
                    asks("OneThatIsUnknown", pseudo({{":method", "GET"},
                                                     {":scheme", "https"},
                                                     {":authority", "a.test"},
                                                     {":path", "/"},
                                                     {":unknown", "x"}})),
                    asks("OneOfResponses", pseudo({{":status", "200"},
                                                   {":method", "GET"},
                                                   {":scheme", "https"},
                                                   {":authority", "a.test"},
                                                   {":path", "/"}})),
                    asks("OneOfExtendedConnect", pseudo({{":method", "CONNECT"},
                                                         {":protocol", "websocket"},
                                                         {":scheme", "https"},
                                                         {":authority", "a.test"},
                                                         {":path", "/"}})),
                    asks("OneBehindFields", pseudo({{":method", "GET"},
                                                    {":scheme", "https"},
                                                    {":authority", "a.test"},
                                                    {"accept", "x"},
                                                    {":path", "/"}})),
                    asks("Connect", pseudo({{":method", "CONNECT"}, {":authority", "a.test:443"}})),
                    asks("ConnectWithAPath", pseudo({{":method", "CONNECT"},
                                                     {":scheme", "https"},
                                                     {":authority", "a.test:443"},
                                                     {":path", "/"}}))),
    name_of);

TEST_F(H2ServerTest, ShowsNoHandlerAMalformedRequest) {
  play([this](FrameClient& client) -> awaitable<void> {
    co_await client.send(client.head(1, with("x", "a\nb")) + client.head(3, without(":path")) +
                         client.head(5, with("host", "b.test")) +
                         client.head(7, request_fields("/early")));
    co_await client.until(NGHTTP2_HEADERS, 7);
    EXPECT_EQ(site.started, 1U);
  });
}

TEST_F(H2ServerTest, TakesAHostThatSaysTheSameAsTheAuthority) {
  play([](FrameClient& client) -> awaitable<void> {
    auto fields = request_fields("/early");
    fields.emplace_back("host", "A.test");
    fields.emplace_back("te", "trailers");
    co_await client.send(client.head(1, fields));
    co_await client.until(NGHTTP2_HEADERS, 1);
    EXPECT_EQ(client.field(":status"), "200");
    fields = request_fields("/early");
    fields[2] = {"host", "a.test"};  // in the place of :authority, and behind :path
    std::swap(fields[2], fields[3]);
    co_await client.send(client.head(3, fields));
    co_await client.until(NGHTTP2_HEADERS, 3);
  });
}

}  // namespace
}  // namespace reprise
