#include "analysis/effects/effects.h"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace reprise {
namespace {

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;

/// The inverse of a symmetric positive matrix, by Gauss and Jordan; nothing if it is singular.
std::optional<Matrix> inverse_of(Matrix matrix) {
  auto const size = matrix.size();
  Matrix inverse(size, Vector(size));
  for (std::size_t i = 0; i < size; ++i) inverse[i][i] = 1;
  for (std::size_t column = 0; column < size; ++column) {
    auto pivot = column;
    for (auto row = column; row < size; ++row) {
      if (std::abs(matrix[row][column]) > std::abs(matrix[pivot][column])) pivot = row;
    }
    if (std::abs(matrix[pivot][column]) < 1e-9) return std::nullopt;
    std::swap(matrix[pivot], matrix[column]);
    std::swap(inverse[pivot], inverse[column]);
    auto const scale = 1 / matrix[column][column];
    for (std::size_t i = 0; i < size; ++i) {
      matrix[column][i] *= scale;
      inverse[column][i] *= scale;
    }
    for (std::size_t row = 0; row < size; ++row) {
      auto const factor = matrix[row][column];
      if (row == column || factor == 0) continue;
      for (std::size_t i = 0; i < size; ++i) {
        matrix[row][i] -= factor * matrix[column][i];
        inverse[row][i] -= factor * inverse[column][i];
      }
    }
  }
  return inverse;
}

double product(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// 1, then whether each part is in, then whether it is B itself.
Vector regressors(const EffectRow& row, std::span<const CausePart> parts) {
  Vector of{1};
  for (const CausePart& part : parts) of.push_back(row.in[part.front()] ? 1 : 0);
  of.push_back(row.is_b ? 1 : 0);
  return of;
}

}  // namespace

double student_quantile(double p, std::size_t degrees) {
  boost::math::students_t const distribution(static_cast<double>(degrees));
  return boost::math::quantile(boost::math::complement(distribution, p / 2));
}

std::optional<Effects> estimate_effects(std::span<const EffectRow> rows,
                                        std::span<const CausePart> parts, double alpha) {
  auto const unknowns = parts.size() + 2;
  if (rows.size() <= unknowns) return std::nullopt;
  Matrix squares(unknowns, Vector(unknowns));
  Vector sums(unknowns);
  for (const EffectRow& row : rows) {
    auto const of = regressors(row, parts);
    for (std::size_t i = 0; i < unknowns; ++i) {
      sums[i] += of[i] * row.value;
      for (std::size_t j = 0; j < unknowns; ++j) squares[i][j] += of[i] * of[j];
    }
  }
  auto const inverse = inverse_of(std::move(squares));
  if (!inverse) return std::nullopt;
  Vector fit;
  for (const Vector& line : *inverse) fit.push_back(product(line, sums));
  double error = 0;
  for (const EffectRow& row : rows) {
    auto const off = row.value - product(regressors(row, parts), fit);
    error += off * off;
  }
  auto const degrees = rows.size() - unknowns;
  auto const variance = error / static_cast<double>(degrees);
  auto const quantile = student_quantile(alpha / static_cast<double>(unknowns), degrees);
  // Of the sum of all unknowns that `weights` selects.
  auto const estimated = [&](const Vector& weights) {
    double spread = 0;
    for (std::size_t i = 0; i < unknowns; ++i)
      spread += weights[i] * product((*inverse)[i], weights);
    auto const width = quantile * std::sqrt(std::max(0.0, variance * spread));
    auto const value = product(weights, fit);
    return EstimatedEffect{.estimate = value, .low = value - width, .high = value + width};
  };
  Effects effects{.base = fit.front(), .parts = {}, .deviation = std::sqrt(variance)};
  for (std::size_t i = 1; i < unknowns; ++i) {
    Vector only(unknowns);
    only[i] = 1;
    (i + 1 == unknowns ? effects.unexplained : effects.parts.emplace_back()) = estimated(only);
  }
  Vector all(unknowns, 1);
  all.front() = 0;
  effects.total = estimated(all);
  return effects;
}

}  // namespace reprise
