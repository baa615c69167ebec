#include "analysis/effects/effects.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <utility>

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

/// Each two of `parts`.
std::vector<std::pair<std::size_t, std::size_t>> pairs_of(std::span<const std::size_t> parts) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (std::size_t j = i + 1; j < parts.size(); ++j) pairs.emplace_back(parts[i], parts[j]);
  }
  return pairs;
}

/// Ordinary least squares.
class Fit {
 public:
  /// `lines`: the regressors of each row. Nothing if the rows cannot tell the unknowns apart, or if
  /// there are not more rows than unknowns.
  static std::optional<Fit> of(std::span<const EffectRow> rows, const Matrix& lines) {
    auto const unknowns = lines.empty() ? 0 : lines.front().size();
    if (rows.size() <= unknowns) return std::nullopt;
    Matrix squares(unknowns, Vector(unknowns));
    Vector sums(unknowns);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      auto const& line = lines[row];
      for (std::size_t i = 0; i < unknowns; ++i) {
        sums[i] += line[i] * rows[row].value;
        for (std::size_t j = 0; j < unknowns; ++j) squares[i][j] += line[i] * line[j];
      }
    }
    auto inverse = inverse_of(std::move(squares));
    if (!inverse) return std::nullopt;
    Fit fit;
    for (const Vector& line : *inverse) fit.values_.push_back(product(line, sums));
    double error = 0;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      auto const off = rows[row].value - product(lines[row], fit.values_);
      error += off * off;
    }
    fit.inverse_ = std::move(*inverse);
    fit.degrees_ = rows.size() - unknowns;
    fit.variance_ = error / static_cast<double>(fit.degrees_);
    return fit;
  }

  double base() const { return values_.front(); }
  double deviation() const { return std::sqrt(variance_); }
  /// The sum of all unknowns that `weights` selects, at the level 1 - `alpha`.
  EstimatedEffect sum(const Vector& weights, double alpha) const {
    double spread = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      spread += weights[i] * product(inverse_[i], weights);
    }
    auto const width =
        student_quantile(alpha, degrees_) * std::sqrt(std::max(0.0, variance_ * spread));
    auto const value = product(weights, values_);
    return {.estimate = value, .low = value - width, .high = value + width};
  }
  EstimatedEffect one(std::size_t unknown, double alpha) const {
    Vector only(values_.size());
    only[unknown] = 1;
    return sum(only, alpha);
  }

 private:
  Vector values_;
  Matrix inverse_;
  double variance_ = 0;
  std::size_t degrees_ = 0;
};

}  // namespace

double student_quantile(double p, std::size_t degrees) {
  boost::math::students_t const distribution(static_cast<double>(degrees));
  return boost::math::quantile(boost::math::complement(distribution, p / 2));
}

std::optional<Effects> estimate_effects(std::span<const EffectRow> rows,
                                        std::span<const CausePart> parts, double alpha,
                                        std::span<const std::size_t> acting) {
  auto const pairs = pairs_of(acting);
  std::size_t phases = 0;  // beside the first one
  for (const EffectRow& row : rows) phases = std::max(phases, pairs.empty() ? 0 : row.phase);
  Matrix lines;
  for (const EffectRow& row : rows) {
    auto& line = lines.emplace_back(regressors(row, parts));
    for (const auto& [first, second] : pairs) line.push_back(line[1 + first] * line[1 + second]);
    for (std::size_t i = 1; i <= phases; ++i) line.push_back(row.phase == i ? 1 : 0);
  }
  auto const fit = Fit::of(rows, lines);
  if (!fit) return std::nullopt;
  auto const b = parts.size() + 1;  // the unknown of B itself; products follow, then phases
  auto const unknowns = b + 1 + pairs.size() + phases;
  auto const each = alpha / static_cast<double>(parts.size() + 2);
  Effects effects{.base = fit->base(), .parts = {}, .deviation = fit->deviation(), .pairs = {}};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Vector weights(unknowns);
    weights[1 + i] = 1;
    for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
      bool const acts = pairs[pair].first == i || pairs[pair].second == i;
      weights[b + 1 + pair] = acts ? 0.5 : 0;
    }
    effects.parts.push_back(fit->sum(weights, each));
  }
  effects.unexplained = fit->one(b, each);
  Vector all(unknowns);
  std::fill_n(all.begin() + 1, b + pairs.size(), 1.0);
  effects.total = fit->sum(all, each);
  for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
    auto const effect = fit->one(b + 1 + pair, alpha / static_cast<double>(pairs.size()));
    effects.pairs.push_back(
        {.first = pairs[pair].first, .second = pairs[pair].second, .effect = effect});
  }
  return effects;
}

}  // namespace reprise
