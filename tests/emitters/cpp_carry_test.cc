// Traces of the C++ emitter in coroutines.
#include "emitters/cpp/trench_carry.h"

#include <gtest/gtest.h>

#include <coroutine>
#include <exception>
#include <thread>
#include <utility>

namespace reprise {
namespace {

using trench::At;
using trench::carry;
using trench::Place;
using trench::Trace;

/// A coroutine that begins when it is awaited, or by start().
class Task {
 public:
  struct promise_type {
    struct Final {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> self) noexcept {
        return self.promise().next;
      }
      void await_resume() noexcept {}
    };
    Task get_return_object() {
      return Task(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() { return {}; }
    Final final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }

    std::coroutine_handle<> next = std::noop_coroutine();
  };

  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (handle_) handle_.destroy();
  }

  void start() { handle_.resume(); }
  bool done() const { return handle_.done(); }

  bool await_ready() const { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> next) {
    handle_.promise().next = next;
    return handle_;
  }
  void await_resume() const {}

 private:
  std::coroutine_handle<promise_type> handle_;
};

/// What a coroutine waits for until the test says.
struct Signal {
  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> handle) { waiting = handle; }
  int await_resume() const { return 7; }
  void set() { std::exchange(waiting, nullptr).resume(); }

  std::coroutine_handle<> waiting;
};

/// "(a(b)(c))": the calls and who called them.
std::string shape_of(const Trace& trace) {
  auto const content = trace.content();
  std::string out;
  auto const add = [&](auto& self, std::uint32_t caller) -> void {
    for (std::uint32_t i = 0; i < content.nodes.size(); ++i) {
      if (content.nodes[i].caller != caller) continue;
      out += "(" + content.points[content.nodes[i].point].method;
      self(self, i);
      out += ")";
    }
  };
  add(add, Trace::kNone);
  return out;
}

Task query(Signal& signal) {
  TRENCH_SCOPE("", "query");
  EXPECT_EQ(co_await carry(signal), 7);
  TRENCH_SCOPE("", "parse");
}

Task request(Trace& trace, Signal& signal) {
  At const at(trace);
  TRENCH_SCOPE("", "request");
  co_await carry(query(signal));
  TRENCH_SCOPE("", "render");
}

TEST(CppCarry, KeepsThePlaceOverASuspension) {
  Trace trace;
  Signal signal;
  auto task = request(trace, signal);
  task.start();
  EXPECT_EQ(trench::current.trace, nullptr);
  signal.set();
  EXPECT_TRUE(task.done());
  EXPECT_EQ(trench::current.trace, nullptr);
  EXPECT_EQ(shape_of(trace), "(request(query(parse))(render))");
}

TEST(CppCarry, KeepsRequestsOfOneThreadApart) {
  Trace first, second;
  Signal first_signal, second_signal;
  auto first_task = request(first, first_signal);
  auto second_task = request(second, second_signal);
  first_task.start();
  second_task.start();
  first_signal.set();
  second_signal.set();
  EXPECT_EQ(trench::current.trace, nullptr);
  EXPECT_EQ(shape_of(first), "(request(query(parse))(render))");
  EXPECT_EQ(shape_of(second), "(request(query(parse))(render))");
}

TEST(CppCarry, FollowsACoroutineToAnotherThread) {
  Trace trace;
  Signal signal;
  auto task = request(trace, signal);
  task.start();
  std::thread([&] {
    signal.set();
    EXPECT_EQ(trench::current.trace, nullptr);
  }).join();
  EXPECT_EQ(shape_of(trace), "(request(query(parse))(render))");
}

Task part(Place place, Signal& signal) {
  At const at(place);
  co_await carry(query(signal));
}

Task request_in_parts(Trace& trace, Signal& first, Signal& second, Signal& end) {
  At const at(trace);
  TRENCH_SCOPE("", "request");
  auto one = part(trench::current, first);
  auto other = part(trench::current, second);
  trench::trace("start", [&] {
    one.start();
    other.start();
  });
  trench::trace("between", [] {});
  co_await carry(end);
  TRENCH_SCOPE("", "render");
}

TEST(CppCarry, BeginsPartsThatRunSideBySideWhereTheyAreStarted) {
  Trace trace;
  Signal first, second, end;
  auto task = request_in_parts(trace, first, second, end);
  task.start();
  second.set();
  first.set();
  EXPECT_EQ(trench::current.trace, nullptr);
  end.set();
  EXPECT_TRUE(task.done());
  EXPECT_EQ(trench::current.trace, nullptr);
  EXPECT_EQ(shape_of(trace), "(request(start)(query(parse))(between)(render))");
}

TEST(CppCarry, CarriesNothingWithoutATrace) {
  Signal signal;
  auto task = query(signal);
  task.start();
  Trace trace;
  At const at(trace);
  signal.set();  // Resumed by a thread that works for a trace: that is not the coroutine's.
  EXPECT_TRUE(task.done());
  EXPECT_EQ(shape_of(trace), "");
}

}  // namespace
}  // namespace reprise
