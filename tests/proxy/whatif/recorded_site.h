#pragma once

// Recordings for tests of what-ifs, and what comes of one.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "archive/reader.h"
#include "archive/writer.h"
#include "base/bytes.h"
#include "base/coding/coding.h"
#include "base/http/url_parts.h"
#include "proxy/whatif/changed_archive.h"
#include "proxy/whatif/intervention.h"
#include "proxy/whatif/reply_changes.h"
#include "tests/scratch_folder.h"

namespace reprise::whatif {

/// The start page of the recordings.
inline constexpr const char* kPage = "https://a.test/";

inline coding::Buffer buffer_of(std::string_view text) {
  auto const bytes = bytes_of(text);
  return {bytes.begin(), bytes.end()};
}

inline coding::Buffer coded(std::string_view plain, std::vector<coding::Coding> codings) {
  coding::Buffer out;
  coding::Encoder(codings, coding::default_effort(codings.front()))
      .write(bytes_of(plain), coding::Until::kEnd, out);
  return out;
}

/// The value of a response's field; "-" if it has none.
inline std::string field_of(const StoredReply& reply, std::string_view name) {
  return std::string(find_header(reply.headers.list(), name).value_or("-"));
}

/// A GET that was answered by 200. `referer`: empty for none.
inline Exchange a_get(std::string_view url, std::string_view type, std::string_view referer = "") {
  auto const parts = url_parts(url);
  Exchange made;
  made.request.method = "GET";
  made.request.scheme = parts.scheme == "https" ? Scheme::kHttps : Scheme::kHttp;
  made.request.host = parts.host;
  made.request.port = default_port(made.request.scheme);
  made.request.target = url.substr(url.find('/', url.find("//") + 2));
  if (!referer.empty()) made.request.headers = {{.name = "Referer", .value = referer}};
  made.response.status = 200;
  made.response.reason = "OK";
  made.response.version = HttpVersion::kHttp11;
  if (!type.empty()) made.response.headers = {{.name = "Content-Type", .value = type}};
  made.timings = {.queued = SessionTime(100),
                  .request_sent = SessionTime(200),
                  .first_byte = SessionTime(300),
                  .end = SessionTime(400)};
  return made;
}

inline Exchange with(Exchange exchange, std::string_view name, std::string_view value) {
  exchange.response.headers = with_field(exchange.response.headers.list(), name, value);
  return exchange;
}

inline Exchange asked_with(Exchange exchange, std::string_view name, std::string_view value) {
  exchange.request.headers = with_field(exchange.request.headers.list(), name, value);
  return exchange;
}

/// An archive that a test fills; it is closed when it is first read.
class RecordedSite {
 public:
  /// Numbered from 1.
  void begin_session(std::vector<std::string> pages = {}) {
    if (in_session_) EXPECT_TRUE(writer_->end_session());
    EXPECT_TRUE(writer_->begin_session({.pages = std::move(pages)}));
    in_session_ = true;
    count_ = 0;
  }
  /// Begins a session if none has begun yet. Returns its sequence number.
  std::uint64_t add(Exchange exchange, std::span<const std::byte> body,
                    std::string_view request_body = {}) {
    if (!in_session_) begin_session();
    exchange.sequence = ++count_;
    exchange.request.body = stored(bytes_of(request_body));
    exchange.response.body = stored(body);
    EXPECT_TRUE(writer_->add_exchange(std::move(exchange)));
    return count_;
  }
  std::uint64_t add(Exchange exchange, std::string_view body = {},
                    std::string_view request_body = {}) {
    return add(std::move(exchange), bytes_of(body), request_body);
  }
  void add(ConnectionFacts facts) { EXPECT_TRUE(writer_->add_connection(std::move(facts))); }
  void add(DnsAnswer answer) { EXPECT_TRUE(writer_->add_answer(std::move(answer))); }
  void add_message(std::uint64_t sequence, std::string_view text) {
    EXPECT_TRUE(writer_->add_message(sequence, {.payload = bytes_of(text)}));
  }

  /// Changes a byte of `text` where it first stands in the file. Nothing is added after that.
  void damage(std::string_view text) {
    close();
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    std::string const bytes{std::istreambuf_iterator<char>(file), {}};
    auto const at = bytes.find(text);
    ASSERT_NE(at, std::string::npos) << text;
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(~bytes[at]));
  }

  const ArchiveReader& reader() {
    close();
    if (!reader_) reader_ = ArchiveReader::open(path_, {}).value();
    return *reader_;
  }

 private:
  void close() {
    if (!writer_) return;
    if (in_session_) EXPECT_TRUE(writer_->end_session());
    EXPECT_TRUE(writer_->close());
    writer_.reset();
  }
  StoredBody stored(std::span<const std::byte> bytes) {
    BodyWriter body(*writer_);
    EXPECT_TRUE(body.append(bytes));
    return body.finish().value();
  }

  ScratchFolder folder_;
  std::filesystem::path path_ = folder_ / "a.reprise";
  std::unique_ptr<ArchiveWriter> writer_ = ArchiveWriter::create(path_, {}).value();
  bool in_session_ = false;
  std::uint64_t count_ = 0;
  std::unique_ptr<ArchiveReader> reader_;
};

inline std::vector<Intervention> interventions_of(const std::vector<std::string>& texts) {
  auto parsed = parse_interventions(texts);
  if (!parsed) ADD_FAILURE() << parsed.error();
  return parsed ? std::move(*parsed) : std::vector<Intervention>();
}

/// The copy of a session that what-ifs changed.
class ChangedSite {
 public:
  ChangedSite(RecordedSite& site, const std::vector<std::string>& texts,
              std::uint32_t session = 1) {
    auto effects_or = write_changed_archive(site.reader(), session, interventions_of(texts), path_);
    if (!effects_or) {
      ADD_FAILURE() << effects_or.error().message();
      return;
    }
    effects = std::move(*effects_or);
    reader = ArchiveReader::open(path_, {}).value();
    for (auto const ordinal : reader->ordinals_in_order()) {
      auto exchange = reader->exchange(ordinal).value();
      auto const body = reader->read_body(exchange.response.body, 1 << 28).value();
      bodies[url_of(exchange.request)] = text_of(body);
      exchanges.push_back(std::move(exchange));
    }
  }

  const Exchange& at(std::string_view url) const {
    for (const Exchange& each : exchanges) {
      if (url_of(each.request) == url) return each;
    }
    throw std::out_of_range(std::string(url));
  }
  const StoredReply& reply(std::string_view url) const { return at(url).response; }
  /// The decoded body.
  std::string plain(std::string_view url) const {
    auto response = reply(url);
    Reply const whole{.stored = response, .body = buffer_of(bodies.at(std::string(url)))};
    auto const decoded = plain_body(whole);
    if (!decoded) return "error: " + decoded.error();
    return std::string(text_of(*decoded));
  }
  /// "3 selected, 1 changed; it is so already: https://a.test/"
  std::string effect(std::size_t number = 0) const {
    const Effect& of = effects.at(number);
    auto text =
        std::to_string(of.selected) + " selected, " + std::to_string(of.changed) + " changed";
    for (const auto& remark : of.remarks) text += "; " + remark.text();
    return text;
  }
  /// The whole file.
  std::string file() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::vector<Effect> effects;
  std::unique_ptr<ArchiveReader> reader;
  std::vector<Exchange> exchanges;            ///< in recorded order
  std::map<std::string, std::string> bodies;  ///< by URL, as stored

 private:
  ScratchFolder folder_;
  std::filesystem::path path_ = folder_ / "changed.reprise";
};

}  // namespace reprise::whatif
