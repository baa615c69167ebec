#include "base/coding/inflation.h"

#include <libdeflate.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <limits>

#include "base/invariant.h"

namespace reprise::coding {

struct Inflation::State {
  z_stream stream{};
  bool ends_before_trailer = false;
  ~State() { ::inflateEnd(&stream); }
};

Inflation::Inflation(Format format) : state_(std::make_unique<State>()) {
  // zlib's window bits also select the format.
  int const bits = format == Format::kZlib ? 15 : format == Format::kRaw ? -15 : 15 + 16;
  invariant(::inflateInit2(&state_->stream, bits) == Z_OK, "zlib has no memory");
  state_->ends_before_trailer = format == Format::kGzipData;
}
Inflation::~Inflation() = default;
Inflation::Inflation(Inflation&&) noexcept = default;

InflationStep Inflation::step(Bytes in, std::span<std::byte> room) {
  constexpr std::size_t kPieceBytesMax = std::numeric_limits<unsigned>::max();
  in = in.first(std::min(in.size(), kPieceBytesMax));
  room = room.first(std::min(room.size(), kPieceBytesMax));
  auto& stream = state_->stream;
  stream.next_in = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(in.data()));
  stream.avail_in = static_cast<unsigned>(in.size());
  stream.next_out = reinterpret_cast<unsigned char*>(room.data());
  stream.avail_out = static_cast<unsigned>(room.size());
  // With Z_BLOCK, zlib stops after each block: also after the last, before it reads the trailer.
  // zlib.h: in data_type, 64 stands for the last block, and 128 for the end of a block.
  constexpr int kEndOfLastBlock = 64 + 128;
  bool data_ended = false;
  int code = Z_OK;
  do {
    code = ::inflate(&stream, state_->ends_before_trailer ? Z_BLOCK : Z_NO_FLUSH);
    data_ended =
        state_->ends_before_trailer && (stream.data_type & kEndOfLastBlock) == kEndOfLastBlock;
  } while (code == Z_OK && !data_ended && stream.avail_in > 0 && stream.avail_out > 0);
  InflationStep step{.taken = in.size() - stream.avail_in, .given = room.size() - stream.avail_out};
  if (code == Z_STREAM_END || data_ended) {
    step.state = InflationStep::State::kEnded;
  } else if (code != Z_OK && code != Z_BUF_ERROR) {
    step.state = InflationStep::State::kBroken;
  }
  return step;
}

void Inflation::restart() {
  ::inflateReset(&state_->stream);
}

std::string Inflation::problem() const {
  auto const* const message = state_->stream.msg;
  return message == nullptr ? "broken compressed data"
                            : std::string("broken compressed data: ") + message;
}

struct WholeGunzip::State {
  libdeflate_decompressor* decompressor = ::libdeflate_alloc_decompressor();
  ~State() { ::libdeflate_free_decompressor(decompressor); }
};

WholeGunzip::WholeGunzip() : state_(std::make_unique<State>()) {
  invariant(state_->decompressor != nullptr, "libdeflate has no memory");
}
WholeGunzip::~WholeGunzip() = default;
WholeGunzip::WholeGunzip(WholeGunzip&&) noexcept = default;

std::optional<WholeGunzip::Sizes> WholeGunzip::decode(Bytes in, std::span<std::byte> room) {
  Sizes sizes;
  auto const result =
      ::libdeflate_gzip_decompress_ex(state_->decompressor, in.data(), in.size(), room.data(),
                                      room.size(), &sizes.taken, &sizes.given);
  return result == LIBDEFLATE_SUCCESS ? std::optional(sizes) : std::nullopt;
}

struct ZstdInflation::State {
  ZSTD_DCtx* context = ::ZSTD_createDCtx();
  ~State() { ::ZSTD_freeDCtx(context); }
};

ZstdInflation::ZstdInflation(int window_log_max) : state_(std::make_unique<State>()) {
  invariant(state_->context != nullptr, "zstd has no memory");
  if (window_log_max > 0) {
    ::ZSTD_DCtx_setParameter(state_->context, ZSTD_d_windowLogMax, window_log_max);
  }
}
ZstdInflation::~ZstdInflation() = default;
ZstdInflation::ZstdInflation(ZstdInflation&&) noexcept = default;

InflationStep ZstdInflation::step(Bytes in, std::span<std::byte> room) {
  ZSTD_inBuffer input{.src = in.data(), .size = in.size(), .pos = 0};
  ZSTD_outBuffer output{.dst = room.data(), .size = room.size(), .pos = 0};
  auto const code = ::ZSTD_decompressStream(state_->context, &output, &input);
  InflationStep step{.taken = input.pos, .given = output.pos};
  if (::ZSTD_isError(code) != 0) {
    step.state = InflationStep::State::kBroken;
    problem_ = std::string("broken compressed data: ") + ::ZSTD_getErrorName(code);
  } else if (code == 0) {
    step.state = InflationStep::State::kEnded;
  }
  return step;
}

void ZstdInflation::restart() {
  ::ZSTD_DCtx_reset(state_->context, ZSTD_reset_session_only);
}

bool ZstdInflation::use_dictionary(Bytes dictionary) {
  auto const code =
      ::ZSTD_DCtx_loadDictionary(state_->context, dictionary.data(), dictionary.size());
  return ::ZSTD_isError(code) == 0;
}

}  // namespace reprise::coding
