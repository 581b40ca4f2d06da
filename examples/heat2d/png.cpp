// SPDX-License-Identifier: BSD-3-Clause
#include "png.hpp"

#include <png.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <stdexcept>

#include "files.hpp"

namespace heat2d {

namespace {

constexpr int kColors = 256;

struct Rgb {
  double r, g, b;
};

// Colours at equal distances. Colours between them are interpolated.
constexpr std::array<Rgb, 6> kStops = {{
    {8, 6, 30},
    {72, 16, 110},
    {180, 40, 90},
    {240, 110, 30},
    {252, 200, 60},
    {255, 255, 230},
}};

std::array<png_byte, 3 * kColors> color_map() {
  std::array<png_byte, 3 * kColors> map{};
  for (std::size_t i = 0; i < kColors; ++i) {
    const double position = static_cast<double>(i) / (kColors - 1) * (kStops.size() - 1);
    const std::size_t stop = std::min(static_cast<std::size_t>(position), kStops.size() - 2);
    const double part = position - static_cast<double>(stop);
    const auto mix = [part](double a, double b) { return static_cast<png_byte>(std::lround(a + part * (b - a))); };
    map[3 * i] = mix(kStops[stop].r, kStops[stop + 1].r);
    map[3 * i + 1] = mix(kStops[stop].g, kStops[stop + 1].g);
    map[3 * i + 2] = mix(kStops[stop].b, kStops[stop + 1].b);
  }
  return map;
}

png_byte color_of(double temperature) {
  // The square root makes low temperatures around the heaters visible.
  const double level = std::sqrt(std::clamp(temperature, 0.0, 1.0));
  return static_cast<png_byte>(std::lround(level * (kColors - 1)));
}

}  // namespace

void write_png(const std::filesystem::path& path, int width, int height, const std::vector<double>& temperatures) {
  std::vector<png_byte> pixels(temperatures.size());
  std::transform(temperatures.begin(), temperatures.end(), pixels.begin(), color_of);
  const auto map = color_map();

  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = PNG_FORMAT_RGB_COLORMAP;
  image.flags = PNG_IMAGE_FLAG_FAST;
  image.colormap_entries = kColors;

  replace_file(path, [&](const std::filesystem::path& temporary) {
    if (png_image_write_to_file(&image, temporary.c_str(), 0, pixels.data(), width, map.data()) == 0) {
      throw std::runtime_error(path.string() + ": " + image.message);
    }
  });
}

}  // namespace heat2d
