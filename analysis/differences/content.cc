#include "analysis/differences/content.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>

#include "analysis/differences/permissions.h"
#include "analysis/differences/token_diff.h"
#include "analysis/differences/tokens.h"
#include "base/text/counted.h"

namespace reprise {
namespace {

constexpr std::size_t kToldMax = 3;      // changes of a script that are named
constexpr std::size_t kTextMax = 100;    // bytes of each
constexpr std::size_t kContextMax = 12;  // tokens around a change within a statement
constexpr std::size_t kNonceLeast = 8;
constexpr std::size_t kNonceMost = 256;  // longer ones would make documents without limit

std::vector<std::uint64_t> hashes_of(const std::vector<Token>& tokens) {
  std::vector<std::uint64_t> hashes;
  hashes.reserve(tokens.size());
  for (const Token& token : tokens) hashes.push_back(token.hash);
  return hashes;
}

/// A text with its tokens.
struct Read {
  Read(std::string_view of, std::vector<Token> found) : text(of), tokens(std::move(found)) {
    for (std::size_t at = 0; at < text.size(); ++at) {
      if (text[at] == '\n') line_ends.push_back(static_cast<std::uint32_t>(at));
    }
  }

  std::string_view text;
  std::vector<Token> tokens;
  std::vector<std::uint32_t> line_ends;

  /// From the start of the first token to the end of the last one.
  std::string_view piece(std::size_t begin, std::size_t end) const {
    if (begin == end) return {};
    return text.substr(tokens[begin].begin, tokens[end - 1].end - tokens[begin].begin);
  }
  /// Where tokens [begin, end) are, with the white space before them.
  std::pair<std::size_t, std::size_t> place(std::size_t begin, std::size_t end) const {
    auto const at = begin == 0 ? 0 : std::size_t(tokens[begin - 1].end);
    return {at, begin < end ? std::size_t(tokens[end - 1].end) : at};
  }
  /// The number of a token's line, from 1.
  std::size_t line(std::size_t token) const {
    auto const at = token < tokens.size() ? tokens[token].begin : text.size();
    return 1 +
           static_cast<std::size_t>(std::ranges::lower_bound(line_ends, at) - line_ends.begin());
  }
};

std::string quoted(std::string_view text) {
  return "`" + one_line(text, kTextMax) + "`";
}

std::string text_of_piece(std::string_view piece) {
  return piece.empty() ? "nothing" : quoted(piece);
}

bool ends_statement(const Read& read, std::size_t token) {
  auto const text = read.tokens[token].in(read.text);
  return text == ";" || text == "{" || text == "}" || read.tokens[token].kind != Token::Kind::kCode;
}

/// A change within a statement, widened by what is common around it.
Hunk widened(const Read& a, const Read& b, Hunk hunk) {
  for (std::size_t i = 0; i < kContextMax && hunk.a_begin > 0 && hunk.b_begin > 0; ++i) {
    if (a.tokens[hunk.a_begin - 1].hash != b.tokens[hunk.b_begin - 1].hash) break;
    if (ends_statement(a, hunk.a_begin - 1)) break;
    --hunk.a_begin;
    --hunk.b_begin;
  }
  for (std::size_t i = 0; i < kContextMax; ++i) {
    if (hunk.a_end == a.tokens.size() || hunk.b_end == b.tokens.size()) break;
    if (a.tokens[hunk.a_end].hash != b.tokens[hunk.b_end].hash) break;
    if (a.tokens[hunk.a_end].kind != Token::Kind::kCode) break;
    bool const last = ends_statement(a, hunk.a_end);
    ++hunk.a_end;
    ++hunk.b_end;
    if (last) break;
  }
  return hunk;
}

/// Whether the tokens begin after a statement and end with one.
bool are_statements(const Read& read, std::size_t begin, std::size_t end) {
  return begin < end && (begin == 0 || ends_statement(read, begin - 1)) &&
         ends_statement(read, end - 1);
}

std::string told(const Read& a, const Read& b, const Hunk& hunk) {
  if (hunk.a_begin == hunk.a_end && are_statements(b, hunk.b_begin, hunk.b_end)) {
    return "line " + std::to_string(b.line(hunk.b_begin)) + ": added " +
           quoted(b.piece(hunk.b_begin, hunk.b_end));
  }
  if (hunk.b_begin == hunk.b_end && are_statements(a, hunk.a_begin, hunk.a_end)) {
    return "line " + std::to_string(a.line(hunk.a_begin)) + " of A: removed " +
           quoted(a.piece(hunk.a_begin, hunk.a_end));
  }
  auto const wide = widened(a, b, hunk);
  return "line " + std::to_string(b.line(hunk.b_begin)) + ": " +
         text_of_piece(b.piece(wide.b_begin, wide.b_end)) + " instead of " +
         text_of_piece(a.piece(wide.a_begin, wide.a_end));
}

void append_text(std::string& to, std::string_view text) {
  if (text.empty() || to.size() >= kPieceTextMax) return;
  to.append(text.substr(0, kPieceTextMax - to.size())) += '\n';
}

/// The changes of code, the first kToldMax of them in words.
ContentPiece code_piece(const Read& a, const Read& b, const std::vector<Hunk>& hunks) {
  ContentPiece piece;
  for (std::size_t i = 0; i < hunks.size(); ++i) {
    const Hunk& hunk = hunks[i];
    append_text(piece.added, b.piece(hunk.b_begin, hunk.b_end));
    append_text(piece.removed, a.piece(hunk.a_begin, hunk.a_end));
    if (i < kToldMax) piece.what += (i == 0 ? "" : "; ") + told(a, b, hunk);
  }
  if (hunks.size() > kToldMax) {
    piece.what += "; and " + counted(hunks.size() - kToldMax, "more change");
  }
  if (hunks.empty()) piece.what = "white space";
  return piece;
}

bool is_fetching(std::string_view element) {
  constexpr std::array kElements{"script", "link",  "img",   "iframe", "source", "video",
                                 "audio",  "style", "embed", "object", "base",   "meta",
                                 "input",  "image", "use",   "frame",  "track"};
  return std::ranges::find(kElements, element) != kElements.end();
}

bool is_void(std::string_view element) {
  constexpr std::array kElements{"area",  "base", "br",   "col",   "embed",  "hr",    "img",
                                 "input", "link", "meta", "param", "source", "track", "wbr"};
  return std::ranges::find(kElements, element) != kElements.end();
}

class Documents {
 public:
  Documents(Read a, Read b) : a_(std::move(a)), b_(std::move(b)) {}

  ContentComparison compare() && {
    for (const Hunk& hunk : balanced(token_diff(hashes_of(a_.tokens), hashes_of(b_.tokens)))) {
      add(hunk);
    }
    if (!other_.edits.empty()) {
      if (other_.edits.size() > 1) {
        other_.what +=
            "; and " + counted(other_.edits.size() - 1, "more change") + " of text and markup";
      }
      made_.pieces.push_back(std::move(other_));
    }
    return std::move(made_);
  }

 private:
  /// How many more elements stay open in B than in A, by name.
  std::map<std::string, long> opened(const Hunk& hunk) const {
    std::map<std::string, long> open;
    auto const count = [&open](const Read& read, std::size_t begin, std::size_t end, long sign) {
      for (auto i = begin; i < end; ++i) {
        const Token& token = read.tokens[i];
        if (token.kind == Token::Kind::kStartTag && !is_void(token.name)) open[token.name] += sign;
        if (token.kind == Token::Kind::kEndTag) open[token.name] -= sign;
      }
    };
    count(a_, hunk.a_begin, hunk.a_end, -1);
    count(b_, hunk.b_begin, hunk.b_end, 1);
    std::erase_if(open, [](auto const& each) { return each.second == 0; });
    return open;
  }

  /// Joined with those that follow until start and end tags fit. What is between two hunks is the
  /// same on both sides.
  std::vector<Hunk> balanced(const std::vector<Hunk>& hunks) const {
    std::vector<std::map<std::string, long>> opened_by;
    for (const Hunk& hunk : hunks) opened_by.push_back(opened(hunk));
    std::vector<Hunk> joined;
    for (std::size_t i = 0; i < hunks.size();) {
      auto open = opened_by[i];
      auto next = i + 1;
      for (; !open.empty() && next < hunks.size(); ++next) {
        for (auto const& [name, count] : opened_by[next]) open[name] += count;
        std::erase_if(open, [](auto const& each) { return each.second == 0; });
      }
      if (!open.empty()) next = i + 1;  // end tags may be left out: as it is
      auto whole = hunks[i];
      whole.a_end = hunks[next - 1].a_end;
      whole.b_end = hunks[next - 1].b_end;
      joined.push_back(whole);
      i = next;
    }
    return joined;
  }

  bool fetches(const Read& read, std::size_t begin, std::size_t end) const {
    return std::ranges::any_of(
        read.tokens.begin() + long(begin), read.tokens.begin() + long(end), [](const Token& each) {
          return each.kind == Token::Kind::kInline ||
                 (each.kind == Token::Kind::kStartTag && is_fetching(each.name));
        });
  }

  void add(const Hunk& hunk) {
    auto const [begin, end] = a_.place(hunk.a_begin, hunk.a_end);
    auto const [from, to] = b_.place(hunk.b_begin, hunk.b_end);
    auto const number = made_.edits.size();
    made_.edits.push_back(
        {.begin = begin, .end = end, .text = std::string(b_.text.substr(from, to - from))});
    bool const own = fetches(a_, hunk.a_begin, hunk.a_end) || fetches(b_, hunk.b_begin, hunk.b_end);
    ContentPiece fresh;
    auto& piece = own ? fresh : other_;
    if (piece.what.empty()) piece.what = what_of(hunk);
    append_text(piece.added, b_.text.substr(from, to - from));
    append_text(piece.removed, a_.text.substr(begin, end - begin));
    piece.edits.push_back(number);
    piece.of_one_element = own && is_one(hunk, Token::Kind::kStartTag);
    piece.fetches = own;
    add_inline_code(piece, a_, hunk.a_begin, hunk.a_end);
    add_inline_code(piece, b_, hunk.b_begin, hunk.b_end);
    if (own) made_.pieces.push_back(std::move(piece));
  }

  static void add_inline_code(ContentPiece& to, const Read& read, std::size_t begin,
                              std::size_t end) {
    for (auto i = begin; i < end; ++i) {
      if (read.tokens[i].kind != Token::Kind::kInline) continue;
      bool const is_style = i > 0 && read.tokens[i - 1].name == "style";
      (is_style ? to.has_style : to.has_script) = true;
      std::ranges::move(digests_of(read.tokens[i].in(read.text)), std::back_inserter(to.digests));
    }
  }

  bool is_one(const Hunk& hunk, Token::Kind kind) const {
    return hunk.a_end == hunk.a_begin + 1 && hunk.b_end == hunk.b_begin + 1 &&
           a_.tokens[hunk.a_begin].kind == kind && b_.tokens[hunk.b_begin].kind == kind &&
           a_.tokens[hunk.a_begin].name == b_.tokens[hunk.b_begin].name;
  }

  std::string what_of(const Hunk& hunk) const {
    if (!is_one(hunk, Token::Kind::kInline)) return told(a_, b_, hunk);
    auto const old_code = a_.piece(hunk.a_begin, hunk.a_end);
    auto const new_code = b_.piece(hunk.b_begin, hunk.b_end);
    auto const within = compare_code(old_code, new_code).pieces.front().what;
    return "script or style of line " + std::to_string(b_.line(hunk.b_begin)) + ", " + within;
  }

  Read a_;
  Read b_;
  ContentComparison made_;
  ContentPiece other_;
};

ContentComparison as_a_whole(std::string_view a, std::string_view b) {
  ContentPiece piece{.what = "all of it", .added = {}, .removed = {}, .edits = {}};
  append_text(piece.added, b);
  append_text(piece.removed, a);
  return {.pieces = {std::move(piece)}, .edits = {}};
}

}  // namespace

ContentComparison compare_code(std::string_view a, std::string_view b) {
  Read const old_code(a, code_tokens(a));
  Read const new_code(b, code_tokens(b));
  if (old_code.tokens.empty() || new_code.tokens.empty()) return as_a_whole(a, b);
  auto const hunks = token_diff(hashes_of(old_code.tokens), hashes_of(new_code.tokens));
  return {.pieces = {code_piece(old_code, new_code, hunks)}, .edits = {}};
}

ContentComparison compare_documents(std::string_view a, std::string_view b) {
  auto const fitting = with_nonce(b, nonce_of(b), nonce_of(a));
  Read old_document(a, document_tokens(a));
  Read new_document(fitting, document_tokens(fitting));
  if (old_document.tokens.empty() || new_document.tokens.empty()) return as_a_whole(a, b);
  auto made = Documents(std::move(old_document), std::move(new_document)).compare();
  if (made.pieces.empty()) {
    made.pieces.push_back(
        {.what = "white space or nonces", .added = {}, .removed = {}, .edits = {}});
  }
  return made;
}

std::string with_edits(std::string_view a, const std::vector<DocumentEdit>& edits,
                       const std::vector<bool>& taken) {
  std::string made;
  std::size_t at = 0;
  for (std::size_t i = 0; i < edits.size(); ++i) {
    if (!taken[i]) continue;
    made.append(a.substr(at, edits[i].begin - at)).append(edits[i].text);
    at = edits[i].end;
  }
  return made.append(a.substr(at));
}

std::string with_nonce(std::string_view text, std::string_view old_value, std::string_view value) {
  auto const is_nonce = [](std::string_view of) {
    return of.size() >= kNonceLeast && of.size() <= kNonceMost;
  };
  if (!is_nonce(old_value) || !is_nonce(value)) return std::string(text);
  std::string made;
  std::size_t at = 0;
  for (auto found = text.find(old_value); found != text.npos; found = text.find(old_value, at)) {
    made.append(text.substr(at, found - at)).append(value);
    at = found + old_value.size();
  }
  return made.append(text.substr(at));
}

}  // namespace reprise
