#include "inject/document/style_urls.h"

#include <gmock/gmock.h>

namespace reprise::inject {
namespace {

struct StyleCase {
  std::string_view why;
  std::string_view style;
  std::string_view absolute;  ///< empty: not changed
};

const StyleCase kStyleCases[] = {
    {"nothing", "a { color: red }", ""},
    {"url", "a{b:url(x.png)}", "a{b:url(\"https://a.test/s/x.png\")}"},
    {"spaces", "a{b:URL(  ../x.png\n)}", "a{b:URL(  \"https://a.test/x.png\"\n)}"},
    {"quotes", "a{b:url('x y.png'),url( \"/z\" )}",
     "a{b:url(\"https://a.test/s/x%20y.png\"),url( \"https://a.test/z\" )}"},
    {"fragment", "a{b:url(x.svg#i);c:url(#i)}", "a{b:url(\"https://a.test/s/x.svg#i\");c:url(#i)}"},
    {"absolute", "a{b:url(http://b.test/x);c:url(data:,x);d:url()}", ""},
    {"protocol-relative", "a{b:url(//b.test/x)}", "a{b:url(\"https://b.test/x\")}"},
    {"escapes", "a{b:url(x\\)\\41 y);c:u\\72l(z)}",
     "a{b:url(\"https://a.test/s/x)Ay\");c:u\\72l(\"https://a.test/s/z\")}"},
    {"escaped line end", "a{b:url('x\\\ny')}", "a{b:url(\"https://a.test/s/xy\")}"},
    {"import", "@import 'x.css' screen; @IMPORT\n/**/\"y\";",
     "@import \"https://a.test/s/x.css\" screen; @IMPORT\n/**/\"https://a.test/s/y\";"},
    {"import by url", "@import url(x.css) supports(content:'y');",
     "@import url(\"https://a.test/s/x.css\") supports(content:'y');"},
    {"import with layers", "@import 'x' layer('y') 'z';",
     "@import \"https://a.test/s/x\" layer('y') 'z';"},
    {"strings", "a{content:'x.png';b:attr('url(x)')}", ""},
    {"namespace", "@namespace s url(x);@namespace 'y';a{b:url(x)}",
     "@namespace s url(x);@namespace 'y';a{b:url(\"https://a.test/s/x\")}"},
    {"charset", "@charset \"x\";", ""},
    {"comments", "/* url(x) @import 'y' */ a{}/* url(x", ""},
    {"image-set", "a{b:image-set('x' 1x, url(y) 2x type('image/z'))}",
     "a{b:image-set(\"https://a.test/s/x\" 1x, url(\"https://a.test/s/y\") 2x type('image/z'))}"},
    {"after an image-set", "a{b:-webkit-image-set(url(/x) 1x) 'y'}",
     "a{b:-webkit-image-set(url(\"https://a.test/x\") 1x) 'y'}"},
    {"not a function", "a{b:url (x)}#url(x)", ""},
    {"other names", "a{b:my-url(x);c:urls(x)}", ""},
    {"broken url", "a{b:url(x y);c:url(x\"y);d:url(z)}",
     "a{b:url(x y);c:url(x\"y);d:url(\"https://a.test/s/z\")}"},
    {"broken string", "a{b:'x\n;c:url(y)}", "a{b:'x\n;c:url(\"https://a.test/s/y\")}"},
    {"open at the end", "a{b:url(x", "a{b:url(\"https://a.test/s/x\""},
    {"string open at the end", "@import 'x", "@import \"https://a.test/s/x\""},
    {"quote in a fragment", "a{b:url(x#\\\")}", "a{b:url(\"https://a.test/s/x#\\\"\")}"},
    {"letters outside ASCII", "\xC3\xA4{b:url(\xC3\xA4)}",
     "\xC3\xA4{b:url(\"https://a.test/s/%C3%A4\")}"},
};

TEST(WithAbsoluteUrls, ChangesRelativeUrlsAlone) {
  for (const StyleCase& one : kStyleCases) {
    auto const expected = one.absolute.empty() ? one.style : one.absolute;
    EXPECT_EQ(with_absolute_urls(one.style, "https://a.test/s/main.css"), expected) << one.why;
  }
}

TEST(WithAbsoluteUrls, ChangesNothingTheSecondTime) {
  for (const StyleCase& one : kStyleCases) {
    auto const once = with_absolute_urls(one.style, "https://a.test/s/main.css");
    EXPECT_EQ(with_absolute_urls(once, "https://b.test/"), once) << one.why;
  }
}

}  // namespace
}  // namespace reprise::inject
