#include "inject/charset.h"

#include <gmock/gmock.h>

#include "tests/inject/find_place.h"

namespace reprise::inject {
namespace {

TEST(Charset, KnowsTheLabelsOfBrowsers) {
  for (auto const* const label :
       {"utf-8",        "UTF8",    " windows-1251\n", "cp1251",    "gb2312",    "GB18030",
        "x-gbk",        "euc-kr",  "ks_c_5601-1987",  "shift_jis", "x-sjis",    "big5",
        "euc-jp",       "latin1",  "us-ascii",        "koi8-r",    "macintosh", "x-mac-cyrillic",
        "iso-8859-8-i", "tis-620", "x-user-defined"}) {
    EXPECT_EQ(form_of_label(label), TextForm::kAscii) << label;
  }
  EXPECT_EQ(form_of_label("utf-16"), TextForm::kUtf16le);
  EXPECT_EQ(form_of_label("unicodefffe"), TextForm::kUtf16be);
  EXPECT_EQ(form_of_label("ISO-2022-JP"), TextForm::kIso2022Jp);
  EXPECT_EQ(form_of_label("iso-2022-kr"), TextForm::kReplacement);
  for (auto const* const label : {"", "utf-7", "utf-32", "utf 8", "windows-1259", "none"}) {
    EXPECT_EQ(form_of_label(label), std::nullopt) << label;
  }
}

TEST(Charset, ReadsTheParameterOfAContentType) {
  EXPECT_EQ(charset_parameter("text/html; charset=utf-8"), "utf-8");
  EXPECT_EQ(charset_parameter("text/html;Charset=\"gbk\" ; x=y"), "gbk");
  EXPECT_EQ(charset_parameter("text/html; x=\"; charset=no\"; charset=yes"), "yes");
  EXPECT_EQ(charset_parameter("text/html; a; charset= ;charset=second;charset=third"), "second");
  EXPECT_EQ(charset_parameter("text/html"), "");
  EXPECT_EQ(charset_parameter("text/html; charset"), "");
  EXPECT_EQ(charset_parameter("charset=utf-8"), "");
  EXPECT_EQ(charset_parameter("text/html; charset=\"a\\b\""), "");
}

struct PrescanCase {
  std::string_view document;
  std::string_view label;
};

TEST(Charset, PrescansAsTheStandardSays) {
  for (auto const& [document, label] : std::initializer_list<PrescanCase>{
           {"<meta charset=gbk>", "gbk"},
           {"<META/CHARSET = 'gbk' >", "gbk"},
           {"<meta charset=gbk", ""},
           {"<meta charset=gbk charset=utf-8>", "gbk"},
           {"<meta content='text/html; charset=gbk' http-equiv=CONTENT-TYPE>", "gbk"},
           {"<meta content='text/html; charset=gbk'>", ""},
           {"<meta http-equiv=refresh content='0; charset=gbk'>", ""},
           {"<meta http-equiv=content-type content='charset charset = \"gbk\"'>", "gbk"},
           {"<meta http-equiv=content-type content='charset=\"gbk'>", ""},
           {"<meta charset=none><meta charset=gbk>", "gbk"},
           {"<!-- <meta charset=no> --><meta charset=gbk>", "gbk"},
           {"<!--><meta charset=gbk>", "gbk"},
           {"<a title='<meta charset=utf-8>'><meta charset=gbk>", "gbk"},
           {"</a title='<meta charset=utf-8>'><meta charset=gbk>", "gbk"},
           {"<? <meta charset=utf-8><meta charset=gbk>", "gbk"},
           {"<metax charset=utf-8><meta charset=gbk>", "gbk"},
           {"<meta charset=utf-16be>", "utf-8"},
           {"<?xml version='1.0' encoding=\"gbk\"?>", "gbk"},
           {"<?xml version='1.0' encoding=\"utf-8\"?><meta charset=gbk>", "gbk"},
           {"<?xml version='1.0' encoding=\"g bk\"?>", ""},
           {" <?xml version='1.0' encoding=\"gbk\"?>", ""},
           {"<", ""},
           {"", ""},
       }) {
    std::uint64_t steps = 0;
    auto const found = prescan(bytes_of(document), steps);
    EXPECT_EQ(found ? found->label : "", label) << document;
    if (found) {
      EXPECT_LE(found->end_bytes, document.size());
    }
    EXPECT_LE(steps, document.size());
  }
}

}  // namespace
}  // namespace reprise::inject
