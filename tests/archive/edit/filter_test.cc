#include "archive/edit/filter.h"

#include <gmock/gmock.h>

#include "tests/archive/archive_fixture.h"

namespace reprise {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// GET https://www.example.org/a/b.html?q=1&r=(2), 404, 1500 bytes of HTML over h2 after 2.5 s.
Exchange sample() {
  auto exchange = an_exchange(1, "/a/b.html?q=1&r=(2)");
  exchange.session = 2;
  exchange.request.host = "www.example.org";
  exchange.response.status = 404;
  exchange.response.version = HttpVersion::kH2;
  exchange.response.headers = {{.name = "Content-Type", .value = "Text/HTML; charset=utf-8"},
                               {.name = "Server", .value = "nginx/1.2"}};
  exchange.response.body.size_bytes = 1500;
  exchange.timings.queued = 2500ms;
  return exchange;
}

bool takes(std::string_view text, const Exchange& exchange = sample()) {
  auto const filter = Filter::parse(text);
  if (!filter) {
    ADD_FAILURE() << caret_text(text, filter.error());
    return false;
  }
  return filter->takes(exchange, 17);
}

TEST(Filter, TakesWhatItDescribes) {
  for (const char* text : {
           "",
           "  ",
           "host=www.example.org",
           "host:WWW.Example.ORG",
           "HOST = www.example.org",
           "host=.example.org",
           "host=.www.example.org",
           "host=*.example.org",
           "host=a.test,*.org",
           "host!=a.test,b.test",
           "path=/a/b.html",
           "path=/a/*",
           "path=*.html",
           "query=*q=1*",
           "query=\"q=1&r=(2)\"",
           "url=example.org/a",
           "url=*/b.html*",
           "url=b.html?q",
           "b.html?q",
           "\"q=1\"",
           "https://www",
           "method=get",
           "method=POST,GET",
           "scheme=https",
           "type=html",
           "type=text/*",
           "type=TEXT/HTML",
           "type!=image",
           "protocol=h2",
           "outcome=complete",
           "header=server",
           "header=\"server: nginx*\"",
           "header=\"Server:nginx/1.2\"",
           "status=404",
           "status=4xx",
           "status=4XX",
           "status=400-499",
           "status=200,404",
           "status:>=400",
           "status>=404",
           "status <= 404",
           "status<500",
           "status != 200",
           "time<2.6",
           "time>2.4s",
           "time=2s-3s",
           "time=2400ms-2.5s",
           "size=1.5k",
           "size<1M",
           "size>1KiB",
           "session=2",
           "session=1-3",
           "number=17",
           "number=1,2,10-20",
           "host=.org status=404",
           "host=.org and status=404",
           "host=.org && status=404",
           "host=a.test or status=404",
           "host=a.test | status=404",
           "host=a.test or status=200 or number=17",
           "host=a.test status=404 or type=html",
           "not host=a.test",
           "!host=a.test",
           "! host=a.test",
           "not not status=404",
           "!(host=a.test status=404)",
           "(host=a.test or status=404) (type=html)",
           "((((status=404))))",
           "~d example",
           "~u /a/b",
           "~m GET",
           "~c 404",
           "~t html",
           "!~a",
           "~s",
           "!~q & !~e",
       }) {
    EXPECT_TRUE(takes(text)) << text;
  }
}

TEST(Filter, TakesNothingElse) {
  for (const char* text : {
           "host=example.org",
           "host=*.www.example.org",
           "host=.xample.org",
           "host=a.test,b.test",
           "path=/a/",
           "path=/A/*",
           "path=*q=1*",
           "query=q=1",
           "url=example.com",
           "url=*/b.html",
           "method=POST",
           "scheme=http",
           "type=image,script,none",
           "protocol=h1,h3",
           "outcome=cut,failed",
           "header=set-cookie",
           "header=\"server: apache*\"",
           "status=none",
           "status=5xx",
           "status>404",
           "status<404",
           "status=405-499",
           "time<2.5",
           "time>2.5",
           "time=3s-4s",
           "size>1.5k",
           "session=1",
           "number=16",
           "host=.org status=200",
           "host=a.test or status=200",
           "host=a.test type=html or status=200",
           "host=a.test (type=html or status=404)",
           "not status=404",
           "!!(!status=404)",
           "~d com",
           "~a",
           "~e",
           "~q",
       }) {
    EXPECT_FALSE(takes(text)) << text;
  }
}

TEST(Filter, KnowsHowAnExchangeEnded) {
  auto exchange = sample();
  exchange.outcome = Outcome::kCutByClient;
  EXPECT_TRUE(takes("outcome=cut outcome=cut-by-client ~e", exchange));
  exchange.outcome = Outcome::kCutByOrigin;
  EXPECT_TRUE(takes("outcome=cut outcome=cut-by-origin !outcome=cut-by-client", exchange));
  exchange.outcome = Outcome::kOriginFailed;
  exchange.response = {};
  exchange.request.version = HttpVersion::kHttp11;
  EXPECT_TRUE(
      takes("outcome=failed status=none type=none protocol=http/1.1 protocol=h1 ~q", exchange));
  for (const char* const text :
       {"status<400", "status<=599", "status>=0", "status>-1", "status=1xx", "status=200",
        "status=0-399", "status=0-0", "status=-1-999"}) {
    EXPECT_FALSE(takes(text, exchange)) << text;
  }
  EXPECT_TRUE(takes("status!=200 !status<400 status!=0-399 status=0", exchange));
  EXPECT_TRUE(takes("status=0-499 status!=0"));
}

TEST(Filter, MatchesNoTimeThatIsNotKnown) {
  auto exchange = sample();
  exchange.timings = {};
  EXPECT_FALSE(takes("time<1000000", exchange));
  EXPECT_TRUE(takes("!time>=0", exchange));
  exchange.timings.end = 1s;
  EXPECT_TRUE(takes("time=1", exchange));
}

TEST(Filter, KnowsTheKindsOfTypes) {
  auto const is = [](std::string_view type, std::string_view kind) {
    auto exchange = sample();
    exchange.response.headers = {{.name = "content-type", .value = type}};
    return takes("type=" + std::string(kind), exchange);
  };
  EXPECT_TRUE(is("application/javascript", "script"));
  EXPECT_TRUE(is("text/javascript", "script"));
  EXPECT_TRUE(is("text/css", "style"));
  EXPECT_TRUE(is("image/svg+xml", "image"));
  EXPECT_TRUE(is("image/svg+xml", "xml"));
  EXPECT_TRUE(is("font/woff2", "font"));
  EXPECT_TRUE(is("application/font-woff", "font"));
  EXPECT_TRUE(is("application/ld+json", "json"));
  EXPECT_TRUE(is("video/mp4", "media"));
  EXPECT_FALSE(is("application/json", "script"));
}

TEST(Filter, NamesThePlaceOfAFault) {
  struct Case {
    const char* text;
    std::size_t position;
    const char* what;
  };
  for (auto const& [text, position, what] : {
           Case{"hots=example.org", 0, "unknown field 'hots'"},
           Case{"status=404 q=1", 11, "unknown field 'q'"},
           Case{"status=4x", 7, "is not valid here"},
           Case{"status=404,abc", 11, "is not valid here"},
           Case{"status=499-400", 7, "is not valid here"},
           Case{"size=10lb", 5, "is not valid here"},
           Case{"host>a", 5, "number fields only"},
           Case{"scheme=ftp", 7, "http or https"},
           Case{"protocol=spdy", 9, "the protocol must be"},
           Case{"outcome=good", 8, "the outcome must be"},
           Case{"host=", 5, "a value is missing"},
           Case{"host=a,", 7, "a value is missing"},
           Case{"host=a or", 9, "a condition is missing"},
           Case{"host=a and", 10, "a condition is missing"},
           Case{"or host=a", 0, "a condition is missing"},
           Case{"!", 1, "a condition is missing"},
           Case{"not", 3, "a condition is missing"},
           Case{"(host=a", 0, "is not closed"},
           Case{"host=a)", 6, "was never opened"},
           Case{"()", 1, "a condition is missing"},
           Case{"url=\"abc", 4, "quote is not closed"},
           Case{"~x a", 0, "unknown letter"},
           Case{"~d", 2, "needs a value"},
           Case{"~", 0, "unknown letter"},
           Case{"~u ^https", 3, "not a regular expression"},
           Case{"~d a|b", 3, "not a regular expression"},
           Case{"~d example\\.org", 3, "not a regular expression"},
           Case{"~t image.*", 3, "not a regular expression"},
       }) {
    auto const filter = Filter::parse(text);
    ASSERT_FALSE(filter) << text;
    EXPECT_EQ(filter.error().position, position) << text;
    EXPECT_THAT(filter.error().what, HasSubstr(what)) << text;
  }
}

TEST(Filter, PutsACaretBelowTheFault) {
  std::string const text = "host=a q=\x1b";
  auto const filter = Filter::parse(text);
  ASSERT_FALSE(filter);
  EXPECT_THAT(caret_text(text, filter.error()), HasSubstr("\n  host=a q=?\n         ^"));
}

TEST(Filter, IsBounded) {
  EXPECT_TRUE(Filter::parse(std::string(60, '(') + "a" + std::string(60, ')')));
  EXPECT_FALSE(Filter::parse(std::string(100, '(') + "a" + std::string(100, ')')));
  EXPECT_FALSE(Filter::parse(std::string(10'000, '!') + "a"));
  EXPECT_FALSE(Filter::parse(std::string(Filter::kTextBytesMax + 1, ' ')));
  std::string many = "number=1";
  while (many.size() < 60'000) many += " or number=1";
  EXPECT_FALSE(takes(many));
}

class View final : public FilterSubject {
 public:
  std::string_view text(FilterField field, std::string_view tag, std::string&) const override {
    if (field == FilterField::kHost) return "shop.test";
    return field == FilterField::kTag && tag == "Network_1" ? "4G" : "";
  }
  std::optional<std::int64_t> number(FilterField field) const override {
    if (field == FilterField::kLoad) return 2'500'000'000;
    return std::nullopt;
  }
};

constexpr FilterField kViewFields[] = {FilterField::kHost, FilterField::kLoad};

TEST(Filter, AsksAboutTheFieldsOfItsVocabulary) {
  FilterVocabulary const views{.fields = kViewFields, .tags = true};
  auto const taken = [&](std::string_view text) {
    auto const filter = Filter::parse(text, views);
    EXPECT_TRUE(filter) << text;
    return filter && filter->takes(View());
  };
  EXPECT_TRUE(taken("host=.test load>2 Network_1=4G,3G"));
  EXPECT_TRUE(taken("Network_1!=3G"));
  EXPECT_TRUE(taken("load=2s-3s"));
  EXPECT_FALSE(taken("load<2"));
  EXPECT_FALSE(taken("Network_1=5G"));
  EXPECT_FALSE(taken("country=DE"));
  auto const without = Filter::parse("status=404", {.fields = kViewFields});
  ASSERT_FALSE(without);
  EXPECT_THAT(without.error().what, HasSubstr("the fields are host, load;"));
  auto const letter = Filter::parse("~t image", {.fields = kViewFields});
  ASSERT_FALSE(letter);
  EXPECT_THAT(letter.error().what, HasSubstr("not known here; the fields are host, load"));
}

}  // namespace
}  // namespace reprise
