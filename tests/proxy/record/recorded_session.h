#pragma once

// A recorded session whose clients and origins are memory: each origin plays a script, each client
// is served over HTTP/1.1, and the archive is a real file.

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <filesystem>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "archive/writer.h"
#include "proxy/http/event.h"
#include "proxy/http/h1_client.h"
#include "proxy/record/record_session.h"
#include "tests/archive/archive_fixture.h"
#include "tests/proxy/memory_stream.h"

namespace reprise {

inline void spawn(net::io_context& context, awaitable<void> coroutine) {
  net::co_spawn(context, std::move(coroutine), [](std::exception_ptr broken) {
    if (broken) std::rethrow_exception(broken);
  });
}

/// Reads up to and with `mark`, or all when the peer ends before.
inline awaitable<std::string> read_through(MemoryStream& stream, std::string_view mark) {
  std::string all;
  std::array<std::byte, 1> next;
  while (!all.ends_with(mark)) {
    auto const count = co_await stream.read_some(next);
    if (!count || *count == 0) break;
    all += text_of(Bytes(next));
  }
  co_return all;
}
/// Reads so many bytes, or all when the peer ends before.
inline awaitable<void> read_bytes(MemoryStream& stream, std::size_t bytes) {
  std::vector<std::byte> buffer(bytes);
  for (std::size_t read = 0; read < bytes;) {
    auto const count = co_await stream.read_some(std::span(buffer).subspan(read));
    if (!count || *count == 0) break;
    read += *count;
  }
}
/// Reads all that comes, so that the connection is there until its peer ends it.
inline awaitable<std::string> read_all(MemoryStream& stream) {
  std::string all;
  std::array<std::byte, 4096> buffer;
  while (true) {
    auto const count = co_await stream.read_some(buffer);
    if (!count || *count == 0) co_return all;
    all += text_of(Bytes(buffer).first(*count));
  }
}

/// Leads each dialling to a script of its own.
class ScriptedDialer final : public OriginDialer {
 public:
  using Script = std::function<awaitable<void>(MemoryStream&)>;

  explicit ScriptedDialer(net::io_context& context) : context_(context) {}

  bool has_rule(const Target&) const override { return true; }
  awaitable<Dialled> dial(const Target& target, const ClientHello*, dns::Ticket& ticket,
                          const TimeOf& time_of, Reach) override {
    dialled.push_back(target);
    Dialled result;
    result.facts = {.scheme = target.scheme, .host = target.host, .port = target.port};
    result.facts.connect_start = time_of(Clock::now());
    if (never_connects) {
      net::steady_timer forever(context_, net::steady_timer::time_point::max());
      dns::Ticket::Use const use(ticket, forever);
      co_await forever.async_wait(kTuple);
    }
    if (held != nullptr) co_await held->wait();
    if (scripts.empty()) {
      result.facts.failure = "cannot connect to " + target.host;
      co_return result;
    }
    auto ends = MemoryStream::make_pair(context_);
    ends.first->read_at_most(read_bytes_max);
    result.stream = std::move(ends.first);
    result.facts.address = "192.0.2.1:80";
    result.facts.alpn = alpn;
    auto& playing = playing_.emplace_back(std::move(scripts.front()), std::move(ends.second));
    scripts.erase(scripts.begin());
    spawn(context_, play(playing.first, *playing.second));
    co_return result;
  }

  std::vector<Script> scripts;  ///< of the connections to come; without one, none is made
  bool never_connects = false;  ///< it can only be cancelled
  Event* held = nullptr;        ///< what it waits for
  std::string alpn;             ///< what the origins speak; empty: HTTP/1.1
  /// The most that one read of an origin's bytes gives.
  std::size_t read_bytes_max = std::numeric_limits<std::size_t>::max();
  std::vector<Target> dialled;

 private:
  static awaitable<void> play(Script& script, MemoryStream& stream) {
    co_await script(stream);
    stream.close();
  }

  net::io_context& context_;
  std::list<std::pair<Script, std::unique_ptr<MemoryStream>>> playing_;
};

/// What a client got.
struct Received {
  std::vector<std::uint16_t> interim;
  std::uint16_t status = 0;  ///< 0: no final head came
  std::string body;          ///< as much as came
  std::string trailers;      ///< "name: value\n" for each
  bool whole = false;        ///< up to the end that the framing states
};

inline Task<void> receive(H1Client& client, Received& received) {
  while (received.status == 0) {
    auto const head = co_await client.read_head();
    if (!head) co_return fail(head.error());
    if (is_interim(head->status) && head->status != 101) {
      received.interim.push_back(head->status);
    } else {
      received.status = head->status;
    }
  }
  if (received.status == 101) co_return Result<void>{};
  while (!client.body().finished()) {
    auto const piece = co_await client.body().read();
    if (!piece) co_return fail(piece.error());
    received.body += text_of(*piece);
  }
  for (const HeaderView& field : client.body().trailers()) {
    received.trailers.append(field.name).append(": ").append(field.value).append("\n");
  }
  received.whole = true;
  co_return Result<void>{};
}

class RecordedSession {
 public:
  using Client = std::function<awaitable<void>(H1Client&, MemoryStream&)>;

  explicit RecordedSession(const std::filesystem::path& path,
                           std::optional<inject::InjectedScript> script = std::nullopt)
      : path_(path) {
    std::filesystem::remove(path);
    writer = create_archive(path);
    EXPECT_TRUE(writer->begin_session({}));
    session.emplace(
        *writer, dialer, std::chrono::steady_clock::now(),
        [this](std::error_code error) { archive_errors.push_back(error); }, std::move(script));
  }
  RecordedSession(const RecordedSession&) = delete;
  RecordedSession& operator=(const RecordedSession&) = delete;

  /// Serves a client, who does as given and then closes.
  void serve(Client client) {
    auto ends = MemoryStream::make_pair(context);
    clients_.emplace_back();
    auto& made = clients_.back();
    made.part = std::move(client);
    made.stream = ends.first.get();
    made.client = std::make_unique<H1Client>(std::move(ends.first));
    made.server = std::move(ends.second);
    made.info = {.id = clients_.size()};
    made.handler = session->open(made.info);
    spawn(context, serve(made));
    spawn(context, play(made));
  }
  /// Sends the bytes of requests as they are, and takes as many answers as there is room for.
  void ask(std::string wire, std::vector<Received*> answers) {
    serve([wire = std::move(wire), answers = std::move(answers)](
              H1Client& client, MemoryStream& stream) -> awaitable<void> {
      (void)co_await stream.write(bytes_of(wire));
      for (Received* const answer : answers) {
        if (!co_await receive(client, *answer)) co_return;
      }
    });
  }

  /// Until nothing happens any more: nobody may be left waiting.
  void run() {
    context.restart();
    context.poll();
    EXPECT_TRUE(context.stopped()) << "somebody waits for what never comes";
    for (auto& client : clients_) {  // for a test that has failed
      client.stream->abort();
      client.handler->close();
    }
    context.poll();
    EXPECT_EQ(session->counters().in_flight, 0U);
  }

  /// As the session's server would: from inside.
  void close_connections() {
    for (auto& client : clients_) client.handler->close();
  }

  /// As if much time had passed since clients ended their side.
  void lose_patience() {
    for (auto& client : clients_) client.server->lose_patience();
  }

  /// Ends the session; after this nothing can be served.
  std::unique_ptr<ArchiveReader> archive() {
    if (writer->session()) (void)writer->end_session();  // a disk that is full
    (void)writer->close();
    clients_.clear();
    session.reset();
    writer.reset();
    return open_archive(path_);
  }

  net::io_context context{1};
  ScriptedDialer dialer{context};
  std::unique_ptr<ArchiveWriter> writer;
  std::optional<RecordSession> session;
  std::vector<std::error_code> archive_errors;

 private:
  struct Served {
    Client part;
    MemoryStream* stream = nullptr;
    std::unique_ptr<H1Client> client;
    std::unique_ptr<MemoryStream> server;
    ConnectionInfo info;
    std::unique_ptr<ConnectionHandler> handler;
    Deadline deadline;
  };
  static awaitable<void> serve(Served& served) {
    (void)co_await serve_h1(*served.server, served.info, *served.handler, served.deadline, {}, {});
    served.server->close();
    served.handler->close();
    co_await served.handler->ended();
  }
  static awaitable<void> play(Served& served) {
    co_await served.part(*served.client, *served.stream);
    served.stream->close();
  }

  std::filesystem::path path_;
  std::list<Served> clients_;
};

}  // namespace reprise
