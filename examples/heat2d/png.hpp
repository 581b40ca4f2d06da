// SPDX-License-Identifier: BSD-3-Clause
//
// Pictures of the plate.
#ifndef HEAT2D_PNG_HPP
#define HEAT2D_PNG_HPP

#include <filesystem>
#include <vector>

namespace heat2d {

/// Writes a picture of temperatures in [0, 1], row by row. Colours go from black through red and yellow to white.
/// Throws std::runtime_error if the picture cannot be written.
void write_png(const std::filesystem::path& path, int width, int height, const std::vector<double>& temperatures);

}  // namespace heat2d

#endif
