#pragma once

// Traces in coroutines: the place of a trace is kept while a coroutine is suspended.
//
//   Task<Response> handle(Request request) {
//     trench::Trace trace;
//     trench::At at(trace);
//     auto row = co_await trench::carry(database.query(text));

#include <coroutine>
#include <type_traits>
#include <utility>

#include "emitters/cpp/trench.h"

namespace trench {

/// The awaiter of `carry`.
template <class Awaitable>
class Carried {
  static decltype(auto) awaiter_of(Awaitable& awaitable) {
    if constexpr (requires { std::forward<Awaitable>(awaitable).operator co_await(); }) {
      return std::forward<Awaitable>(awaitable).operator co_await();
    } else if constexpr (requires { operator co_await(std::forward<Awaitable>(awaitable)); }) {
      return operator co_await(std::forward<Awaitable>(awaitable));
    } else {
      return static_cast<Awaitable&>(awaitable);
    }
  }
  /// What it awaits starts now, as a part of this call, if it is a coroutine itself.
  static constexpr bool kStartsCoroutine =
      requires { typename std::remove_cvref_t<Awaitable>::promise_type; };

 public:
  explicit Carried(Awaitable&& awaitable)
      : awaitable_(std::forward<Awaitable>(awaitable)), awaiter_(awaiter_of(awaitable_)) {}
  Carried(const Carried&) = delete;
  Carried& operator=(const Carried&) = delete;

  bool await_ready() { return awaiter_.await_ready(); }

  template <class Promise>
  auto await_suspend(std::coroutine_handle<Promise> handle) {
    // Once it is suspended, another thread may resume it and end this awaiter.
    place_ = current;
    suspended_ = true;
    if (place_.trace != nullptr) place_.trace->suspended();
    if constexpr (!kStartsCoroutine) current = {};
    return awaiter_.await_suspend(handle);
  }

  decltype(auto) await_resume() {
    if (suspended_) current = place_;
    return awaiter_.await_resume();
  }

 private:
  Awaitable awaitable_;
  decltype(awaiter_of(std::declval<Awaitable&>())) awaiter_;
  Place place_;
  bool suspended_ = false;
};

/// `co_await trench::carry(x)` is `co_await x`, and then continues at the same place of the trace,
/// on whatever thread. Until then, the thread that it leaves works for no trace. If x is a
/// coroutine, it starts at this place; inside, it has to carry what it awaits, too.
template <class Awaitable>
Carried<Awaitable> carry(Awaitable&& awaitable) {
  return Carried<Awaitable>(std::forward<Awaitable>(awaitable));
}

}  // namespace trench
