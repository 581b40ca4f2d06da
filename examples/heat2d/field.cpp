// SPDX-License-Identifier: BSD-3-Clause
#include "field.hpp"

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace heat2d {

namespace {

constexpr double kCold = 0.0;
constexpr double kHot = 1.0;
constexpr double kDiffusion = 0.08;  // at most 0.25, because the scheme is unstable above

// Heater that moves on an ellipse. All lengths are fractions of the plate.
struct Heater {
  double center_x, center_y, swing_x, swing_y, radius;
  double period;  // steps for one turn; negative: in the opposite direction
  double phase;   // fraction of a turn
};

constexpr Heater kHeaters[] = {
    {0.50, 0.50, 0.38, 0.36, 0.022, 5200.0, 0.00},
    {0.50, 0.50, 0.24, 0.20, 0.030, -3900.0, 0.35},
    {0.50, 0.50, 0.06, 0.30, 0.016, 2100.0, 0.60},
};

// Gets the temperature of the lower edge of the plate, which is warm in three places.
double edge_temperature(double x) {
  const double wave = std::sin(3.0 * std::numbers::pi * x);
  return 0.8 * wave * wave;
}

}  // namespace

Field::Field(const Grid& grid, const Block& block)
    : grid_(grid), block_(block), now_(static_cast<std::size_t>(cells_with_frame(block))), next_(now_.size()) {
  reset();
}

void Field::reset() {
  std::fill(now_.begin(), now_.end(), kCold);
  set_edges(now_);
  next_ = now_;
  heat(0);
}

void Field::set_edges(std::vector<double>& cells) const {
  if (block_.below != MPI_PROC_NULL) return;
  for (int x = 0; x < block_.width; ++x) {
    cells[at(x, block_.height)] = edge_temperature((block_.x0 + x + 0.5) / grid_.width);
  }
}

void Field::advance(int step) {
  for (int y = 0; y < block_.height; ++y) {
    const double* above = &now_[at(0, y - 1)];
    const double* row = &now_[at(0, y)];
    const double* below = &now_[at(0, y + 1)];
    double* next = &next_[at(0, y)];
    for (int x = 0; x < block_.width; ++x) {
      next[x] = row[x] + kDiffusion * ((above[x] + below[x]) + (row[x - 1] + row[x + 1]) - 4.0 * row[x]);
    }
  }
  now_.swap(next_);
  heat(step + 1);
}

void Field::heat(int step) {
  const double scale = std::min(grid_.width, grid_.height);
  for (const Heater& heater : kHeaters) {
    const double angle = 2.0 * std::numbers::pi * (step / heater.period + heater.phase);
    // Relative to the plate: any division of it among ranks gives the same bits.
    const double cx = grid_.width * (heater.center_x + heater.swing_x * std::cos(angle));
    const double cy = grid_.height * (heater.center_y + heater.swing_y * std::sin(angle));
    const double radius = std::max(1.0, heater.radius * scale);
    const int last_y = std::min(block_.y0 + block_.height - 1, static_cast<int>(cy + radius));
    const int last_x = std::min(block_.x0 + block_.width - 1, static_cast<int>(cx + radius));
    for (int y = std::max(block_.y0, static_cast<int>(cy - radius)); y <= last_y; ++y) {
      for (int x = std::max(block_.x0, static_cast<int>(cx - radius)); x <= last_x; ++x) {
        const double dx = x + 0.5 - cx;
        const double dy = y + 0.5 - cy;
        if (dx * dx + dy * dy <= radius * radius) now_[at(x - block_.x0, y - block_.y0)] = kHot;
      }
    }
  }
}

void Field::take_over(const Block& from, const double* cells) {
  const Area area = overlap(block_, from);
  for (int y = area.y0; y < area.y0 + area.height; ++y) {
    const double* row = cells + std::ptrdiff_t{y - from.y0 + 1} * pitch_of(from) + (area.x0 - from.x0 + 1);
    std::copy_n(row, area.width, &now_[at(area.x0 - block_.x0, y - block_.y0)]);
  }
}

std::vector<double> Field::inner_cells() const {
  std::vector<double> inner;
  inner.reserve(static_cast<std::size_t>(block_.width) * static_cast<std::size_t>(block_.height));
  for (int y = 0; y < block_.height; ++y) {
    const double* row = &now_[at(0, y)];
    inner.insert(inner.end(), row, row + block_.width);
  }
  return inner;
}

}  // namespace heat2d
