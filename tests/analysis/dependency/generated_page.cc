#include "tests/analysis/dependency/generated_page.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <tuple>

#include "analysis/dependency/learn.h"
#include "analysis/dependency/perturbation.h"
#include "analysis/sources/request_call.h"

namespace reprise {
namespace {

constexpr double kPacketBytes = 1500;
constexpr double kFirstWindow = 10 * kPacketBytes;
constexpr std::size_t kHyStartPackets = 16;  // eight acknowledgements, each of two
constexpr double kNever = std::numeric_limits<double>::infinity();

constexpr std::array<const char*, 5> kPriorities = {"VeryHigh", "High", "Medium", "Low", "VeryLow"};

/// As Chromium has it, into kPriorities.
std::size_t urgency_of(const GeneratedRequest& request) {
  if (request.type == "Document" || request.type == "Stylesheet") return 0;
  if (request.type == "Image") return 3;
  bool const is_parsed = request.initiator == 0 && !request.asynchronous;
  return request.type != "Script" || is_parsed ? 1 : 3;
}

/// Of no use in part.
bool is_whole(const GeneratedRequest& request) {
  return request.type == "Script" || request.type == "Stylesheet" || request.type == "Font";
}

/// fetch() delays no load event.
bool holds_up_load(const GeneratedRequest& request) {
  return !request.asynchronous && request.type != "Fetch";
}

/// A load, event by event. Times are in ms.
class Simulator {
 public:
  Simulator(const GeneratedPage& page, const SimulatedChange& change, std::uint64_t seed,
            double jitter)
      : page_(page), change_(change), random_(seed), jitter_(jitter) {
    for (auto const& request : page.requests) {
      bool const never = request.initiator >= 0 && (change.dropped.contains(request.initiator) ||
                                                    states_[request.initiator].never);
      // Drawn for all, so that a change of one request leaves the chance of the others.
      states_.push_back({.never = never,
                         .think = request.think_ms * std::exp(.15 * jitter_ * normal()),
                         .gap = request.gap_ms * around_one() * change.cpu,
                         .execution = request.execution_ms * around_one() * change.cpu});
      if (never) continue;
      if (auto const found = change.think_factor.find(index());
          found != change.think_factor.end()) {
        states_.back().think *= found->second;
      }
      if (auto const found = change.hold_ms.find(index()); found != change.hold_ms.end()) {
        states_.back().think += found->second;
      }
    }
    for (auto& gap : milestone_gaps_) gap = 6 * around_one() * change.cpu;
  }

  ObservedPage run() {
    if (!states_[0].never) schedule(page_.requests[0].gap_ms * 0, Event::kStart, 0);
    while (!events_.empty()) {
      auto const event = events_.top();
      events_.pop();
      now_ = event.at;
      handle(event);
      // Most of what happens is the link's matter alone.
      State const& at = state(event.request);
      bool const is_of_link =
          event.kind == Event::kAcknowledged ||
          (event.kind == Event::kPacket && at.first_byte != now_ && at.end != now_);
      if (!is_of_link) start_what_can();
    }
    return result();
  }

 private:
  struct State {
    bool never = false;
    double think = 0, gap = 0, execution = 0;
    bool scheduled = false, execution_scheduled = false;
    double start = kNever, sent = kNever, first_byte = kNever, end = kNever;
    double dns = -1, connect = -1, tls = -1;
    double used = kNever;  ///< when it would start without a preload
    double run = kNever, ran = kNever;
    double left = 0;  ///< bytes that the server has not sent
    double turn = 0;  ///< of all that share, the least one sends
    double arrived = 0;
  };
  struct Event {
    enum Kind {
      kStart,
      kPreload,
      kSetupAnswer,
      kSetupStep,
      kAnswer,
      kPacket,
      kAcknowledged,
      kRun,
      kRan
    };
    double at;
    Kind kind;
    int request;
    double bytes = 0;   ///< of a packet
    double waited = 0;  ///< in the queue
    bool operator>(const Event& other) const {
      return std::pair(at, request) > std::pair(other.at, other.request);
    }
  };
  /// The connection to a host.
  struct Connection {
    int setup_steps = 0;
    bool is_ready = false;
    std::vector<int> waiting;
    std::vector<int> sending;                   ///< in the order of their answers
    std::queue<std::pair<int, double>> socket;  ///< requests and bytes of packets
    double unsent = 0;                          ///< in the socket
    bool is_stopped = false;                    ///< writing to it
    double window = kFirstWindow, in_flight = 0;
    bool grows = true;
    double most_in_flight = 0;           ///< of this round
    double left_in_round = 10;           ///< packets to be acknowledged
    std::vector<double> waits;           ///< of the first ones that were
    double sent = 0;                     ///< the last packet
    double smoothed = 0, deviation = 0;  ///< of round trips
  };

  int index() const { return static_cast<int>(states_.size()) - 1; }
  double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  double normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum;
  }
  double around_one() { return 1 + .1 * jitter_ * (2 * uniform() - 1); }
  double rtt() const { return page_.rtt_ms + change_.rtt_ms; }
  const GeneratedRequest& request(int i) const {
    return page_.requests[static_cast<std::size_t>(i)];
  }
  State& state(int i) { return states_[static_cast<std::size_t>(i)]; }

  void schedule(double at, Event::Kind kind, int i) { events_.push({at, kind, i}); }

  double rate() const { return page_.bytes_per_ms * change_.rate; }

  /// A packet comes to the link, and leaves it after all that came before.
  void send_packet(Connection& connection) {
    auto const [i, bytes] = connection.socket.front();
    connection.socket.pop();
    connection.unsent -= bytes;
    connection.in_flight += bytes;
    connection.most_in_flight = std::max(connection.most_in_flight, connection.in_flight);
    connection.sent = now_;
    link_is_free_ = std::max(link_is_free_, now_) + bytes / rate();
    events_.push({.at = link_is_free_,
                  .kind = Event::kPacket,
                  .request = i,
                  .bytes = bytes,
                  .waited = link_is_free_ - now_});
  }

  /// A response shares with those like it from now on, whatever they have sent before: as nghttp2.
  void join(Connection& connection, int i) {
    double least = kNever;
    for (int const k : connection.sending) {
      bool const alike = !page_.priorities || urgency_of(request(k)) == urgency_of(request(i));
      if (alike) least = std::min(least, state(k).turn);
    }
    state(i).turn = least == kNever ? 0 : least;
    connection.sending.push_back(i);
  }

  void send_what_may(Connection& connection) {
    for (write_ahead(connection); connection.in_flight < connection.window;
         write_ahead(connection)) {
      if (connection.socket.empty() && connection.sending.empty()) return;
      if (connection.socket.empty()) write_packet(connection);
      send_packet(connection);
    }
  }

  void write_ahead(Connection& connection) {
    if (connection.is_stopped && connection.unsent >= page_.socket_bytes / 2) return;
    while (!connection.sending.empty() && connection.unsent < page_.socket_bytes) {
      write_packet(connection);
    }
    connection.is_stopped = !connection.sending.empty();
  }

  void write_packet(Connection& connection) {
    auto const i = *std::ranges::min_element(connection.sending, {}, [&](int k) {
      // What is of use in part shares: the one that has sent the least since it joined.
      auto const& one = request(k);
      bool const whole = page_.priorities && is_whole(one);
      return std::tuple(page_.priorities ? urgency_of(one) : 0, !whole, whole ? 0 : state(k).turn);
    });
    double const bytes = std::min(kPacketBytes, state(i).left);
    state(i).turn += kPacketBytes;
    state(i).left -= bytes;
    connection.socket.emplace(i, bytes);
    connection.unsent += bytes;
    if (state(i).left <= 0) std::erase(connection.sending, i);
  }

  /// What is used of it doubles each round trip, until in one of them even that of the first
  /// packets which waited least has waited.
  void grow(Connection& connection, const Event& acknowledged) const {
    if (!connection.grows) return;
    if (connection.window < 2 * connection.most_in_flight) connection.window += acknowledged.bytes;
    if (connection.window >= 16 * kPacketBytes && connection.waits.size() < kHyStartPackets) {
      connection.waits.push_back(acknowledged.waited);
      bool const is_late = connection.waits.size() == kHyStartPackets &&
                           std::ranges::min(connection.waits) > std::clamp(rtt() / 8, 4., 16.);
      if (is_late) connection.grows = false;
    }
    if (--connection.left_in_round > 0) return;
    connection.left_in_round = connection.in_flight / kPacketBytes;
    connection.most_in_flight = connection.in_flight;
    connection.waits.clear();
  }

  /// Linux halves a window with each timeout that passes before it is used again.
  void shrink_if_idle(Connection& connection) const {
    if (connection.in_flight > 0) return;
    double const timeout = connection.smoothed + std::max(200., 4 * connection.deviation);
    for (double idle = now_ - connection.sent; idle > timeout; idle -= timeout) {
      connection.window = std::max(connection.window / 2, kFirstWindow);
    }
  }

  static void measure(Connection& connection, double round_trip) {
    double const error = round_trip - connection.smoothed;
    connection.smoothed += error / 8;
    connection.deviation += (std::abs(error) - connection.deviation) / 4;
  }

  double bytes_of(int i) const {
    auto const factor = change_.bytes_factor.find(i);
    return request(i).bytes * (factor == change_.bytes_factor.end() ? 1 : factor->second);
  }

  void ask(int i) {
    state(i).sent = now_;
    schedule(now_ + rtt() + state(i).think, Event::kAnswer, i);
  }

  void set_up(int i) {
    Connection& connection = connections_[request(i).host];
    switch (connection.setup_steps++) {
      case 0:
        state(i).dns = now_;
        return schedule(now_ + page_.rtt_ms, Event::kSetupAnswer, i);
      case 1:
        state(i).connect = now_;
        return schedule(now_ + rtt(), Event::kSetupAnswer, i);
      case 2:
        state(i).tls = now_;
        return schedule(now_ + rtt(), Event::kSetupAnswer, i);
      default:
        connection.is_ready = true;
        connection.smoothed = rtt();
        connection.deviation = rtt() / 2;
        connection.sent = now_;
        for (int const waiting : connection.waiting) ask(waiting);
    }
  }

  void handle(const Event& event) {
    State& at = state(event.request);
    GeneratedRequest const& asked = request(event.request);
    switch (event.kind) {
      case Event::kStart:
        at.used = now_;
        if (at.start <= now_) break;
        [[fallthrough]];
      case Event::kPreload:
        if (at.start <= now_) break;
        at.start = now_;
        if (change_.dropped.contains(event.request)) {
          at.sent = at.first_byte = at.end = now_;
          break;
        }
        if (connections_[asked.host].is_ready) return ask(event.request);
        connections_[asked.host].waiting.push_back(event.request);
        if (connections_[asked.host].setup_steps == 0) set_up(event.request);
        break;
      case Event::kSetupAnswer:
        schedule(std::max(now_, link_is_free_), Event::kSetupStep, event.request);
        break;
      case Event::kSetupStep:
        set_up(event.request);
        break;
      case Event::kAnswer:
        at.left = bytes_of(event.request);
        shrink_if_idle(connections_[asked.host]);
        join(connections_[asked.host], event.request);
        send_what_may(connections_[asked.host]);
        break;
      case Event::kPacket:
        if (at.first_byte == kNever) {
          at.first_byte = now_;
          if (event.request == 0) {
            for (int const i : change_.preloaded) schedule(now_, Event::kPreload, i);
          }
        }
        at.arrived += event.bytes;
        if (at.arrived >= bytes_of(event.request) - 1e-6) at.end = now_;
        events_.push({.at = now_ + rtt(),
                      .kind = Event::kAcknowledged,
                      .request = event.request,
                      .bytes = event.bytes,
                      .waited = event.waited});
        break;
      case Event::kAcknowledged: {
        Connection& connection = connections_[asked.host];
        measure(connection, rtt() + event.waited);
        connection.in_flight -= event.bytes;
        grow(connection, event);
        send_what_may(connection);
        break;
      }
      case Event::kRun:
        at.run = now_;
        schedule(now_ + at.execution, Event::kRan, event.request);
        break;
      case Event::kRan:
        at.ran = now_;
        break;
    }
  }

  /// Whether it is over or will never be.
  bool ended(int i) { return state(i).never || (state(i).end <= now_ && state(i).used <= now_); }
  bool executed(int i) {
    return state(i).never || change_.dropped.contains(i) || state(i).ran <= now_;
  }

  void start_what_can() {
    for (int i = 1; i < static_cast<int>(states_.size()); ++i) {
      State& at = state(i);
      GeneratedRequest const& asked = request(i);
      if (at.never) continue;
      if (!at.scheduled && is_ready(asked)) {
        at.scheduled = true;
        schedule(now_ + at.gap, Event::kStart, i);
      }
      if (asked.execution_ms == 0 || at.execution_scheduled || change_.dropped.contains(i))
        continue;
      bool const ready =
          ended(i) && std::ranges::all_of(asked.execution_ends, [&](int k) { return ended(k); }) &&
          std::ranges::all_of(asked.execution_after, [&](int k) { return executed(k); });
      if (!ready) continue;
      at.execution_scheduled = true;
      schedule(now_ + 1, Event::kRun, i);
    }
  }

  bool is_ready(const GeneratedRequest& asked) {
    auto const arrived = [&](int k) { return state(k).first_byte <= now_; };
    auto const has_ended = [&](int k) { return ended(k); };
    auto const has_run = [&](int k) { return executed(k); };
    // A dropped alternative fails, so that the other one counts.
    auto const has_come = [&](int k) { return ended(k) && !change_.dropped.contains(k); };
    auto const is_dropped = [&](int k) { return change_.dropped.contains(k); };
    bool const ends = asked.first_of ? std::ranges::any_of(asked.ends, has_come) ||
                                           std::ranges::all_of(asked.ends, is_dropped)
                                     : std::ranges::all_of(asked.ends, has_ended);
    return ends && std::ranges::all_of(asked.first_bytes, arrived) &&
           std::ranges::all_of(asked.executions, has_run);
  }

  double used_end(int i) { return std::max(state(i).end, state(i).used); }

  static std::int64_t us(double ms) { return std::llround(ms * 1000); }

  ObservedPage result() {
    ObservedPage page{.calls = {.page = page_.requests[0].url}, .milestones = {}};
    double paint = state(0).first_byte;
    double load = 0;
    double last = 0;
    for (int i = 0; i < static_cast<int>(states_.size()); ++i) {
      State const& at = state(i);
      GeneratedRequest const& asked = request(i);
      if (at.never || at.end == kNever) continue;
      bool const blocks = asked.type == "Stylesheet" ||
                          (asked.type == "Script" && !asked.asynchronous && asked.initiator == 0);
      double const done = at.ran == kNever ? std::max(at.end, at.used) : at.ran;
      if (blocks) paint = std::max(paint, done);
      if (holds_up_load(asked)) load = std::max(load, done);
      last = std::max(last, at.end);
      if (!change_.dropped.contains(i)) add_calls(page.calls, i);
    }
    paint += milestone_gaps_[0];
    double largest = paint;
    if (page_.largest >= 0)
      largest = std::max(largest, used_end(page_.largest) + milestone_gaps_[1]);
    page.milestones = {us(paint), us(largest), us(load + milestone_gaps_[2]), us(last)};
    if (page_.tasks) {
      add_work(page.calls, paint - milestone_gaps_[0], paint);
      add_work(page.calls, largest - milestone_gaps_[1], largest);
      add_work(page.calls, load, load + milestone_gaps_[2]);
    }
    page.calls.window_us = us(load + milestone_gaps_[2]);
    normalize(page.calls);
    return page;
  }

  static void add_work(CallTree& tree, double from, double until) {
    tree.calls.push_back({.kind = CallKind::kTask,
                          .name = "task",
                          .start_us = us(std::max(from, 0.0)),
                          .end_us = us(until)});
  }

  void add_calls(CallTree& tree, int i) {
    State const& at = state(i);
    GeneratedRequest const& asked = request(i);
    Call call{.name = asked.url, .start_us = us(at.start), .end_us = us(at.end)};
    call.set("method", "GET");
    call.set("type", asked.type);
    call.set("status", "200");
    call.set("protocol", "h2");
    call.set("bytes", std::to_string(std::llround(asked.bytes)));
    if (page_.priorities) call.set("priority", kPriorities[urgency_of(asked)]);
    if (asked.initiator >= 0) call.set("initiator", request(asked.initiator).url);
    RequestTimes times{
        .send_start = us(at.sent), .send_end = us(at.sent), .first_byte = us(at.first_byte)};
    if (at.dns >= 0) {
      times.dns_start = us(at.dns);
      times.dns_end = times.connect_start = us(at.connect);
      times.tls_start = us(at.tls);
      times.connect_end = us(at.sent);
    }
    add_request(tree, std::move(call), times);
    if (!page_.tasks) return;
    if (i == 0) {
      tree.calls.push_back({.kind = CallKind::kTask,
                            .name = "parse",
                            .start_us = us(at.first_byte),
                            .end_us = us(at.first_byte)});
    }
    // Before each use the main thread works, on whatever it is.
    add_work(tree, at.used - at.gap, at.used);
    if (at.ran == kNever) return;
    Call task{
        .kind = CallKind::kTask, .name = "script", .start_us = us(at.run), .end_us = us(at.ran)};
    task.set("url", asked.url);
    tree.calls.push_back(std::move(task));
  }

  const GeneratedPage& page_;
  const SimulatedChange& change_;
  std::mt19937_64 random_;
  double jitter_;
  std::vector<State> states_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::map<int, Connection> connections_;  ///< by host
  double link_is_free_ = 0;
  std::array<double, 3> milestone_gaps_{};
  double now_ = 0;
};

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  GeneratedPage run() {
    page_.rtt_ms = between(15, 90);
    page_.bytes_per_ms = between(300, 3000);
    page_.tasks = random_() % 2 == 0;
    add("Document", -1, 20'000, 80'000);
    std::vector<int> sheets;
    for (auto i = count(1, 3); i-- > 0;) sheets.push_back(parsed("Stylesheet", 5'000, 60'000));
    std::vector<int> scripts;
    for (auto i = count(2, 4); i-- > 0;) {
      int const script = parsed("Script", 10'000, 120'000);
      auto& asked = page_.requests.back();
      asked.execution_ms = between(5, 60);
      asked.execution_ends = sheets;
      asked.execution_after = scripts;
      scripts.push_back(script);
    }
    auto const head = scripts;
    std::vector<int> images;
    for (auto i = count(2, 5); i-- > 0;) images.push_back(parsed("Image", 5'000, 150'000));
    page_.largest = images[random_() % images.size()];
    // Found by the parser behind a script that held it up.
    for (auto i = count(1, 2); i-- > 0;) {
      int const script = scripts[random_() % scripts.size()];
      parsed("Image", 5'000, 80'000);
      page_.requests.back().executions = {script};
    }
    if (random_() % 2 == 0) {
      parsed("Script", 10'000, 80'000);
      page_.requests.back().execution_ms = between(5, 40);
      page_.requests.back().asynchronous = true;
      scripts.push_back(last());
    }
    for (auto i = count(1, 2); i-- > 0;) {
      int const sheet = sheets[random_() % sheets.size()];
      add("Font", sheet, 10'000, 60'000);
      // Of the first layout, which waits for all that the head has.
      page_.requests.back().ends = sheets;
      page_.requests.back().executions = head;
    }
    for (int const script : scripts) {
      if (random_() % 4 != 0) fetched(script, random_() % 2 == 0 ? "Fetch" : "Image");
    }
    add_joins(scripts);
    page_.priorities = random_() % 2 == 0;
    return std::move(page_);
  }

 private:
  double between(double a, double b) {
    return a + (b - a) * static_cast<double>(random_() >> 11) * 0x1p-53;
  }
  int count(int a, int b) {
    return a + static_cast<int>(random_() % static_cast<unsigned>(b - a + 1));
  }
  int last() const { return static_cast<int>(page_.requests.size()) - 1; }

  static std::string url_of(int host, int number, const std::string& type) {
    if (number == 0) return "https://host0.test/";
    return "https://host" + std::to_string(host) + ".test/" + std::to_string(number) + "." + type;
  }
  int add(const char* type, int initiator, double least, double most) {
    int const host = random_() % 4 == 0 ? 1 + static_cast<int>(random_() % 3) : 0;
    int const number = last() + 1;
    page_.requests.push_back({.url = url_of(host, number, type),
                              .type = type,
                              .initiator = initiator,
                              .host = number == 0 ? 0 : host,
                              .bytes = between(least, most),
                              .think_ms = between(15, 150),
                              .gap_ms = between(2, 25)});
    return number;
  }
  int parsed(const char* type, double least, double most) {
    int const number = add(type, 0, least, most);
    page_.requests.back().first_bytes = {0};
    return number;
  }
  int fetched(int script, const char* type) {
    int const number = add(type, script, 2'000, 60'000);
    page_.requests.back().executions = {script};
    return number;
  }

  /// All of two, the first of two, a chain of three; of one script each.
  void add_joins(const std::vector<int>& scripts) {
    auto const any = [&] { return scripts[random_() % scripts.size()]; };
    int const both = any();
    int const a = fetched(both, "Fetch");
    int const b = fetched(both, "Fetch");
    add("Image", both, 5'000, 60'000);
    page_.requests.back().ends = {a, b};

    int const race = any();
    int const c = fetched(race, "Fetch");
    int const d = fetched(race, "Fetch");
    // In half of the pages they are close, and now the one and now the other comes first.
    if (random_() % 2 == 0) {
      auto& other = page_.requests[static_cast<std::size_t>(d)];
      auto const& one = page_.requests[static_cast<std::size_t>(c)];
      other.think_ms = one.think_ms * between(.9, 1.1);
      other.bytes = one.bytes;
      other.gap_ms = one.gap_ms;
      other.host = one.host;
      other.url = url_of(other.host, d, other.type);
    }
    add("Fetch", race, 2'000, 40'000);
    page_.requests.back().ends = {c, d};
    page_.requests.back().first_of = true;
    add("Image", race, 2'000, 40'000);
    page_.requests.back().ends = {last() - 1};

    int chain = fetched(any(), "Fetch");
    for (int i = 0; i < 2; ++i) {
      int const next =
          add("Fetch", page_.requests[static_cast<std::size_t>(chain)].initiator, 1'000, 20'000);
      page_.requests.back().ends = {chain};
      chain = next;
    }
    if (random_() % 2 == 0) page_.requests.back().asynchronous = true;
  }

  std::mt19937_64 random_;
  GeneratedPage page_;
};

}  // namespace

GeneratedPage generate_page(std::uint64_t seed) {
  return Generator(seed).run();
}

ObservedPage simulate_load(const GeneratedPage& page, const SimulatedChange& change,
                           std::uint64_t seed, double jitter) {
  return Simulator(page, change, seed, jitter).run();
}

std::vector<ObservedPage> simulate_loads(const GeneratedPage& page, const SimulatedChange& change,
                                         std::uint64_t seed, int loads) {
  std::vector<ObservedPage> pages;
  std::mt19937_64 random(seed);
  for (int i = 0; i < loads; ++i) pages.push_back(simulate_load(page, change, random()));
  return pages;
}

SearchedGraph search_dependencies(const GeneratedPage& page, const std::vector<ObservedPage>& loads,
                                  std::uint64_t seed) {
  DependencySearch search(learn_dependencies(loads), loads);
  SearchedGraph found{.watched = search.graph(), .graph = {}};
  while (auto const perturbation = search.next()) {
    SimulatedChange change;
    for (auto const node : perturbation->held) {
      auto const request =
          std::ranges::find(page.requests, search.graph().nodes[node].name, &GeneratedRequest::url);
      change.hold_ms[static_cast<int>(request - page.requests.begin())] =
          static_cast<double>(perturbation->hold_us) / 1000;
    }
    ++found.perturbations;
    search.take(*perturbation,
                simulate_loads(page, change, seed * 1'000'003 + found.perturbations, 3));
  }
  found.graph = search.graph();
  return found;
}

DependencyGraph GeneratedPage::truth() const {
  // The nodes in an order in which everything comes after what it follows: that of a load.
  GeneratedPage shown = *this;
  shown.tasks = true;
  auto const load = simulate_load(shown, {}, 1, 0);
  struct Placed {
    std::int64_t start;
    int rank;  ///< a request, its task, a milestone
    int request;
    DependencyNode node;
  };
  std::vector<Placed> placed;
  auto const place_of = [&](const std::string& url, CallKind kind) {
    for (Call const& call : load.calls.calls) {
      auto const name = kind == CallKind::kTask ? call.attribute("url") : call.name;
      if (call.kind == kind && name == url) return call.start_us;
    }
    return std::int64_t{-1};
  };
  for (int i = 0; i < static_cast<int>(requests.size()); ++i) {
    auto const& url = requests[static_cast<std::size_t>(i)].url;
    placed.push_back({place_of(url, CallKind::kRequest), 0, i, {.name = url, .method = "GET"}});
    if (requests[static_cast<std::size_t>(i)].execution_ms == 0) continue;
    placed.push_back({place_of(url, CallKind::kTask),
                      1,
                      i,
                      {.kind = DependencyNodeKind::kTask, .name = "script", .url = url}});
  }
  for (std::size_t i = 0; i < kMilestones; ++i) {
    placed.push_back(
        {load.milestones[i].value_or(0),
         2,
         static_cast<int>(i),
         {.kind = DependencyNodeKind::kMilestone, .name = std::string(kMilestoneNames[i])}});
  }
  std::ranges::sort(placed, {}, [](const Placed& each) {
    return std::tuple(each.start, each.rank, each.request);
  });
  DependencyGraph graph;
  std::map<std::pair<int, int>, std::uint32_t> node_of;
  for (Placed const& each : placed) {
    node_of[{each.rank, each.request}] = static_cast<std::uint32_t>(graph.nodes.size());
    graph.nodes.push_back(each.node);
  }
  auto const add = [&](std::uint32_t from, std::uint32_t to) {
    graph.edges.push_back({.from = from, .to = to});
  };
  for (int i = 0; i < static_cast<int>(requests.size()); ++i) {
    auto const& asked = requests[static_cast<std::size_t>(i)];
    auto const to = node_of[{0, i}];
    for (int const k : asked.first_bytes) add(node_of[{0, k}], to);
    for (int const k : asked.ends) add(node_of[{0, k}], to);
    for (int const k : asked.executions) add(node_of[{1, k}], to);
    bool const blocks = asked.type == "Stylesheet" || i == 0 ||
                        (asked.type == "Script" && !asked.asynchronous && asked.initiator == 0);
    int const rank = asked.execution_ms > 0 ? 1 : 0;
    auto const milestone = [&](Milestone which) { return node_of[{2, static_cast<int>(which)}]; };
    if (blocks) add(node_of[{rank, i}], milestone(Milestone::kFirstContentfulPaint));
    if (holds_up_load(asked)) add(node_of[{rank, i}], milestone(Milestone::kLoadEvent));
    add(to, milestone(Milestone::kLastLoad));
    if (rank == 0) continue;
    add(to, node_of[{1, i}]);
    for (int const k : asked.execution_ends) add(node_of[{0, k}], node_of[{1, i}]);
    for (int const k : asked.execution_after) add(node_of[{1, k}], node_of[{1, i}]);
  }
  auto const largest_paint = node_of[{2, static_cast<int>(Milestone::kLargestContentfulPaint)}];
  add(node_of[{2, static_cast<int>(Milestone::kFirstContentfulPaint)}], largest_paint);
  if (largest >= 0) add(node_of[{0, largest}], largest_paint);
  sort_edges(graph.edges);
  return graph;
}

}  // namespace reprise
