#include "proxy/replay/preflight.h"

#include "tests/proxy/replay/recorded_archive.h"

namespace reprise {
namespace {

class Preflight : public testing::Test {
 protected:
  void record(const std::string& method, const std::string& target, Headers response) {
    archive_.add(RecordedArchive::exchange(method, target, std::move(response)));
  }

  std::expected<MadeUp, std::string> ask(const std::string& method, std::string_view target,
                                         std::string_view requested_headers = {},
                                         std::string_view host = "a.test") {
    fields_ = {{.name = "Origin", .value = "https://page.test"},
               {.name = "Access-Control-Request-Method", .value = method}};
    if (!requested_headers.empty()) {
      fields_.push_back({.name = "Access-Control-Request-Headers", .value = requested_headers});
    }
    AskedRequest const asked{.key = {.method = "OPTIONS",
                                     .scheme = Scheme::kHttps,
                                     .host = host,
                                     .port = 443,
                                     .target = target},
                             .headers = fields_};
    EXPECT_TRUE(is_preflight(asked));
    return answer_preflight(archive_.reader(), 1, asked);
  }
  static std::string field(const MadeUp& answer, std::string_view name) {
    return std::string(find_header(answer.headers.list(), name).value_or("(none)"));
  }

  Headers const any_{{.name = "Access-Control-Allow-Origin", .value = "*"}};
  Headers const page_{{.name = "Access-Control-Allow-Origin", .value = "https://page.test"},
                      {.name = "Access-Control-Allow-Credentials", .value = "true"}};

 private:
  RecordedArchive archive_;
  std::vector<HeaderView> fields_;
};

TEST_F(Preflight, AllowsWhatTheRecordedRequestWasAllowed) {
  record("PUT", "/item", page_);
  auto const answer = ask("PUT", "/item", "content-type,x-key");
  ASSERT_TRUE(answer) << answer.error();
  EXPECT_EQ(answer->status, 204);
  EXPECT_EQ(field(*answer, "Access-Control-Allow-Origin"), "https://page.test");
  EXPECT_EQ(field(*answer, "Access-Control-Allow-Credentials"), "true");
  EXPECT_EQ(field(*answer, "Access-Control-Allow-Methods"), "PUT");
  EXPECT_EQ(field(*answer, "Access-Control-Allow-Headers"), "content-type,x-key");
}

TEST_F(Preflight, AllowsNoFieldsWhereNoneAreAskedFor) {
  record("DELETE", "/item", any_);
  auto const answer = ask("DELETE", "/item");
  ASSERT_TRUE(answer) << answer.error();
  EXPECT_EQ(field(*answer, "Access-Control-Allow-Origin"), "*");
  EXPECT_EQ(field(*answer, "Access-Control-Allow-Headers"), "(none)");
  EXPECT_EQ(field(*answer, "Access-Control-Allow-Credentials"), "(none)");
}

TEST_F(Preflight, GoesByTheSameQueryFirst) {
  record("POST", "/api?op=1", any_);
  record("POST", "/api?op=2", page_);
  EXPECT_EQ(field(ask("POST", "/api?op=2").value(), "Access-Control-Allow-Origin"),
            "https://page.test");
  EXPECT_EQ(field(ask("POST", "/api?op=3").value(), "Access-Control-Allow-Origin"), "*");
}

TEST_F(Preflight, GoesByTheAnswerThatAllowsItsOrigin) {
  record("PUT", "/item", {{.name = "Access-Control-Allow-Origin", .value = "https://b.test"}});
  record("PUT", "/item", page_);
  record("POST", "/api?op=1", {{.name = "Access-Control-Allow-Origin", .value = "https://b.test"}});
  record("POST", "/api?op=2", page_);
  for (auto const& [method, target] : {std::pair("PUT", "/item"), std::pair("POST", "/api?op=1")}) {
    auto const answer = ask(method, target);
    ASSERT_TRUE(answer) << answer.error();
    EXPECT_EQ(field(*answer, "Access-Control-Allow-Origin"), "https://page.test");
  }
}

TEST_F(Preflight, IsAMissWhereTheRequestIsNotRecorded) {
  record("GET", "/item", any_);
  EXPECT_EQ(ask("PUT", "/item").error(),
            "a preflight, and the PUT that it precedes is not recorded");
  EXPECT_FALSE(ask("GET", "/other"));
  EXPECT_FALSE(ask("GET", "/item", {}, "b.test"));
}

TEST_F(Preflight, IsAMissWhereNothingWasAllowed) {
  record("PUT", "/closed", {});
  record("PUT", "/theirs", {{.name = "Access-Control-Allow-Origin", .value = "https://b.test"}});
  EXPECT_EQ(ask("PUT", "/closed").error(),
            "a preflight, and the recorded PUT allows no other origin");
  EXPECT_EQ(ask("PUT", "/theirs").error(),
            "a preflight, and the recorded PUT allows https://b.test, not https://page.test");
}

TEST_F(Preflight, IsAnsweredByARecordedOneThatAllowsIt) {
  auto recorded =
      RecordedArchive::exchange("OPTIONS", "/item",
                                {{.name = "Access-Control-Allow-Origin", .value = "*"},
                                 {.name = "Access-Control-Allow-Methods", .value = "GET, PUT"},
                                 {.name = "Access-Control-Allow-Headers", .value = "X-Key"}});
  recorded.request.headers = {{.name = "Origin", .value = "https://b.test"},
                              {.name = "Access-Control-Request-Method", .value = "PATCH"}};
  recorded.response.status = 204;
  auto const answers = [&recorded](std::string_view origin, std::string_view method,
                                   std::string_view names) {
    std::vector<HeaderView> fields{{.name = "Origin", .value = origin},
                                   {.name = "Access-Control-Request-Method", .value = method}};
    if (!names.empty()) {
      fields.push_back({.name = "Access-Control-Request-Headers", .value = names});
    }
    return answers_preflight(recorded, {.key = {.method = "OPTIONS"}, .headers = fields});
  };
  EXPECT_TRUE(answers("https://page.test", "PUT", ""));
  EXPECT_TRUE(answers("https://page.test", "POST", "x-key"));
  EXPECT_FALSE(answers("https://page.test", "DELETE", ""));
  EXPECT_FALSE(answers("https://page.test", "PUT", "x-key, x-other"));
  EXPECT_TRUE(answers("https://b.test", "PATCH", ""));  // refused in the recording, too
  EXPECT_FALSE(answers("https://page.test", "PATCH", ""));
  recorded.response.status = 403;
  EXPECT_FALSE(answers("https://page.test", "PUT", ""));
  recorded.response.status = 204;
  recorded.response.headers = {{.name = "Access-Control-Allow-Origin", .value = "https://b.test"}};
  EXPECT_FALSE(answers("https://page.test", "GET", ""));
}

TEST_F(Preflight, IsOneOnlyWithItsFields) {
  std::vector<HeaderView> const origin{{.name = "Origin", .value = "https://page.test"}};
  AskedRequest asked{.key = {.method = "OPTIONS", .host = "a.test", .target = "/"},
                     .headers = origin};
  EXPECT_FALSE(is_preflight(asked));
  std::vector<HeaderView> const both{{.name = "Origin", .value = "https://page.test"},
                                     {.name = "Access-Control-Request-Method", .value = "PUT"}};
  asked.headers = both;
  EXPECT_TRUE(is_preflight(asked));
  asked.key.method = "GET";
  EXPECT_FALSE(is_preflight(asked));
}

}  // namespace
}  // namespace reprise
