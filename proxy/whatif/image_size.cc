#include "proxy/whatif/image_size.h"

#include <zlib.h>
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <functional>

#include "base/bytes.h"
#include "base/http/media_type.h"
#include "base/system/private_folder.h"
#include "base/system/program.h"
#include "base/system/text_file.h"

namespace reprise::whatif {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kPatience{60};
constexpr std::uintmax_t kImageBytesMax = 64 << 20;

struct Format {
  std::string_view media_type;
  std::string_view suffix;
};
constexpr std::array<Format, 4> kFormats{{{"image/jpeg", ".jpg"},
                                          {"image/png", ".png"},
                                          {"image/webp", ".webp"},
                                          {"image/avif", ".avif"}}};

/// Whether it begins like an image of its type. vips would read other formats, too, some of which
/// can name files and URLs to include.
bool is_of_its_type(const coding::Buffer& image, std::string_view media_type) {
  auto const text = text_of(image);
  if (media_type == "image/jpeg") return text.starts_with("\xff\xd8\xff");
  if (media_type == "image/png") return text.starts_with("\x89PNG\r\n\x1a\n");
  if (text.size() < 12) return false;
  if (media_type == "image/webp") return text.starts_with("RIFF") && text.substr(8, 4) == "WEBP";
  auto const type = text.substr(4, 8);
  return type == "ftypavif" || type == "ftypavis" || type == "ftypmif1";
}

/// A folder for one image and its encodings, removed with this.
class Workshop {
 public:
  static Result<Workshop> open() {
    auto folder = PrivateFolder::make("reprise-image-");
    if (!folder) return fail(folder.error());
    return Workshop(std::move(*folder));
  }

  bool put(const coding::Buffer& image) const {
    std::ofstream file(folder_.path() / "in", std::ios::binary);
    auto const text = text_of(image);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    return file.good();
  }

  /// The image, encoded as vips' options in brackets say. The error is its message.
  std::expected<std::string, std::string> encode(const fs::path& vips, std::string_view suffix,
                                                 const std::string& options) const {
    auto const out = (folder_.path() / "out").concat(suffix);
    auto const to = out.string() + "[" + options + "]";
    auto const ran = run_program(vips, {"copy", folder_.path() / "in", to}, kPatience);
    if (!ran) return std::unexpected("vips: " + ran.error().message());
    if (ran->exit_code != 0) {
      return std::unexpected("vips cannot encode it: " + ran->output.substr(0, 200));
    }
    auto text = read_text_file(out, kImageBytesMax);
    if (!text) return std::unexpected("vips: " + text.error().message());
    return std::move(*text);
  }

 private:
  explicit Workshop(PrivateFolder folder) : folder_(std::move(folder)) {}
  PrivateFolder folder_;
};

using Encode = std::function<std::expected<std::string, std::string>(const std::string& options)>;
using Encoded = std::expected<std::string, std::string>;

std::unexpected<std::string> too_small() {
  return std::unexpected(std::string("with its dimensions it cannot be as small"));
}

/// The best quality of at most `most` bytes.
Encoded encode_by_quality(const Encode& encode, std::size_t most) {
  Encoded best = too_small();
  int low = 1;
  int high = 100;
  while (low <= high) {
    int const quality = (low + high) / 2;
    auto encoded = encode("Q=" + std::to_string(quality));
    if (!encoded) return encoded;
    if (encoded->size() <= most) {
      best = std::move(encoded);
      low = quality + 1;
    } else {
      high = quality - 1;
    }
  }
  return best;
}

/// PNG has no quality: fewer and fewer colours.
Encoded encode_png(const Encode& encode, std::size_t most) {
  constexpr std::array<const char*, 9> kSmallerAndSmaller{"compression=9",
                                                          "compression=9,palette,bitdepth=8,Q=100",
                                                          "compression=9,palette,bitdepth=8,Q=25",
                                                          "compression=9,palette,bitdepth=8,Q=10",
                                                          "compression=9,palette,bitdepth=8,Q=5",
                                                          "compression=9,palette,bitdepth=8,Q=1",
                                                          "compression=9,palette,bitdepth=4",
                                                          "compression=9,palette,bitdepth=2",
                                                          "compression=9,palette,bitdepth=1"};
  for (const char* const options : kSmallerAndSmaller) {
    auto encoded = encode(options);
    if (!encoded || encoded->size() <= most) return encoded;
  }
  return too_small();
}

void put_big_endian(coding::Buffer& out, std::uint64_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) out.push_back(static_cast<std::byte>(value >> (8 * i)));
}

void put_text(coding::Buffer& out, std::string_view text) {
  auto const bytes = bytes_of(text);
  out.insert(out.end(), bytes.begin(), bytes.end());
}

bool fill_jpeg(coding::Buffer& image, std::size_t by) {
  constexpr std::size_t kHead = 4;  // marker and length
  constexpr std::size_t kSegmentMax = 65'535 + 2;
  if (by < kHead || !text_of(image).starts_with("\xff\xd8")) return false;
  coding::Buffer comments;
  while (by > 0) {
    auto segment = std::min(by, kSegmentMax);
    if (by > segment && by - segment < kHead) segment -= kHead;  // room for one more
    put_text(comments, "\xff\xfe");
    put_big_endian(comments, segment - 2, 2);
    comments.resize(comments.size() + segment - kHead);
    by -= segment;
  }
  image.insert(image.begin() + 2, comments.begin(), comments.end());
  return true;
}

bool fill_png(coding::Buffer& image, std::size_t by) {
  constexpr std::size_t kAround = 12;  // length, type, checksum
  constexpr std::string_view kEnd("\0\0\0\0IEND\xae\x42\x60\x82", 12);
  if (by < kAround || !text_of(image).ends_with(kEnd)) return false;
  coding::Buffer chunk;
  put_big_endian(chunk, by - kAround, 4);
  put_text(chunk, "fiLl");  // ancillary, private, safe to copy
  chunk.resize(chunk.size() + by - kAround);
  auto const summed = std::span(chunk).subspan(4);
  auto const crc =
      ::crc32(0, reinterpret_cast<const Bytef*>(summed.data()), static_cast<uInt>(summed.size()));
  put_big_endian(chunk, crc, 4);
  image.insert(image.end() - static_cast<std::ptrdiff_t>(kEnd.size()), chunk.begin(), chunk.end());
  return true;
}

bool fill_webp(coding::Buffer& image, std::size_t by) {
  constexpr std::size_t kHead = 8;
  auto const text = text_of(image);
  bool const is_riff = text.starts_with("RIFF") && text.size() % 2 == 0;
  if (by < kHead || by % 2 != 0 || !is_riff) return false;
  put_text(image, "fill");
  for (int i = 0; i < 4; ++i) {
    image.push_back(static_cast<std::byte>((by - kHead) >> (8 * i)));
  }
  image.resize(image.size() + by - kHead);
  for (std::size_t i = 0; i < 4; ++i) {
    image[4 + i] = static_cast<std::byte>((image.size() - kHead) >> (8 * i));
  }
  return true;
}

bool fill_avif(coding::Buffer& image, std::size_t by) {
  constexpr std::size_t kHead = 8;
  if (by < kHead) return false;
  put_big_endian(image, by, 4);
  put_text(image, "free");
  image.resize(image.size() + by - kHead);
  return true;
}

}  // namespace

bool fill_image(coding::Buffer& image, std::string_view media_type, std::size_t by) {
  if (by == 0) return true;
  if (by > kImageBytesMax) return false;
  if (media_type == "image/jpeg") return fill_jpeg(image, by);
  if (media_type == "image/png") return fill_png(image, by);
  if (media_type == "image/webp") return fill_webp(image, by);
  return media_type == "image/avif" && fill_avif(image, by);
}

Change resize_image(Reply& reply, double factor) {
  auto const type = media_type(reply.stored.headers.list());
  auto const format = std::ranges::find(kFormats, type, &Format::media_type);
  if (format == kFormats.end()) {
    return std::unexpected("only JPEG, PNG, WebP and AVIF can be encoded again; for " +
                           (type.empty() ? "others" : type) + " use compress= or body=");
  }
  auto const vips = find_program("vips");
  if (!vips) return std::unexpected("bytes= needs the program vips (Debian: libvips-tools)");
  auto const image = plain_body(reply);
  if (!image) return std::unexpected(image.error());
  if (!is_of_its_type(*image, type)) return std::unexpected("its bytes are not of its type");
  auto const workshop = Workshop::open();
  if (!workshop || !workshop->put(*image)) return std::unexpected("there is no room for its copy");
  auto const most = static_cast<std::size_t>(static_cast<double>(image->size()) * factor);
  Encode const encode = [&](const std::string& options) {
    return workshop->encode(*vips, format->suffix, options);
  };
  auto const encoded =
      type == "image/png" ? encode_png(encode, most) : encode_by_quality(encode, most);
  if (!encoded) return std::unexpected(encoded.error());
  auto const bytes = bytes_of(*encoded);
  coding::Buffer smaller(bytes.begin(), bytes.end());
  auto const room = most - smaller.size();
  fill_image(smaller, type, type == "image/webp" ? room / 2 * 2 : room);
  return replace_plain(reply, smaller);
}

}  // namespace reprise::whatif
