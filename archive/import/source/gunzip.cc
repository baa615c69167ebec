// gzip. libdeflate is twice as fast as zlib, but needs a complete member. The members of a .warc.gz
// are single records, most of them small; larger ones go through zlib in pieces.

#include <utility>

#include "archive/import/source/decompressor.h"
#include "base/bytes.h"
#include "base/coding/inflation.h"
#include "base/text/counted.h"

namespace reprise::importing {
namespace {

constexpr std::size_t kMemberBytesMax = 1 << 20;
constexpr std::size_t kPlainBytesMax = 4 << 20;

class Gunzip final : public Decompressor {
 public:
  explicit Gunzip(std::unique_ptr<ByteSource> from)
      : Decompressor(std::move(from), kMemberBytesMax),
        plain_(std::make_unique_for_overwrite<char[]>(kPlainBytesMax)) {}

  /// Continues at the next member, even one within the broken member, if still buffered.
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
      if (plain_at_ < plain_end_) {
        begins_part_ = std::exchange(is_new_, false);
        return copy_plain(into);
      }
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
        begins_part_ = std::exchange(is_new_, false);
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

  /// The bytes here are padding or a member, complete or about to be inflated.
  void begin_member() {
    taken_of_member_ = 0;
    auto const in = held();
    auto const zeros = std::min(in.find_first_not_of('\0'), in.size());
    if (zeros > 0) {
      padding_ += zeros;
      return take(zeros);
    }
    if (padding_ > 0) {
      // Padding belongs at the end; in the middle it replaced data.
      return bad(counted(std::exchange(padding_, 0), "zero byte") +
                 " before the first gzip member");
    }
    if (in.front() != '\x1f') return bad("data after a gzip member is not a gzip member");
    is_new_ = true;
    if (take_whole_member()) return;
    inside_member_ = true;
    inflation_.restart();
  }

  void note_padding() {
    if (padding_ == 0 || fault_) return;
    remark_ = counted(padding_, "zero byte follows", "zero bytes follow") +
              " the last gzip member: padding, or lost data";
  }

  /// False if it is too large for that, or broken: zlib finds out where.
  bool take_whole_member() {
    if (take_held_member()) return true;
    // Perhaps its end is just not buffered yet.
    return fill_up() && take_held_member();
  }

  bool take_held_member() {
    auto const room = std::as_writable_bytes(std::span(plain_.get(), kPlainBytesMax));
    auto const sizes = whole_.decode(bytes_of(held()), room);
    if (!sizes) return false;
    take(sizes->taken);
    plain_at_ = 0;
    plain_end_ = give(sizes->given);
    return true;
  }

  std::size_t inflate_piece(std::span<char> into) {
    auto const step = inflation_.step(bytes_of(held()), std::as_writable_bytes(into));
    take(step.taken);
    taken_of_member_ += step.taken;
    inside_member_ = step.state != coding::InflationStep::State::kEnded;
    if (step.state == coding::InflationStep::State::kBroken) bad(inflation_.problem());
    return step.given;
  }

  coding::WholeGunzip whole_;
  std::unique_ptr<char[]> plain_;  ///< of one member
  std::size_t plain_at_ = 0;
  std::size_t plain_end_ = 0;
  coding::Inflation inflation_{coding::Inflation::Format::kGzip};
  bool inside_member_ = false;
  bool is_new_ = false;              ///< no byte of the member was read yet
  std::size_t taken_of_member_ = 0;  ///< of the member being inflated, while still buffered
  std::size_t padding_ = 0;
};

}  // namespace

std::unique_ptr<ByteSource> make_gunzip(std::unique_ptr<ByteSource> from) {
  return std::make_unique<Gunzip>(std::move(from));
}

}  // namespace reprise::importing
