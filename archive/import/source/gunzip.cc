// gzip. libdeflate is twice as fast as zlib, but it wants a member as a whole. The members of a
// .warc.gz are single records, and most are small; what is larger goes through zlib in pieces.

#include <libdeflate.h>

#include <utility>

#include "archive/import/source/inflate_step.h"

namespace reprise::importing {
namespace {

constexpr std::size_t kMemberBytesMax = 1 << 20;
constexpr std::size_t kPlainBytesMax = 4 << 20;

struct FreeDecompressor {
  void operator()(libdeflate_decompressor* decompressor) const {
    ::libdeflate_free_decompressor(decompressor);
  }
};

class Gunzip final : public Decompressor {
 public:
  explicit Gunzip(std::unique_ptr<ByteSource> from)
      : Decompressor(std::move(from), kMemberBytesMax),
        whole_(::libdeflate_alloc_decompressor()),
        plain_(std::make_unique_for_overwrite<char[]>(kPlainBytesMax)) {
    ::inflateInit2(&stream_, 15 + 16);
  }
  ~Gunzip() override { ::inflateEnd(&stream_); }
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;

  /// At the next member. One that the broken one ran into is found, too, as far as it is held.
  bool resume() override {
    auto const damage = std::exchange(fault_, std::nullopt);
    if (!damage->system) {
      auto const taken = std::exchange(taken_of_member_, 0);
      put_back(taken);
      if (taken > 0) take(1);
      inside_member_ = false;
      if (seek(kMemberMagic)) return true;
    }
    fault_ = damage;
    return false;
  }

  std::size_t read(std::span<char> into) override {
    while (!fault_) {
      if (plain_at_ < plain_end_) return copy_plain(into);
      bool const is_fresh = held().empty();
      if (!refill()) {
        if (inside_member_) bad("the compressed data end too early");
        note_padding();
        return 0;
      }
      if (is_fresh) taken_of_member_ = 0;
      if (!inside_member_) {
        begin_member();
      } else if (auto const given = inflate_piece(into); given > 0) {
        return give(given);
      }
    }
    return 0;
  }

 private:
  static constexpr std::string_view kMemberMagic = "\x1f\x8b\x08";

  std::size_t copy_plain(std::span<char> into) {
    auto const size = std::min(into.size(), plain_end_ - plain_at_);
    std::memcpy(into.data(), plain_.get() + plain_at_, size);
    plain_at_ += size;
    return size;
  }

  /// Either what lies here is padding, or a member, whole or about to be inflated.
  void begin_member() {
    taken_of_member_ = 0;
    auto const in = held();
    auto const zeros = std::min(in.find_first_not_of('\0'), in.size());
    if (zeros > 0) {
      padding_ += zeros;
      return take(zeros);
    }
    if (padding_ > 0) {
      // Padding stands at the end; in the middle something was there.
      return bad(std::to_string(std::exchange(padding_, 0)) +
                 " zero bytes before the first gzip member");
    }
    if (in.front() != '\x1f') return bad("data after a gzip member is not a gzip member");
    if (take_whole_member()) return;
    inside_member_ = true;
    ::inflateReset(&stream_);
  }

  void note_padding() {
    if (padding_ == 0 || fault_) return;
    remark_ =
        std::to_string(padding_) + " zero bytes follow the last gzip member: padding, or lost data";
  }

  /// False when it is too large for that, or broken: zlib finds out where.
  bool take_whole_member() {
    if (whole_ == nullptr) return false;
    if (take_held_member()) return true;
    // Perhaps its end is only not held yet.
    return fill_up() && take_held_member();
  }

  bool take_held_member() {
    auto const in = held();
    std::size_t taken = 0;
    std::size_t given = 0;
    auto const result = ::libdeflate_gzip_decompress_ex(
        whole_.get(), in.data(), in.size(), plain_.get(), kPlainBytesMax, &taken, &given);
    if (result != LIBDEFLATE_SUCCESS) return false;
    take(taken);
    plain_at_ = 0;
    plain_end_ = give(given);
    return true;
  }

  std::size_t inflate_piece(std::span<char> into) {
    auto const step = inflate_step(stream_, held(), into);
    take(step.taken);
    taken_of_member_ += step.taken;
    inside_member_ = step.code != Z_STREAM_END;
    if (inside_member_ && step.code != Z_OK && step.code != Z_BUF_ERROR) bad(broken_text(stream_));
    return step.given;
  }

  std::unique_ptr<libdeflate_decompressor, FreeDecompressor> whole_;
  std::unique_ptr<char[]> plain_;  ///< a member
  std::size_t plain_at_ = 0;
  std::size_t plain_end_ = 0;
  z_stream stream_{};
  bool inside_member_ = false;
  std::size_t taken_of_member_ = 0;  ///< of the one that is inflated, as far as it is still held
  std::size_t padding_ = 0;
};

}  // namespace

std::unique_ptr<ByteSource> make_gunzip(std::unique_ptr<ByteSource> from) {
  return std::make_unique<Gunzip>(std::move(from));
}

}  // namespace reprise::importing
