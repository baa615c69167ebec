#include "shaper/stream/stream_questions.h"

#include <utility>

namespace reprise {

void StreamQuestions::take_in(int socket, Time now) {
  for (std::size_t i = 0; i < kMax; ++i) {
    auto question = Datagram::receive(socket);
    if (!question) return;
    if (under_way_.size() >= kMax) continue;
    auto const id = ++count_;
    auto const size = static_cast<std::uint32_t>(question->bytes().size());
    under_way_.emplace(id,
                       UnderWay{.socket = socket, .question = std::move(*question), .answer = {}});
    network_.send_datagram(id, Direction::up, size, now);
  }
}

std::optional<StreamQuestion> StreamQuestions::on_event(const StreamEvent& event) {
  auto const found = under_way_.find(event.id);
  if (found == under_way_.end()) return std::nullopt;
  auto const& [socket, question, answer] = found->second;
  bool const arrived = event.kind == StreamEvent::Kind::datagram;
  if (arrived && event.direction == Direction::up) {
    return StreamQuestion{.id = event.id,
                          .bytes = {question.bytes().begin(), question.bytes().end()}};
  }
  if (arrived) question.answer(socket, answer);
  under_way_.erase(found);
  return std::nullopt;
}

void StreamQuestions::answer(std::uint64_t id, std::vector<std::byte> bytes, Time now) {
  auto const found = under_way_.find(id);
  if (found == under_way_.end()) return;
  if (bytes.empty()) {
    under_way_.erase(found);
    return;
  }
  auto const size = static_cast<std::uint32_t>(bytes.size());
  found->second.answer = std::move(bytes);
  network_.send_datagram(id, Direction::down, size, now);
}

}  // namespace reprise
