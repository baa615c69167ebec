#include "analysis/service/service_load.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <queue>
#include <string>
#include <vector>

namespace reprise {
namespace {

/// Requests of each user that do not count: all begin at once.
constexpr std::uint64_t kFirstRequests = 3;
/// Work before a node, and a call, take a day at most: the sum of all is still a time.
constexpr std::int64_t kTimeMaxUs = 86'400'000'000;

class LoadSimulation {
 public:
  LoadSimulation(const ServiceLoad& load, const ChangedRequests& requests, std::mt19937_64& random)
      : load_(load),
        requests_(requests),
        graph_(requests.graph().graph),
        answer_(requests.graph().answer()),
        random_(random),
        users_(load.users),
        idle_(load.workers) {
    std::map<std::string, std::uint32_t> dependencies;
    for (std::uint32_t node = 0; node < answer_; ++node) {
      auto const& name = graph_.nodes[node].type;
      auto const [found, is_new] =
          dependencies.try_emplace(name, static_cast<std::uint32_t>(dependencies.size()));
      dependency_.push_back(found->second);
    }
    active_.resize(dependencies.size());
  }

  /// Returns the mean own work of a request.
  double run(const std::function<bool(std::size_t row, std::int64_t took_us)>& answered) {
    for (std::uint32_t user = 0; user < load_.users; ++user) begin(user);
    std::uint64_t done = 0;
    while (!events_.empty()) {
      auto const event = events_.top();
      events_.pop();
      now_us_ = event.at_us;
      User& user = users_[event.user];
      switch (event.kind) {
        case Kind::kWorked:
          ++idle_;
          work();
          break;
        case Kind::kStart:
          // Nothing waits for what was to begin after the answer.
          if (event.request != user.request) break;
          if (event.node != answer_) {
            call(event.user, event.node);
            break;
          }
          if (++done > kFirstRequests * load_.users &&
              !answered(user.row, now_us_ - user.began_us)) {
            return worked_us_ / static_cast<double>(done);
          }
          begin(event.user);
          break;
        case Kind::kEnd:
          --active_[dependency_[event.node]];
          // Of a request that was answered without it.
          if (event.request != user.request) break;
          user.ended[event.node] = true;
          continue_after(event.user);
          break;
      }
    }
    return 0;
  }

 private:
  enum class Kind : std::uint8_t { kWorked, kStart, kEnd };
  struct Event {
    std::int64_t at_us = 0;
    std::uint64_t number = 0;
    Kind kind = Kind::kWorked;
    std::uint32_t user = 0;
    std::uint32_t node = 0;
    std::uint64_t request = 0;

    bool operator>(const Event& other) const {
      return std::pair(at_us, number) > std::pair(other.at_us, other.number);
    }
  };
  /// Own work of a request, in the course of which nodes start.
  struct Job {
    std::uint32_t user = 0;
    std::uint64_t request = 0;
    std::vector<std::pair<std::int64_t, std::uint32_t>> starts;  ///< after so much work
  };
  struct User {
    std::size_t row = 0;
    std::uint64_t request = 0;
    std::int64_t began_us = 0;
    std::vector<bool> ready;  ///< of each node: it has started, or its work waits
    std::vector<bool> ended;
  };

  bool has(std::size_t row, std::uint32_t node) const {
    return node == answer_ || requests_[row].calls[node] != nullptr;
  }

  std::int64_t own_us(std::size_t row, std::uint32_t node) const {
    auto const own = static_cast<double>(std::max<std::int64_t>(requests_.own_us(row, node), 0));
    return std::llround(std::min(own * load_.work_factor * requests_.change().cpu,
                                 static_cast<double>(kTimeMaxUs)));
  }

  void begin(std::uint32_t place) {
    User& user = users_[place];
    user.row = random_() % requests_.size();
    user.request = ++requests_begun_;
    user.began_us = now_us_;
    user.ready.assign(answer_ + 1, false);
    user.ended.assign(answer_, false);
    continue_after(place);
  }

  /// Whether all that it waits for has ended, of alternatives one.
  bool can_start(const User& user, std::uint32_t node) const {
    auto const [begin, end] = graph_.edges_to(node);
    for (auto const* edge = begin; edge != end;) {
      auto const group = edge->alternative;
      bool any_there = false;
      bool any_ended = false;
      do {
        any_there = any_there || has(user.row, edge->from);
        any_ended = any_ended || user.ended[edge->from];
        ++edge;
      } while (edge != end && group != 0 && edge->alternative == group);
      if (any_there && !any_ended) return false;
    }
    return true;
  }

  /// The work for all nodes that can start now is one job.
  void continue_after(std::uint32_t place) {
    User& user = users_[place];
    Job job{.user = place, .request = user.request, .starts = {}};
    for (std::uint32_t node = 0; node <= answer_; ++node) {
      if (user.ready[node] || !has(user.row, node) || !can_start(user, node)) continue;
      user.ready[node] = true;
      job.starts.emplace_back(own_us(user.row, node), node);
    }
    if (job.starts.empty()) return;
    std::ranges::sort(job.starts);
    jobs_.push_back(std::move(job));
    work();
  }

  void work() {
    while (idle_ > 0 && !jobs_.empty()) {
      Job const job = std::move(jobs_.front());
      jobs_.pop_front();
      --idle_;
      worked_us_ += static_cast<double>(job.starts.back().first);
      for (auto const& [after_us, node] : job.starts) {
        add(now_us_ + after_us, Kind::kStart, job.user, node, job.request);
      }
      add(now_us_ + job.starts.back().first, Kind::kWorked, job.user, 0, job.request);
    }
  }

  void call(std::uint32_t place, std::uint32_t node) {
    User const& user = users_[place];
    auto const active = ++active_[dependency_[node]];
    auto const took = std::min(requests_.call_us(user.row, node, random_, active), kTimeMaxUs);
    add(now_us_ + took, Kind::kEnd, place, node, user.request);
  }

  void add(std::int64_t at_us, Kind kind, std::uint32_t user, std::uint32_t node,
           std::uint64_t request) {
    events_.push({at_us, ++events_made_, kind, user, node, request});
  }

  const ServiceLoad& load_;
  const ChangedRequests& requests_;
  const DependencyGraph& graph_;
  std::uint32_t answer_;
  std::mt19937_64& random_;
  std::vector<User> users_;
  std::uint32_t idle_;                     ///< workers
  std::vector<std::uint32_t> dependency_;  ///< of each node
  std::vector<std::uint32_t> active_;      ///< calls, of each dependency
  std::deque<Job> jobs_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::int64_t now_us_ = 0;
  double worked_us_ = 0;
  std::uint64_t events_made_ = 0;
  std::uint64_t requests_begun_ = 0;
};

}  // namespace

double ServiceLoad::run(
    const ChangedRequests& requests, std::mt19937_64& random,
    const std::function<bool(std::size_t row, std::int64_t took_us)>& answered) const {
  return LoadSimulation(*this, requests, random).run(answered);
}

}  // namespace reprise
