#include "inject/document/tags.h"

#include <gmock/gmock.h>

#include "inject/document/references.h"

namespace reprise::inject {
namespace {

// "name[attribute=value ...]" of each start tag, with "{text}" if it has one, separated by spaces.
std::string tags_of(std::string_view document, bool scripting = true) {
  TagReader reader(document, scripting);
  StartTag tag;
  std::string result;
  while (reader.next(tag)) {
    EXPECT_EQ(document[tag.span.begin], '<');
    EXPECT_EQ(document[tag.span.end - 1], '>');
    if (!result.empty()) result += ' ';
    result += (tag.in_template ? "template:" : "") + std::string(tag.foreign ? "foreign:" : "");
    result += tag.name;
    std::string attributes;
    for (const TagAttribute& one : tag.attributes) {
      attributes += attributes.empty() ? "" : " ";
      attributes +=
          std::string(one.name.in(document)) + '=' + attribute_value(one.value.in(document));
      EXPECT_EQ(one.whole.begin, one.name.begin);
    }
    if (!attributes.empty()) result += '[' + attributes + ']';
    if (tag.text.size() > 0) result += '{' + std::string(tag.text.in(document)) + '}';
    result += tag.end_tag.in(document);
  }
  return result;
}

struct TagCase {
  std::string_view why;
  std::string_view document;
  std::string_view tags;
};

const TagCase kTagCases[] = {
    {"nothing", "", ""},
    {"text", "a & b < c </ >d", ""},
    {"plain", "<p><b>x</b></p>", "p b"},
    {"capitals", "<P ID=X>", "p[ID=X]"},
    {"less-than and letters", "a<b<c>", "b<c"},
    {"less-than at the end", "<", ""},
    {"not a name", "<3><_><->", ""},
    {"ends in a tag name", "<p", ""},
    {"ends in an attribute", "<p a", ""},
    {"ends in a value", "<p a='b>", ""},
    {"ends in an unquoted value", "<p a=b", ""},
    {"ends before a value", "<p a=", ""},
    {"quotes", "<p a=\"1>\" b='2>' c=3>", "p[a=1> b=2> c=3]"},
    {"no space between", "<p a=\"1\"b='2'c>", "p[a=1 b=2 c=]"},
    {"spaces around equals", "<p a = 1 b\n=\n'2'>", "p[a=1 b=2]"},
    {"no value", "<p a b= c>", "p[a= b=c]"},
    {"missing value", "<p a=>", "p[a=]"},
    {"value of equals", "<p a==b>", "p[a==b]"},
    {"value of equals alone", "<p a==>", "p[a==]"},
    {"name begins with equals", "<p =a=b>", "p[=a=b]"},
    {"quotes in a name", "<p a\"b'c=d>", "p[a\"b'c=d]"},
    {"quotes in an unquoted value", "<p a=b\"c'd`>", "p[a=b\"c'd`]"},
    {"less-than in a tag", "<p <b>", "p[<b=]"},
    {"duplicates", "<p a=1 A=2>", "p[a=1 A=2]"},
    {"slashes", "<br/><br /><p/a/b=c/>", "br br p[a= b=c/]"},
    {"references", "<p a='&amp;&lt;&#65;&#x42;&copy&ampx&amp=' b=&quot;>",
     "p[a=&<AB\xC2\xA9&ampx&amp= b=\"]"},
    {"comment", "<!-- <a> --><b>", "b"},
    {"empty comments", "<!--><a><!---><b><!----><c>", "a b c"},
    {"comment ends with a bang", "<!-- <a> --!><b>", "b"},
    {"comment of dashes", "<!-----<a>---><b>", "b"},
    {"comment in a comment", "<!-- <!--><b>", "b"},
    {"comment at the end", "<b><!-- <a>", "b"},
    {"comment of one dash", "<!-<a>--><b>", "b"},
    {"bogus comments", "<?php <a>?><!x<b>></3<c>><d>", "d"},
    {"doctype", "<!DOCTYPE html PUBLIC '><a>'><b>", "a b"},
    {"end tags with attributes", "</p a='<b>'><c>", "c"},
    {"nothing end tag", "</><c>", "c"},
    {"CDATA in HTML", "<![CDATA[<a>]]><b>", "b"},
    {"CDATA in HTML with a greater-than", "<![CDATA[>]]><b>", "b"},
    {"CDATA in SVG", "<svg><![CDATA[<a>]]><g></svg><b>", "foreign:svg foreign:g b"},
    {"CDATA never ends", "<svg><![CDATA[<a>", "foreign:svg"},
    {"title", "<title><a>&</b></title><b>", "title{<a>&</b>}</title> b"},
    {"title in capitals", "<TITLE><a></tItLe ><b>", "title{<a>}</tItLe > b"},
    {"textarea", "<textarea></text></textareas></textarea/><b>",
     "textarea{</text></textareas>}</textarea/> b"},
    {"title never ends", "<title><a></titl", "title{<a></titl}"},
    {"title's end tag never ends", "<title>x</title <a", "title{x}"},
    {"raw texts",
     "<style><a></style><xmp><a></xmp><iframe><a></iframe><noembed><a></noembed>"
     "<noframes><a></noframes><noscript><a></noscript>",
     "style{<a>}</style> xmp{<a>}</xmp> iframe{<a>}</iframe> noembed{<a>}</noembed> "
     "noframes{<a>}</noframes> noscript{<a>}</noscript>"},
    {"style with a comment", "<style><!-- </style><b> --></style>", "style{<!-- }</style> b"},
    {"plaintext", "<plaintext><a></plaintext><b>", "plaintext"},
    {"script", "<script><a></b></script><b>", "script{<a></b>}</script> b"},
    {"script in capitals", "<SCRIPT>x</ScRiPt\t><b>", "script{x}</ScRiPt\t> b"},
    {"self-closing script", "<script src=a /><b></script>", "script[src=a]{<b>}</script>"},
    {"script never ends", "<script>a</scrip", "script{a</scrip}"},
    {"script escaped", "<script><!-- <a> </script><b>", "script{<!-- <a> }</script> b"},
    {"script escaped twice", "<script><!--<script></script>--></script><b>",
     "script{<!--<script></script>-->}</script> b"},
    {"script escaped and left", "<script><!--<script>--></script><b>",
     "script{<!--<script>-->}</script> b"},
    {"script escaped by a short comment", "<script><!--><script></script><b>",
     "script{<!--><script>}</script> b"},
    {"script escaped by a shorter comment", "<script><!---><script></script><b>",
     "script{<!---><script>}</script> b"},
    {"script escaped, other names", "<script><!--<scripts></script><b>",
     "script{<!--<scripts>}</script> b"},
    {"script escaped twice, never ends", "<script><!--<script></script><b>",
     "script{<!--<script></script><b>}"},
    {"script starts without escape", "<script><script></script><b>", "script{<script>}</script> b"},
    {"template", "<template><a><template><b></template><c></template><d></template><e>",
     "template template:a template:template template:b template:c d e"},
    {"template with SVG", "<template><svg></template><title><a></title>",
     "template template:foreign:svg title{<a>}</title>"},
    {"SVG's title, style and script are no text",
     "<svg><style><a/></style><script><a/></script></svg><title><a></title>",
     "foreign:svg foreign:style foreign:a foreign:script foreign:a title{<a>}</title>"},
    {"HTML in SVG", "<svg><title><title><b></title></title><style><b></svg><i>",
     "foreign:svg foreign:title title{<b>}</title> foreign:style b i"},
    {"foreignObject", "<svg><foreignObject><style><b></style></foreignObject><path/></svg>",
     "foreign:svg foreign:foreignobject style{<b>}</style> foreign:path"},
    {"self-closing SVG", "<svg/><title><a></title>", "foreign:svg title{<a>}</title>"},
    {"SVG in SVG", "<svg><svg></svg><style><g></style></svg><style><g></style>",
     "foreign:svg foreign:svg foreign:style foreign:g style{<g>}</style>"},
    {"SVG left by HTML", "<svg><g><div><style><b></style>",
     "foreign:svg foreign:g div style{<b>}</style>"},
    {"font in SVG", "<svg><font><style></style><font color=red><style><b></style>",
     "foreign:svg foreign:font foreign:style font[color=red] style{<b>}</style>"},
    {"MathML", "<math><style></style><mi><style><b></style></mi><mglyph></math><style><b></style>",
     "foreign:math foreign:style foreign:mi style{<b>}</style> foreign:mglyph style{<b>}</style>"},
    {"MathML with a text that is not closed", "<math><mi>x</math><style><b></style>",
     "foreign:math foreign:mi style{<b>}</style>"},
    {"annotations",
     "<math><annotation-xml><style></style><svg><title><i></svg></annotation-xml>"
     "<annotation-xml encoding='Text/HTML'><style><b></style></math>",
     "foreign:math foreign:annotation-xml foreign:style foreign:svg foreign:title i "
     "foreign:annotation-xml[encoding=Text/HTML] style{<b>}</style>"},
    {"null", std::string_view("<p a=\0b>", 8),
     "p[a=\xEF\xBF\xBD"
     "b]"},
    {"line ends", "<p a='1\r\n2\r3\n4'>", "p[a=1\n2\n3\n4]"},
    {"windows-1252", "<p a='\xE9'><\xE9><b>", "p[a=\xE9] b"},
    {"byte order mark", "\xEF\xBB\xBF<p>", "p"},
};

TEST(TagReader, ReadsTheTagsOfEveryDocumentOfTheTable) {
  for (const TagCase& one : kTagCases) EXPECT_EQ(tags_of(one.document), one.tags) << one.why;
}

TEST(TagReader, ReadsNoscriptWhereScriptsDoNotRun) {
  EXPECT_EQ(tags_of("<noscript><a></noscript><b>", false), "noscript a b");
  EXPECT_EQ(tags_of("<noscript><a></noscript><b>", true), "noscript{<a>}</noscript> b");
}

TEST(TagReader, SaysWhereThePartsOfATagAre) {
  constexpr std::string_view kDocument = "ab<Script SRC = 'x' async>text</script >";
  TagReader reader(kDocument, true);
  StartTag tag;
  ASSERT_TRUE(reader.next(tag));
  EXPECT_EQ(tag.span.in(kDocument), "<Script SRC = 'x' async>");
  EXPECT_EQ(tag.name_span.in(kDocument), "Script");
  ASSERT_EQ(tag.attributes.size(), 2U);
  EXPECT_EQ(tag.attributes[0].name.in(kDocument), "SRC");
  EXPECT_EQ(tag.attributes[0].value.in(kDocument), "x");
  EXPECT_EQ(tag.attributes[0].whole.in(kDocument), "SRC = 'x'");
  EXPECT_EQ(tag.attributes[1].whole.in(kDocument), "async");
  EXPECT_EQ(tag.text.in(kDocument), "text");
  EXPECT_EQ(tag.end_tag.in(kDocument), "</script >");
  EXPECT_EQ(find_attribute(tag, kDocument, "src"), &tag.attributes[0]);
  EXPECT_EQ(find_attribute(tag, kDocument, "defer"), nullptr);
  EXPECT_FALSE(reader.next(tag));
}

// Counted, not timed.
TEST(TagReader, ReadsEveryByteABoundedNumberOfTimes) {
  constexpr std::size_t kSize = 80 * 1024;
  for (auto const* const unit : {"<div>",      "<",           "<!--",
                                 "--",         "<!",          "</",
                                 "<?",         "&#",          "&",
                                 "-",          " ",           "<svg>",
                                 "</svg>",     "]]>",         "<![CDATA[",
                                 "<a b=c ",    "='",          "<script>",
                                 "</script",   "</scrip",     "<!--<script",
                                 "<title>",    "</titl",      "<math><mi>",
                                 "<template>", "</template>", "<svg><title>",
                                 "<font "}) {
    for (auto const* const before :
         {"", "<p ", "<p a='", "<!--", "<title>", "<script>", "<script><!--", "<svg>", "<style>"}) {
      std::string document = before;
      while (document.size() < kSize) document += unit;
      TagReader reader(document, true);
      StartTag tag;
      std::size_t tags = 0;
      while (reader.next(tag)) ++tags;
      EXPECT_LE(tags, document.size() / 3);
      EXPECT_LE(reader.steps(), 3 * document.size() + 16) << before << unit;
    }
  }
}

}  // namespace
}  // namespace reprise::inject
