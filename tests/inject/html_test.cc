#include "inject/html.h"

#include <gmock/gmock.h>

#include "tests/inject/find_place.h"
#include "tests/inject/gumbo_tree.h"

namespace reprise::inject {
namespace {

constexpr std::string_view kElement = "<script>ours()</script>";

/// '@' marks the place; a document without one has none.
struct DocumentCase {
  std::string_view why;
  std::string_view marked;
  std::string_view charset = "utf-8";  ///< in the header
  std::string_view stated = "";        ///< what the header must say from now on
};

const DocumentCase kDocuments[] = {
    {"usual", "<!doctype html><html><head>@<title>x</title><script>a()</script></head><body>"},
    {"head with attributes",
     "<!doctype html><html lang=en><head profile='a>b'>@\n<title>x</title>"},
    {"head in capitals", "<!DOCTYPE HTML><HTML><HEAD>@<TITLE>x</TITLE>"},
    {"header is not head", "<!doctype html>@<header>x</header>"},
    {"headroom is not head", "<!doctype html><html>@<headroom>x"},
    {"space inside the tag", "<!doctype html><html ><head\n>@<script>a()</script>"},
    {"slash inside the tag", "<!doctype html><html/><head/>@<script>a()</script>"},
    {"no head", "<!doctype html><html>\n@<body class=x>y"},
    {"no html", "<!doctype html>\n@<title>x</title><p>y"},
    {"no doctype", "@<title>x</title><script>a()</script>"},
    {"text only", "@hello"},
    {"text after space", " \n\t@hello"},
    {"space only", "  \n@"},
    {"doctype only", "<!doctype html>@"},
    {"html only", "<!doctype html><html lang=x>@"},
    {"body first", "@<body onload=a()>x"},
    {"frameset", "<!doctype html>@<frameset><frame src=a></frameset>"},
    {"frameset after html", "<html><head>@</head><frameset><frame src=a></frameset></html>"},
    {"script first", "@<script>a()</script><!doctype html>"},
    {"comment first", "<!-- <head><script> --><!doctype html><!-- > --><html><!-- - --><head>@x"},
    {"empty comments", "<!--><!---><!----><head>@x"},
    {"comment ends with a bang", "<!-- x --!><head>@x"},
    {"comment with a bang inside", "<!-- --!-- --><head>@x"},
    {"comment of dashes", "<!------- a ------><head>@x"},
    {"comment in a comment", "<!-- <!--><head>@<script>"},
    {"bogus comments", "<?xml version='1.0'?></3 ><!x></ a><![CDATA[x]]><head>@x"},
    {"conditional comments",
     "<!--[if IE]><html class=ie><![endif]--><!--[if !IE]><!-->"
     "<html><!--<![endif]--><head>@x"},
    {"nothing end tag", "</><head>@x"},
    {"end tags that mean nothing", "</p></div></template></script><head>@x"},
    {"end tag of head", "<html>@</head><script>"},
    {"end tag of html", "<!doctype html>@</html>"},
    {"end tag of body", "@</body><p>"},
    {"end tag br", "@</br>"},
    {"less-than as text", "<html>@<3"},
    {"less-than at the end", "<html>@<"},
    {"end tag open at the end", "<html>@</"},
    {"reference is text", "<html>@&amp;<head>"},
    {"reference is space", "<html>&#32;&#x0a;&#9 &Tab;&NewLine;<head>@x"},
    {"reference is no-break space", "<html>@&nbsp;<head>"},
    {"reference is too large", "<html>@&#99999999999999999932;<head>"},
    {"reference without number", "<html>@&#x;<head>"},
    {"reference with doubled x", "<html>@&#xx20;<head>"},
    {"reference name cut", "<html>@&Ta;<head>"},
    {"reference at the end", "<html>&#32@"},
    {"quotes hold a tag open", "<html a='>' b=\"><head>\" c=d/><head>@x"},
    {"unquoted value with quotes", "<html a=b'c\"d><head>@x"},
    {"missing value", "<html a=><head>@x"},
    {"equals as a name", "<html =a='><head>x'><head>@"},
    {"doctype twice", "<!doctype html><!doctype x '><head>@"},
    {"doctype with a quote", "<!DOCTYPE html PUBLIC \"-//W3C\" 'x'><head>@x"},
    {"short doctype", "<!doctypehtml><head>@x"},
    {"misspelt doctype", "<!doctyp html><head>@x"},
    {"noscript first", "<html>@<noscript><meta charset=utf-8></noscript>"},
    {"template first", "<html>@<template><head></template>"},
    {"svg first", "<!doctype html>@<svg><script>a()</script></svg>"},
    {"img first", "@<img src=x onerror=a()>"},
    {"null first", std::string_view("<html>@\0<head>", 14)},
    {"carriage returns", "<!doctype html>\r\n<html>\r\n<head>@\r\n"},
    {"second html", "<html a=b><!-- --><html c=d><head>@x"},
    {"html inside a value", "<html data-x='<head>'><head>@x"},
    {"ends in a comment", "<!doctype html><!-- <script>"},
    {"ends in a doctype", "<!doctype html"},
    {"ends in a bogus comment", "<?x"},
    {"ends in a tag", "<!doctype html>@<html lang"},
    {"ends in the head tag", "<!doctype html><html>@<head a='"},
    {"byte order mark", "\xEF\xBB\xBF<!doctype html><head>@x"},
    {"two byte order marks", "\xEF\xBB\xBF@\xEF\xBB\xBF<!doctype html><head>x"},
    {"mark against the header", "\xEF\xBB\xBF<head>@<meta charset=utf-8>", "gb18030"},
    // Where the document itself says which encoding it is in.
    {"charset first", "<head><meta charset=gbk>@<script>", ""},
    {"charset in no head", "<!doctype html><meta charset=gbk>@<script>", ""},
    {"charset after space", "<head>\n  <meta charset='gbk'>@\n<script>", ""},
    {"charset by http-equiv",
     "<head><meta http-equiv=Content-Type content='text/html; charset=gbk'>@<title>", ""},
    {"charset behind harmless things",
     "<head><!-- c --><base href=/><title>a</b></title ><meta name=a></meta>"
     "<link rel=icon href=x><meta charset=gbk>@<p>",
     ""},
    {"charset behind a script", "<head>@<script></script><meta charset=gbk>", "", "gbk"},
    {"charset behind a style sheet", "<head>@<link rel=stylesheet><meta charset=gbk>", "", "gbk"},
    {"charset behind a link handler", "<head>@<link rel=preload onload=a()><meta charset=' GBK '>",
     "", "GBK"},
    {"charset behind a policy",
     "<head>@<meta http-equiv=Content-Security-Policy content=x><meta charset=gbk>", "", "gbk"},
    {"charset behind a hidden policy",
     "<head>@<meta http-equiv=Content&#45;Security-Policy content=x><meta charset=gbk>", "", "gbk"},
    {"charset behind a style", "<head>@<style></style><meta charset=gbk>", "", "gbk"},
    {"charset in the body", "<head>@</head><body><meta charset=gbk>", "", "gbk"},
    {"charset in noscript", "<head>@<noscript><meta charset=gbk></noscript>", "", "gbk"},
    {"charset inside a title", "<head><title><meta charset=gbk></title>@x", ""},
    {"charset in a comment", "<head>@<!-- <meta charset=gbk> -->", ""},
    {"charset unknown", "<head>@<meta charset=nonsense><script>", ""},
    {"charset of the header wins", "<head>@<meta charset=gbk>", "utf-8"},
    {"charset of the header unknown", "<head><meta charset=gbk>@", "nonsense"},
    {"charset utf-16 means utf-8", "<head>@<script></script><meta charset=utf-16>", "", "utf-8"},
    {"charset user-defined", "<head>@<script></script><meta charset=x-user-defined>", "",
     "windows-1252"},
    {"charset of an XML declaration", "<?xml version='1.0' encoding='gbk'?><head>@x", ""},
    {"charset is replacement", "<head><meta charset=iso-2022-kr>x", ""},
    {"header is replacement", "<head>x", "hz-gb-2312"},
};

std::string without_mark(std::string_view marked) {
  std::string result(marked);
  if (auto const mark = result.find('@'); mark != result.npos) result.erase(mark, 1);
  return result;
}

TEST(HtmlScan, FindsThePlaceInEveryDocumentOfTheTable) {
  for (const DocumentCase& one : kDocuments) {
    auto const document = without_mark(one.marked);
    auto const mark = one.marked.find('@');
    for (std::size_t const piece : {1U << 20, 1U, 3U, 7U}) {
      auto const place = find_place(Markup::kHtml, one.charset, document, piece);
      ASSERT_EQ(place.has_value(), mark != one.marked.npos) << one.why << " by " << piece;
      if (!place) continue;
      EXPECT_EQ(place->offset_bytes, mark) << one.why << " by " << piece;
      EXPECT_EQ(place->charset_to_state, one.stated) << one.why << " by " << piece;
    }
  }
}

TEST(HtmlScan, LeavesTheTreeAsItWasInEveryDocumentOfTheTable) {
  for (const DocumentCase& one : kDocuments) {
    auto const document = without_mark(one.marked);
    auto const place = find_place(Markup::kHtml, one.charset, document);
    if (!place) continue;
    auto const before = tree_of(document, "ours()");
    auto const after = tree_of(with_script(document, *place, kElement), "ours()");
    EXPECT_EQ(after.dump, before.dump) << one.why;
    EXPECT_EQ(after.found, 1) << one.why;
    EXPECT_EQ(after.parent, "head") << one.why;
    ASSERT_FALSE(after.scripts.empty()) << one.why;
    EXPECT_EQ(after.scripts.front(), "ours()") << one.why;
  }
}

TEST(HtmlScan, FindsTheSamePlaceInUtf16OfEitherOrder) {
  for (const DocumentCase& one : kDocuments) {
    if (one.charset != "utf-8" || one.marked.starts_with('\xEF')) continue;
    auto const mark = one.marked.find('@');
    for (bool const little : {true, false}) {
      auto const document = utf16(without_mark(one.marked), little);
      auto const marked = (little ? "\xFF\xFE" : "\xFE\xFF") + document;
      for (std::size_t const piece : {1U << 20, 1U}) {
        auto const by_header =
            find_place(Markup::kHtml, little ? "utf-16" : "utf-16be", document, piece);
        auto const by_mark = find_place(Markup::kHtml, "", marked, piece);
        ASSERT_EQ(by_header.has_value(), mark != one.marked.npos) << one.why;
        ASSERT_EQ(by_mark.has_value(), mark != one.marked.npos) << one.why;
        if (!by_mark) continue;
        EXPECT_EQ(by_header->offset_bytes, 2 * mark) << one.why;
        EXPECT_EQ(by_mark->offset_bytes, 2 * mark + 2) << one.why;
        EXPECT_EQ(in_form("a<", *by_mark), utf16("a<", little));
      }
    }
  }
}

TEST(HtmlScan, TellsAsSoonAsItCan) {
  Search known(Markup::kHtml, "utf-8");
  EXPECT_FALSE(known.look(bytes_of("<!doctype html><html><hea"), false));
  EXPECT_TRUE(known.look(bytes_of("<!doctype html><html><head>"), false));
  Search declared(Markup::kHtml, "");
  EXPECT_FALSE(declared.look(bytes_of("<head><meta charset=utf-8"), false));
  EXPECT_TRUE(declared.look(bytes_of("<head><meta charset=utf-8>"), false));
  // Without any word on the encoding it waits for the prescan's bytes, unless nothing more comes.
  Search silent(Markup::kHtml, "");
  std::string page = "<!doctype html><head><title>x</title><body><p>";
  EXPECT_FALSE(silent.look(bytes_of(page), false));
  page.resize(kPrescanBytes, 'x');
  EXPECT_TRUE(silent.look(bytes_of(page), false));
  Search hurried(Markup::kHtml, "");
  EXPECT_FALSE(hurried.look(bytes_of("<!doctype html><html>"), false));
  EXPECT_FALSE(hurried.hurry(bytes_of("<!doctype html><html>")));
  EXPECT_FALSE(hurried.look(bytes_of("<!doctype html><html><title>"), false));
  EXPECT_TRUE(hurried.hurry(bytes_of("<!doctype html><html><title>")));
  EXPECT_EQ(hurried.place()->offset_bytes, 21U);
}

TEST(HtmlScan, DoesNotHurryBeforeItKnowsHowCharactersAreEncoded) {
  std::string const documents[] = {
      "\xEF\xBB\xBF<!doctype html><html><p>x", "\xFF\xFE" + utf16("<html><p>x", true),
      utf16("<?xml version='1.0' encoding='utf-16'?><html><p>x", true)};
  for (const std::string& document : documents) {
    for (std::size_t size = 1; size < document.size(); ++size) {
      auto const part = bytes_of(std::string_view(document).substr(0, size));
      Search search(Markup::kHtml, "");
      if (!search.look(part, false) && !search.hurry(part)) continue;
      auto const expected = find_place(Markup::kHtml, "", document);
      ASSERT_TRUE(search.place() && expected) << size;
      EXPECT_EQ(search.place()->offset_bytes, expected->offset_bytes) << size;
      EXPECT_EQ(search.place()->form, expected->form) << size;
    }
  }
}

TEST(HtmlScan, AnEmptyDocumentHasNoPlace) {
  for (Markup const markup : {Markup::kHtml, Markup::kXml, Markup::kScript}) {
    Search search(markup, "utf-8");
    EXPECT_FALSE(search.look({}, false));
    EXPECT_TRUE(search.look({}, true));
    EXPECT_FALSE(search.place());
  }
}

TEST(HtmlScan, ADeclarationBehindThePrescanIsLeftToTheBrowser) {
  auto const late = "<head>" + std::string(1100, ' ') + "<meta charset=gbk>";
  auto const place = find_place(Markup::kHtml, "", late);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->offset_bytes, 6U);
  EXPECT_EQ(place->charset_to_state, "");
}

TEST(HtmlScan, GivesUpBehindALongCommentWithoutADoctype) {
  std::string const comment = "<!--" + std::string(kSearchBytesMax, 'x') + "-->";
  EXPECT_FALSE(find_place(Markup::kHtml, "utf-8", comment + "<head>"));
  EXPECT_FALSE(find_place(Markup::kHtml, "utf-8", std::string(kSearchBytesMax, ' ') + "<head>"));
  for (std::size_t const before : {1, 2, 9, 12}) {  // the doctype crosses the limit
    std::string const late = std::string(kSearchBytesMax - before, ' ') + "<!doctype html><head>";
    EXPECT_FALSE(find_place(Markup::kHtml, "utf-8", late)) << before;
  }
  // With a doctype the script goes before the comment: it runs, and the comment moves into head.
  auto const place = find_place(Markup::kHtml, "utf-8", "<!doctype html>" + comment + "<head>");
  ASSERT_TRUE(place);
  EXPECT_EQ(place->offset_bytes, 15U);
  auto const tag = "<body data-x='" + std::string(kSearchBytesMax, 'x') + "'>";
  ASSERT_TRUE(find_place(Markup::kHtml, "utf-8", tag));
  EXPECT_EQ(find_place(Markup::kHtml, "utf-8", tag)->offset_bytes, 0U);
}

// Counted, not timed: a document that makes tree builders slow costs as much as any other.
TEST(HtmlScan, LooksAtEveryByteABoundedNumberOfTimes) {
  auto const repeated = [](std::string_view what, std::size_t size) {
    std::string result;
    while (result.size() < size) result += what;
    return result;
  };
  constexpr std::size_t kSize = 80 * 1024;
  for (auto const* const unit : {"<div>",   "<",      "<!--",          "<!",     "</",
                                 "<?",      "&#",     "&#3",           "&",      "-",
                                 " ",       "<html>", "<html a='",     "</p>",   "<!doctype ",
                                 "<!-->",   "<!---",  "<!--!>",        "<meta ", "<meta charset",
                                 "<title>", "\"",     "<title></titl", "&Ta",    "&#32;",
                                 "<a b=c ", "\xFF",   "\x1B",          "\x1B$B"}) {
    for (auto const* const before :
         {"", "<head>", "<html ", "<!--", "<title>", "<!doctype html>"}) {
      auto const document = before + repeated(unit, kSize);
      for (auto const* const charset : {"", "utf-8", "iso-2022-jp", "utf-16le"}) {
        Search search(Markup::kHtml, charset);
        EXPECT_TRUE(search.look(bytes_of(document), true));
        EXPECT_LE(search.steps(), 2 * kSearchBytesMax + kPrescanBytes) << before << unit;
        Search slowly(Markup::kHtml, charset);
        std::size_t known = 0;
        while (!slowly.look(bytes_of(document).first(known), known == document.size())) {
          known = std::min(known + 64, document.size());
        }
        EXPECT_LE(slowly.steps(), 2 * kSearchBytesMax + 17 * kPrescanBytes) << before << unit;
      }
    }
  }
}

}  // namespace

std::string utf16(std::string_view text, bool little) {
  std::string result;
  auto const put = [&result, little](unsigned unit) {
    auto const high = static_cast<char>(unit >> 8), low = static_cast<char>(unit & 0xFF);
    result += little ? low : high;
    result += little ? high : low;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto const lead = static_cast<unsigned char>(text[i]);
    auto const trail = [&](std::size_t n) { return static_cast<unsigned>(text[i + n]) & 0x3FU; };
    if (lead < 0x80) {
      put(lead);
    } else if (lead < 0xE0) {
      put((lead & 0x1FU) << 6 | trail(1));
      i += 1;
    } else {
      put((lead & 0x0FU) << 12 | trail(1) << 6 | trail(2));
      i += 2;
    }
  }
  return result;
}

}  // namespace reprise::inject
