#include "analysis/visual/histogram.h"

#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <vector>

#include <jpeglib.h>

namespace reprise {
namespace {

constexpr std::uint8_t kWhite = 250;

/// libjpeg's errors end in a function that must not return.
struct Failure {
  jpeg_error_mgr manager{};
  std::jmp_buf place{};
};

[[noreturn]] void leave(j_common_ptr common) {
  std::longjmp(reinterpret_cast<Failure*>(common->err)->place, 1);
}

void ignore(j_common_ptr /*common*/) {}
void ignore_warning(j_common_ptr /*common*/, int /*level*/) {}

/// Nothing here has a destructor, for longjmp(3) calls none. `row` has room for kPictureSideMax
/// pixels.
bool read_pixels(std::string_view jpeg, JSAMPLE* row, Histogram& histogram) {
  jpeg_decompress_struct picture{};
  Failure failure;
  picture.err = jpeg_std_error(&failure.manager);
  failure.manager.error_exit = leave;
  failure.manager.output_message = ignore;
  failure.manager.emit_message = ignore_warning;
  if (setjmp(failure.place) != 0) {
    jpeg_destroy_decompress(&picture);
    return false;
  }
  jpeg_create_decompress(&picture);
  jpeg_mem_src(&picture, reinterpret_cast<const unsigned char*>(jpeg.data()), jpeg.size());
  jpeg_read_header(&picture, TRUE);
  // Of several scans each goes over all of it, and there can be millions; browsers write one.
  bool const is_large =
      picture.image_width > kPictureSideMax || picture.image_height > kPictureSideMax;
  if (is_large || jpeg_has_multiple_scans(&picture) != FALSE) {
    jpeg_destroy_decompress(&picture);
    return false;
  }
  picture.out_color_space = JCS_RGB;
  jpeg_start_decompress(&picture);
  while (picture.output_scanline < picture.output_height) {
    jpeg_read_scanlines(&picture, &row, 1);
    for (std::size_t x = 0; x < picture.output_width; ++x) {
      histogram.add(row[3 * x], row[3 * x + 1], row[3 * x + 2]);
    }
  }
  jpeg_finish_decompress(&picture);
  jpeg_destroy_decompress(&picture);
  return true;
}

}  // namespace

void Histogram::add(std::uint8_t red, std::uint8_t green, std::uint8_t blue) {
  if (red >= kWhite && green >= kWhite && blue >= kWhite) return;
  ++channels[0][red];
  ++channels[1][green];
  ++channels[2][blue];
}

std::optional<Histogram> histogram_of_jpeg(std::string_view jpeg) {
  std::vector<JSAMPLE> row(std::size_t{3} * kPictureSideMax);
  Histogram histogram;
  if (!read_pixels(jpeg, row.data(), histogram)) return std::nullopt;
  return histogram;
}

}  // namespace reprise
