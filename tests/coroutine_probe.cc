// Run by CMake at configure time, under AddressSanitizer. Passes an aggregate with a string member
// in place inside a co_await expression: g++ 12.2 bitwise-copies the temporary into the coroutine
// frame and destroys it twice, which ends here as a double free or a wrong length.

#include <coroutine>
#include <exception>
#include <string>
#include <utility>

namespace {

struct Task {
  struct promise_type {
    int value = 0;
    std::coroutine_handle<> waiter = std::noop_coroutine();
    Task get_return_object() {
      return Task{std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    struct Final {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> done) noexcept {
        return done.promise().waiter;
      }
      void await_resume() noexcept {}
    };
    Final final_suspend() noexcept { return {}; }
    void return_value(int result) { value = result; }
    void unhandled_exception() { std::terminate(); }
  };

  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  ~Task() {
    if (handle_) handle_.destroy();
  }
  bool await_ready() const { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiter) {
    handle_.promise().waiter = waiter;
    return handle_;
  }
  int await_resume() { return handle_.promise().value; }
  int run() {
    handle_.resume();
    return handle_.promise().value;
  }

 private:
  std::coroutine_handle<promise_type> handle_;
};

struct Named {
  std::string name;
  int number;
};

Task length(Named named) {
  co_return static_cast<int>(named.name.size()) + named.number;
}

Task sum() {
  int total = 0;
  for (int i = 0; i < 3; ++i) {
    total += co_await length({.name = std::string(100, 'x'), .number = i});
    auto owned = std::string(50, 'y');
    total += co_await [copy = owned]() -> Task { co_return static_cast<int>(copy.size()); }();
  }
  co_return total;
}

}  // namespace

int main() {
  return sum().run() == 3 * 100 + 3 + 3 * 50 ? 0 : 1;
}
