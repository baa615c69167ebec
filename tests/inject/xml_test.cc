#include "inject/xml.h"

#include <gmock/gmock.h>

#include "tests/inject/find_place.h"

namespace reprise::inject {
namespace {

// '@' marks the place; a document without one has none.
constexpr std::string_view kXmlDocuments[] = {
    "<?xml version='1.0'?>\n<html "
    "xmlns='http://www.w3.org/1999/xhtml'><head>@<title/></head></html>",
    "<html xmlns='x'>\n<!-- <head> --> <?head ?><head id='>'>@</head></html>",
    "<html xmlns='x'>@<body/></html>",
    "<html xmlns='x'>@text<head/></html>",
    "<html xmlns='x'>@<head/></html>",
    "<h:html xmlns:h='x'><h:head>@</h:head></h:html>",
    "<svg xmlns='http://www.w3.org/2000/svg'>@<script>a()</script></svg>",
    "<?xml-stylesheet href='>'?><svg:svg xmlns:svg='x' viewBox=\"0 0 > 1 1\">@<svg:g/></svg:svg>",
    "<!DOCTYPE svg PUBLIC '-//W3C//DTD SVG 1.1//EN' \"x>\" [ <!ENTITY a \"]><svg>\"> "
    "<!-- ]> ' --> <?x ]> ' ?> ]><svg>@</svg>",
    "<!DOCTYPE html>\n<html>@</html>",
    "\xEF\xBB\xBF<svg>@</svg>",
    "<svg/>",
    "<svg />",
    "<rss><head></head></rss>",
    "text <svg></svg>",
    "<!-- <svg></svg>",
    "</svg><svg></svg>",
    "",
};

TEST(XmlScan, FindsThePlaceBehindTheRootOrHead) {
  for (auto const marked : kXmlDocuments) {
    std::string document(marked);
    auto const mark = document.find('@');
    if (mark != document.npos) document.erase(mark, 1);
    for (std::size_t const piece : {1U << 20, 1U, 5U}) {
      auto const place = find_place(Markup::kXml, "", document, piece);
      ASSERT_EQ(place.has_value(), mark != document.npos) << marked;
      if (place) {
        EXPECT_EQ(place->offset_bytes, mark) << marked;
      }
    }
  }
}

TEST(XmlScan, ReadsUtf16WithAndWithoutAMark) {
  for (bool const little : {true, false}) {
    auto const document = utf16("<?xml version='1.0'?><svg>\xC3\xA4</svg>", little);
    auto const place = find_place(Markup::kXml, "", document);
    ASSERT_TRUE(place);
    EXPECT_EQ(place->offset_bytes, 52U);
    EXPECT_EQ(place->form, little ? TextForm::kUtf16le : TextForm::kUtf16be);
  }
}

TEST(XmlScan, LooksAtEveryByteOnce) {
  for (auto const* const unit : {"<", "<!--", "<!DOCTYPE [", "<?", "<html>", "'", "<!--->", "]"}) {
    std::string document = "<!DOCTYPE a [";
    while (document.size() < 80 * 1024) document += unit;
    Search search(Markup::kXml, "");
    EXPECT_TRUE(search.look(bytes_of(document), true));
    EXPECT_LE(search.steps(), kSearchBytesMax) << unit;
  }
}

}  // namespace
}  // namespace reprise::inject
