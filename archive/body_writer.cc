#include <algorithm>
#include <utility>

#include "archive/codec.h"
#include "archive/writer_state.h"
#include "base/http/digest.h"

namespace reprise {

struct BodyWriter::State {
  explicit State(ArchiveWriter::State& to) : archive(to) {}
  ~State() { archive.held_bytes -= held.size(); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  bool may_hold(std::size_t more) const {
    return archive.held_bytes + more <= ArchiveWriter::kHeldBodyBytesMax;
  }
  void hold(Bytes bytes);
  void release();
  Result<void> write_chunk(Bytes more);
  Result<void> spill(Bytes bytes);

  ArchiveWriter::State& archive;
  Digester digester;
  std::uint64_t size_bytes = 0;
  std::vector<std::byte> held;  ///< all of a small body, the newest bytes of a large one
  std::vector<Extent> extents;  ///< not empty: the body is large, and these were written
  std::error_code failure;      ///< the body is lost
};

void BodyWriter::State::hold(Bytes bytes) {
  held.insert(held.end(), bytes.begin(), bytes.end());
  archive.held_bytes += bytes.size();
}

void BodyWriter::State::release() {
  archive.held_bytes -= held.size();
  held.clear();
}

/// Writes the held bytes, and `more`, as one chunk.
Result<void> BodyWriter::State::write_chunk(Bytes more) {
  if (extents.size() == kExtentsMax) return fail(archive_errc::too_large);
  // The body's id is the offset of its first chunk: unique in the file, and known to every
  // reference.
  auto const id = extents.empty() ? archive.file.size_bytes() : extents.front().record_offset;
  std::array<std::byte, kChunkPrefixBytes> prefix{};
  store_u64(prefix.data(), id);
  store_u64(prefix.data() + 8, extents.size());
  auto const offset =
      archive.file.append({.kind = RecordKind::kChunk, .pieces = {prefix, held, more}});
  if (!offset) return fail(offset.error());
  extents.push_back({.record_offset = *offset, .size_bytes = held.size() + more.size()});
  release();
  return {};
}

/// Adds bytes of a body that cannot be held whole.
Result<void> BodyWriter::State::spill(Bytes bytes) {
  constexpr auto kChunk = ArchiveWriter::kChunkBytes;
  if (held.size() > kChunk) {
    auto const whole = std::exchange(held, {});
    archive.held_bytes -= whole.size();
    // In this order, so that an error leaves no bytes counted as held.
    if (auto spilt = spill(whole); !spilt) return spilt;
  }
  while (held.size() + bytes.size() >= kChunk) {
    auto const taken = bytes.first(kChunk - held.size());
    if (auto written = write_chunk(taken); !written) return written;
    bytes = bytes.subspan(taken.size());
  }
  if (may_hold(bytes.size())) {
    hold(bytes);
    return {};
  }
  // So many bodies arrive at once that not even part of a chunk may be held.
  return bytes.empty() && held.empty() ? Result<void>() : write_chunk(bytes);
}

BodyWriter::BodyWriter(ArchiveWriter& writer) : state_(std::make_unique<State>(*writer.state_)) {}
BodyWriter::~BodyWriter() = default;
BodyWriter::BodyWriter(BodyWriter&&) noexcept = default;

std::uint64_t BodyWriter::size_bytes() const {
  return state_->size_bytes;
}

Result<void> BodyWriter::append(std::span<const std::byte> bytes) {
  auto& state = *state_;
  if (state.failure) return fail(state.failure);
  state.digester.update(bytes);
  state.size_bytes += bytes.size();
  if (state.extents.empty() && state.may_hold(bytes.size()) &&
      state.held.size() + bytes.size() <= ArchiveWriter::kSmallBodyBytesMax) {
    state.hold(bytes);
    return {};
  }
  if (auto spilt = state.spill(bytes); !spilt) {
    state.release();
    state.failure = spilt.error();
    return spilt;
  }
  return {};
}

Result<StoredBody> BodyWriter::finish() {
  auto& state = *state_;
  if (state.failure) return fail(state.failure);
  state.failure = std::make_error_code(std::errc::invalid_argument);
  if (state.size_bytes == 0) return StoredBody{};
  StoredBody body{.size_bytes = state.size_bytes, .digest = state.digester.finish(), .extents = {}};
  if (auto const* stored = state.archive.find_body(body.digest, body.size_bytes)) {
    state.release();
    return *stored;
  }
  Result<void> written;
  if (!state.extents.empty()) {
    if (!state.held.empty()) written = state.write_chunk({});
  } else {
    auto const offset =
        state.archive.file.append({.kind = RecordKind::kBody, .pieces = {body.digest, state.held}});
    if (offset) {
      state.extents = {{.record_offset = *offset, .size_bytes = state.size_bytes}};
    } else {
      written = fail(offset.error());
    }
  }
  state.release();
  if (!written) return fail(written.error());
  body.extents = std::move(state.extents);
  state.archive.bodies.insert_or_assign(
      body.digest, ArchiveWriter::State::KnownBody{.body = body, .checked = true});
  return body;
}

}  // namespace reprise
