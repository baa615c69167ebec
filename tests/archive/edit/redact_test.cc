#include "archive/edit/redact.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "archive/edit/redact_fields.h"
#include "tests/archive/edit/edit_fixture.h"
#include "tests/archive/edit/secrets_key.h"
#include "tests/test_seed.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;

/// No codings, as the archives here have none.
BodyCoder plain_coder() {
  return {.decode = [](HeaderList, std::span<const std::byte> coded) -> Result<std::string> {
            return as_text(coded);
          },
          .encode =
              [](HeaderList, std::string_view plain, std::span<const std::byte>) {
                auto const bytes = as_bytes(plain);
                return std::vector<std::byte>(bytes.begin(), bytes.end());
              }};
}

class Redact : public testing::Test {
 protected:
  RedactReport redact(const RedactOptions& options) {
    auto const reader = open_archive(a_);
    auto const writer = create_archive(out_);
    auto report = redact_archive(*reader, options, plain_coder(), secrets_key(1), *writer);
    EXPECT_TRUE(report) << report.error().message();
    EXPECT_TRUE(writer->close());
    return report ? *report : RedactReport();
  }

  ScratchFolder folder_;
  std::filesystem::path a_ = folder_ / "a.reprise";
  std::filesystem::path out_ = folder_ / "out.reprise";
};

std::string visited(std::string_view name, std::string_view value, const RedactOptions& options) {
  return visit_field({.name = name, .value = value}, options,
                     [](std::string_view secret, const std::string& called, Searched) {
                       return "[" + called + "|" + std::string(secret) + "]";
                     });
}

TEST(RedactFields, FindsTheSecretsOfAField) {
  RedactOptions const options{.headers = {"x-auth*"}, .parameters = {"token", "utm_*"}};
  EXPECT_EQ(visited("Cookie", "a=1; b=\"2\";c; d=", options),
            "a=[cookie a|1]; b=\"[cookie b|2]\";[cookie without a name|c]; d=");
  EXPECT_EQ(visited("set-cookie", "a=b=c; Path=/; Max-Age=5", options),
            "a=[cookie a|b=c]; Path=/; Max-Age=5");
  EXPECT_EQ(visited("Authorization", "Bearer abc def", options),
            "Bearer [header authorization|abc def]");
  EXPECT_EQ(visited("proxy-authorization", "abc", options), "[header proxy-authorization|abc]");
  EXPECT_EQ(visited("X-Auth-Token", "abc", options), "[header x-auth-token|abc]");
  EXPECT_EQ(visited("Referer", "https://a.test/?x=1&token=abc&y=2#utm_a=b", options),
            "https://a.test/?x=1&token=[parameter token|abc]&y=2#utm_a=[parameter utm_a|b]");
  EXPECT_EQ(visited("Link", "</a?token=b>; rel=preload", options),
            "</a?token=[parameter token|b]>; rel=preload");
  EXPECT_EQ(visited("Accept", "token=1", options), "token=1") << "no URL";
  EXPECT_EQ(visited("Referer", "https://a.test/?token=&token", options),
            "https://a.test/?token=&token");
  RedactOptions const none{.cookies = false, .authorization = false};
  EXPECT_EQ(visited("Cookie", "a=1", none), "a=1");
  EXPECT_EQ(visited("Authorization", "Bearer a", none), "Bearer a");
}

TEST(RedactFields, FindsAParameterByItsDecodedName) {
  RedactOptions const options{.parameters = {"user[password]", "raw%5B0%5D"}};
  EXPECT_EQ(visited("Referer", "https://a.test/?user%5Bpassword%5D=hunter22&x=1", options),
            "https://a.test/?user%5Bpassword%5D=[parameter user[password]|hunter22]&x=1");
  EXPECT_EQ(visited("Referer", "https://a.test/?user[password]=hunter22", options),
            "https://a.test/?user[password]=[parameter user[password]|hunter22]");
  EXPECT_EQ(visited("Referer", "https://a.test/?raw%5B0%5D=a", options),
            "https://a.test/?raw%5B0%5D=[parameter raw%5B0%5D|a]");
}

std::string visited_form(std::string_view type, std::string_view body,
                         std::string_view parameter = "token") {
  HeaderView const field{.name = "content-type", .value = type};
  return visit_form({&field, 1}, body, {.parameters = {std::string(parameter)}},
                    [](std::string_view secret, const std::string&, Searched) {
                      return "[" + std::string(secret) + "]";
                    });
}

TEST(RedactFields, FindsTheParametersOfAForm) {
  EXPECT_EQ(
      visited_form("application/x-www-form-urlencoded; charset=utf-8", "token=a+b&x=1&token="),
      "token=[a+b]&x=1&token=");
  constexpr const char* kEncoded = "application/x-www-form-urlencoded";
  EXPECT_EQ(visited_form(kEncoded, "token=it's a \"b\";c&x=1"), "token=[it's a \"b\";c]&x=1");
  EXPECT_EQ(visited_form(kEncoded, "x=a?token=b#token=c;token=d&token=e"),
            "x=a?token=b#token=c;token=d&token=[e]")
      << "only & separates parameters";
  EXPECT_EQ(visited_form(kEncoded, "x=1&user%5Bpassword%5D=hunter22", "user[password]"),
            "x=1&user%5Bpassword%5D=[hunter22]");
  EXPECT_EQ(visited_form(kEncoded, "my+key=a", "my key"), "my+key=[a]");
  EXPECT_EQ(
      visited_form("multipart/form-data; boundary=\"=b=\"",
                   "--=b=\r\nContent-Disposition: form-data; name=\"token\"\r\n\r\nab\r\ncd\r\n"
                   "--=b=\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\ntoken\r\n"
                   "--=b=--\r\n"),
      "--=b=\r\nContent-Disposition: form-data; name=\"token\"\r\n\r\n[ab\r\ncd]\r\n"
      "--=b=\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\ntoken\r\n"
      "--=b=--\r\n");
  EXPECT_EQ(visited_form("multipart/form-data", "--\r\n name=\"token\"\r\n\r\na"),
            "--\r\n name=\"token\"\r\n\r\na")
      << "no boundary";
  EXPECT_EQ(visited_form("multipart/form-data; boundary=b", "--b name=\"token\"\r\n\r\na"),
            "--b name=\"token\"\r\n\r\n[a]")
      << "cut short";
}

TEST_F(Redact, LeavesNoSecretInTheFileAndAllElseAsItWas) {
  for_seeds(10, [this](std::uint64_t seed) {
    std::filesystem::remove(a_);
    std::filesystem::remove(out_);
    make_random_archive(a_, seed);
    auto const report = redact({.parameters = {"token"}, .bodies = true});
    auto const bytes = read_file(out_);
    EXPECT_EQ(bytes.find("Tok-1000"), std::string::npos);
    EXPECT_EQ(bytes.find("abc.def-0123456789"), std::string::npos);
    EXPECT_NE(read_file(a_).find("Tok-1000"), std::string::npos);
    EXPECT_GT(report.counts.at("cookie sid").places, 0U);
    EXPECT_GT(report.counts.at("header authorization").places, 0U);

    auto const before = load_all(a_);
    auto const after = load_all(out_);
    ASSERT_EQ(after.exchanges.size(), before.exchanges.size());
    std::map<std::string, std::string> stand_ins;
    for (std::size_t i = 0; i < before.exchanges.size(); ++i) {
      auto expected = before.exchanges[i];
      auto& request = expected.exchange.request;
      auto& response = expected.exchange.response;
      auto const& found = after.exchanges[i].exchange;
      EXPECT_EQ(found.request.target.size(), request.target.size());
      ASSERT_EQ(found.response.headers.size(), response.headers.size());
      for (std::size_t k = 0; k < response.headers.size(); ++k) {
        auto const& field = response.headers.list()[k];
        EXPECT_EQ(found.response.headers.list()[k].name, field.name);
        EXPECT_EQ(found.response.headers.list()[k].value.size(), field.value.size());
      }
      EXPECT_THAT(found.response.headers.list()[2].value, HasSubstr("; theme="));
      // The same secret, the same stand-in: in the URL, in cookies, in Location, in forms.
      auto const at = request.target.find("Tok-");
      auto const [known, is_new] =
          stand_ins.emplace(request.target.substr(at), found.request.target.substr(at));
      EXPECT_EQ(known->second, found.request.target.substr(at));
      auto const cookie = std::string(find_header(request.headers.list(), "cookie")->substr(4, 14));
      if (stand_ins.contains(cookie)) {
        EXPECT_EQ(find_header(found.request.headers.list(), "cookie")->substr(4, 14),
                  stand_ins.at(cookie));
      }
      EXPECT_EQ(after.exchanges[i].request_body.size(), expected.request_body.size());
      request.target = found.request.target;
      request.headers = found.request.headers;
      request.body = found.request.body;
      response.headers = found.response.headers;
      expected.request_body = after.exchanges[i].request_body;
      expect_same(after.exchanges[i], expected);
    }
    for (std::size_t i = 0; i < before.sessions.size(); ++i) {
      auto expected = before.sessions[i];
      EXPECT_NE(after.sessions[i].pages, expected.pages);
      expected.pages = after.sessions[i].pages;
      expected.command_line.resize(std::min<std::size_t>(expected.command_line.size(), 1));
      expect_same(after.sessions[i], expected);
    }
  });
}

TEST_F(Redact, HidesASecretBesideAnotherOneInTheSameField) {
  {
    auto const writer = create_archive(a_);
    ASSERT_TRUE(writer->begin_session(a_session()));
    auto exchange = an_exchange(1, "/");
    exchange.request.headers = {{.name = "cookie", .value = "st=abc123456789"}};
    exchange.response.headers = {
        {.name = "Location", .value = "https://x.test/cb?code=QQ11223344&state=abc123456789"}};
    add(*writer, exchange);
    ASSERT_TRUE(writer->close());
  }
  redact({.parameters = {"code"}});
  auto const bytes = read_file(out_);
  EXPECT_EQ(bytes.find("abc123456789"), std::string::npos);
  EXPECT_EQ(bytes.find("QQ11223344"), std::string::npos);
}

TEST_F(Redact, ACutResponseStaysAsShortOfItsLengthAsItWas) {
  {
    auto const writer = create_archive(a_);
    ASSERT_TRUE(writer->begin_session(a_session()));
    auto exchange = an_exchange(1, "/");
    exchange.outcome = Outcome::kCutByOrigin;
    exchange.request.headers = {{.name = "cookie", .value = "sid=s3cret-of-mine"}};
    exchange.response.headers = {{.name = "Content-Length", .value = "1000"}};
    exchange.response.body = store(*writer, "var s='s3cret-of-mine'");
    add(*writer, exchange);
    ASSERT_TRUE(writer->close());
  }
  EXPECT_EQ(redact({.bodies = true}).bodies_changed, 1U);
  auto const reader = open_archive(out_);
  EXPECT_EQ(find_header(exchanges_of(*reader)[0].response.headers.list(), "content-length"),
            "1000");
}

TEST_F(Redact, FindsParametersInTheFormOfAResponse) {
  constexpr const char* kToken = "gho_16C7e42F292c6912";
  {
    auto const writer = create_archive(a_);
    ASSERT_TRUE(writer->begin_session(a_session()));
    auto exchange = an_exchange(1, "/login/oauth/access_token");
    exchange.response.headers = {
        {.name = "Content-Type", .value = "application/x-www-form-urlencoded; charset=utf-8"}};
    exchange.response.body =
        store(*writer, std::string("access_token=") + kToken + "&scope=repo&token_type=bearer");
    add(*writer, exchange);
    auto user = an_exchange(2, "/user");
    user.request.headers = {{.name = "X-Token", .value = kToken}};
    add(*writer, user);
    ASSERT_TRUE(writer->close());
  }
  auto const report = redact({.parameters = {"access_token"}});
  EXPECT_EQ(report.bodies_changed, 1U);
  EXPECT_EQ(read_file(out_).find(kToken), std::string::npos);
  EXPECT_THAT(load_all(out_).exchanges[0].response_body,
              MatchesRegex("access_token=[a-z0-9A-Z_]+&scope=repo&token_type=bearer"));
}

TEST_F(Redact, FindsAParameterWithSpacesHoweverItIsWritten) {
  {
    auto const writer = create_archive(a_);
    ASSERT_TRUE(writer->begin_session(a_session()));
    auto exchange = an_exchange(1, "/?name=jane+doe+1975");
    exchange.response.body = store(*writer, "<p>jane doe 1975</p>");
    add(*writer, exchange);
    add(*writer, an_exchange(2, "/?who=jane%20doe%201975"));
    add(*writer, an_exchange(3, "/?name=jane%20doe+1975"));
    ASSERT_TRUE(writer->close());
  }
  auto const report = redact({.parameters = {"name"}, .bodies = true});
  auto const after = load_all(out_).exchanges;
  constexpr std::string_view kBefore = "/?name=";
  auto const& target = after[0].exchange.request.target;
  ASSERT_THAT(target, MatchesRegex("/.name=[a-z]+\\+[a-z]+\\+[0-9]+"));
  EXPECT_NE(target, "/?name=jane+doe+1975");
  auto plain = target.substr(kBefore.size());
  auto const first_plus = plain.find('+');
  EXPECT_EQ(after[2].exchange.request.target, std::string(kBefore) + plain.substr(0, first_plus) +
                                                  "%20" + plain.substr(first_plus + 1));
  std::ranges::replace(plain, '+', ' ');
  EXPECT_EQ(after[0].response_body, "<p>" + plain + "</p>");
  std::string escaped;
  for (char const c : plain) escaped += c == ' ' ? std::string("%20") : std::string(1, c);
  EXPECT_EQ(after[1].exchange.request.target, "/?who=" + escaped);
  EXPECT_EQ(report.counts.at("parameter name").elsewhere, 2U);
}

TEST(RedactFields, FindsTheCredentialsOfUrls) {
  EXPECT_EQ(visited("Location", "http://bob:pw@a.test/?q=c@d http://eve@b.test", {}),
            "http://[credentials|bob:pw]@a.test/?q=c@d http://[credentials|eve]@b.test");
  EXPECT_EQ(visited("Referer", "http://a.test/c@d", {}), "http://a.test/c@d");
  EXPECT_EQ(visited("Referer", "http://bob:pw@a.test/", {.url_credentials = false}),
            "http://bob:pw@a.test/");
}

TEST_F(Redact, HidesPasswordsOfUrlsAndOfBasicCredentials) {
  {
    auto const writer = create_archive(a_);
    auto session = a_session();
    session.pages = {"http://bob:pw1@example.org/", "http://eve:s3cret-of-eve@example.org/"};
    session.command_line = {"reprise", "record", "http://bob:pw1@example.org/"};
    ASSERT_TRUE(writer->begin_session(session));
    auto exchange = an_exchange(1, "/?is=hunter22-of-kim&or=s3cret-of-eve");
    // kim:hunter22-of-kim
    exchange.request.headers = {
        {.name = "Authorization", .value = "Basic a2ltOmh1bnRlcjIyLW9mLWtpbQ=="},
        {.name = "Referer", .value = "http://bob:pw1@example.org/"}};
    add(*writer, exchange);
    ASSERT_TRUE(writer->close());
  }
  auto const report = redact({});
  auto const bytes = read_file(out_);
  for (auto const* secret : {"bob", "pw1", "s3cret-of-eve", "hunter22", "a2ltOmh1"}) {
    EXPECT_EQ(bytes.find(secret), std::string::npos) << secret;
  }
  auto const after = load_all(out_);
  EXPECT_THAT(after.sessions[0].command_line, ElementsAre("reprise"));
  EXPECT_THAT(after.sessions[0].pages[0], MatchesRegex("http://[a-z]+:[a-z]+[0-9]@example.org/"));
  EXPECT_EQ(report.counts.at("credentials").values, 4U) << "with the passwords alone";
}

TEST_F(Redact, NamesTheGlobsThatMatchedNothing) {
  {
    auto const writer = create_archive(a_);
    ASSERT_TRUE(writer->begin_session({}));
    auto exchange = an_exchange(1, "/?a%5B0%5D=1&empty=");
    exchange.request.headers = {{.name = "X-Key", .value = "abc"}};
    add(*writer, exchange);
    ASSERT_TRUE(writer->close());
  }
  auto const report = redact({.headers = {"x-*", "x-other"}, .parameters = {"a[0]", "b", "empty"}});
  EXPECT_THAT(report.unmatched_headers, ElementsAre("x-other"));
  EXPECT_THAT(report.unmatched_parameters, ElementsAre("b", "empty"));
}

TEST_F(Redact, ReplacesInBodiesOnlyWhenAsked) {
  auto const make = [this] {
    auto const writer = create_archive(a_);
    ASSERT_TRUE(writer->begin_session(a_session()));
    auto exchange = an_exchange(1, "/");
    exchange.request.headers = {{.name = "cookie", .value = "sid=s3cret-of-mine; lang=accepted"}};
    exchange.response.headers = {{.name = "Content-Length", .value = "34"}};
    exchange.response.body = store(*writer, "var s='s3cret-of-mine', t='accepted'");
    add(*writer, exchange);
    ASSERT_TRUE(writer->close());
  };
  make();
  redact({});
  EXPECT_EQ(load_all(out_).exchanges[0].response_body, "var s='s3cret-of-mine', t='accepted'");
  std::filesystem::remove(out_);
  auto const report = redact({.bodies = true});
  EXPECT_THAT(load_all(out_).exchanges[0].response_body,
              MatchesRegex("var s='[a-z][0-9][a-z]+-[a-z]+-[a-z]+', t='accepted'"));
  EXPECT_EQ(report.bodies_changed, 1U);
  EXPECT_EQ(report.counts.at("cookie sid").elsewhere, 1U);
}

}  // namespace
}  // namespace reprise
