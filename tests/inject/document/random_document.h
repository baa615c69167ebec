#pragma once

#include <random>
#include <string>
#include <string_view>

#include "base/http/headers.h"

namespace reprise::inject {

/// Writes documents at random: tags in every notation, text that only looks like tags, foreign
/// content (properly nested, as TagReader assumes it).
class RandomDocument {
 public:
  explicit RandomDocument(std::uint64_t seed) : random_(seed) {}

  std::string page() {
    std::string text = pick({"", "", "<!doctype html>", "\n<!DOCTYPE html PUBLIC '>\n"});
    text += pick({"", "<html>", "<html lang=x><head>", "<head >", "<!-- <head> --><html><head>"});
    text += pieces(2 + draw(12));
    text += pick({"", "</head><body>", "<body class='a>b'>", "</body>"});
    text += pieces(draw(20));
    return text + pick({"", "</html>", "<", "<p", "<p a='", "<!-- <img src=/u0>", "<script>x"});
  }

 private:
  std::size_t draw(std::size_t limit) { return random_() % limit; }

  template <std::size_t n>
  std::string pick(const char* const (&choices)[n]) {
    return choices[draw(n)];
  }

  std::string pieces(std::size_t count, int depth = 0) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += piece(depth);
    return text;
  }

  std::string piece(int depth) {
    switch (draw(depth < 3 ? 12 : 9)) {
      case 0:
        return pick(
            {"text", " & < > \" ", "a<b>", "&amp;", "x</ >", "<3", "\n", "&copy", "]]>", "-->"});
      case 1:
        return comment();
      case 2:
        return pick({"</p>", "</div >", "</b>", "</i a='>'>", "</span/>", "</>", "</ a>", "</a"}) +
               ">";
      case 3:
        return raw_text();
      case 4:
        return script();
      case 5:
        return tag(pick({"img", "IMG", "image", "iframe"})) +
               pick({"", "</iframe>", "x</IFRAME >"});
      case 6:
        return tag(pick({"link", "meta", "br", "hr", "input"}));
      case 7:
      case 8:
        return tag(pick({"div", "p", "b", "i", "a", "span", "ul", "li", "H1", "section", "x-y"}));
      case 9:
        return foreign();
      case 10: {
        auto const name = pick({"div", "table", "b", "blockquote", "em"});
        return tag(name) + pieces(draw(4), depth + 1) + "</" + name + ">";
      }
      default:
        return "<template>" + pieces(draw(3), 3) + "</template>";
    }
  }

  // What leaves no element open: where HTML in SVG is not closed, an end tag of SVG is ignored.
  std::string closed() {
    switch (draw(5)) {
      case 0:
        return comment();
      case 1:
        return raw_text();
      case 2:
        return script();
      case 3:
        return tag(pick({"img", "br"}));
      default:
        return "text";
    }
  }

  std::string comment() {
    auto const inside = pick({"", "-", "<img src=/u0>", "--!", "<!-", "- ->", "--x", "[if IE]>"});
    return pick({"<!--", "<!-- ", "<!---"}) + inside +
           pick({"-->", "--!>", " -->", "--->", "<!-->"}) +
           pick({"", "<!>", "<!x<b>", "<?php <b ?>", "<![CDATA[<b>", "</3<b>"});
  }

  std::string raw_text() {
    auto const name = pick({"style", "title", "textarea", "xmp", "noembed", "noframes", "iframe"});
    auto const inside = pick({"", "x", "<img src=/u0>", "</p>", "<!-- ", "&amp;", "</styles>",
                              "</titl", "<script>", "</ title>"});
    return "<" + name + pick({"", " ", " a=b", "/"}) + ">" + inside + "</" + name +
           pick({"", " ", "/", " a='>'"}) + ">";
  }

  std::string script() {
    auto const inside = pick({"", "x()", "'<img src=/u0>'", "<!-- x", "<!--<script>x</script>-->",
                              "</scrip", "</p>", "<!--<script>-->", "<!--><script>",
                              "<!-- <scripts> ", "a<!b", "--><!--x-->"});
    return tag(pick({"script", "SCRIPT"})) + inside +
           pick({"</script>", "</Script >", "</script/>"});
  }

  std::string foreign() {
    auto const inside = [&] {
      return pick({"<g>", "<path d='M>'/>", "<image/>", "<style><b/></style>", "<![CDATA[<p>]]>",
                   "<title>x</title>", "<desc><p>y</p></desc>", "x", "<script></script>", "<rect/>",
                   "<a href=b></a>", "<!-- <p> -->"});
    };
    switch (draw(4)) {
      case 0:
        return "<svg viewBox='0'>" + inside() + inside() + "</svg>";
      case 1:
        return "<svg><foreignObject><div>" + closed() + closed() + "</div></foreignObject></svg>";
      case 2:
        return "<svg/>" + piece(3);
      default:
        return pick({"<math><mi>x</mi><mn>1</mn></math>",
                     "<math><ms><b>x</b></ms><style></style>"
                     "</math>",
                     "<math/>", "<math><annotation-xml><g/></annotation-xml></math>"});
    }
  }

  std::string value() {
    return pick({"/u0", "/u1", "/u2", "/u3", "/u4", "/u5", "/u&#49;", "\n/u2 ", "/u3#x", "a&amp;b",
                 "&lt", "a>b", "x=y", "", "a\r\nb", "&copy=1", "\xC3\xA9"});
  }

  // A name that the tag does not have yet: gumbo joins the names of duplicates to others.
  std::string attribute(std::string& names) {
    auto const name =
        pick({"src", "src", "SRC", "href", "async", "defer", "fetchpriority", "loading", "class",
              "data-x", "a\"b", "/=c", "rel", "integrity", "crossorigin"});
    auto const known = ' ' + lower_case(name) + ' ';
    if (names.contains(known)) return {};
    names += known;
    auto const given = name == "fetchpriority" ? pick({"high", "LOW", "auto"})
                       : name == "loading"     ? pick({"lazy", "eager", "Lazy"})
                       : name == "rel"         ? pick({"stylesheet", "preload", "icon x"})
                                               : value();
    bool const plain = !given.empty() && given.find_first_of(" \n\r\t>'\"=/") == given.npos;
    switch (draw(5)) {
      case 0:
        return name;
      case 1:
        return name + pick({"=", " = ", "\n="}) + "'" + given + "'";
      case 2:
        return plain ? name + "=" + given + ' ' : name + "=\"" + given + '"';
      default:
        return name + "=\"" + given + '"';
    }
  }

  std::string tag(const std::string& name) {
    std::string text = "<" + name, names;
    for (auto count = draw(5); count > 0; --count) {
      text += pick({" ", " ", "\n", "/", "  "}) + attribute(names);
    }
    return text + pick({"", "", " ", "/", " /"}) + ">";
  }

  std::mt19937_64 random_;
};

}  // namespace reprise::inject
