#include "shaper/units.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>

#include "shaper/settings.h"

namespace reprise {

using std::chrono::nanoseconds;

namespace {

constexpr std::size_t kDigitsMax = 18;

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

constexpr std::array<Unit, 6> kRates{{{"tbit", 1'000'000'000'000},
                                      {"gbit", 1'000'000'000},
                                      {"mbit", 1'000'000},
                                      {"kbit", 1000},
                                      {"bit", 1},
                                      {"", 1000}}};
constexpr std::array<Unit, 5> kTimes{
    {{"s", 1'000'000'000}, {"ms", 1'000'000}, {"us", 1000}, {"ns", 1}, {"", 1'000'000}}};
constexpr std::array<Unit, 5> kBytes{
    {{"mib", 1 << 20}, {"kib", 1 << 10}, {"mb", 1'000'000}, {"kb", 1000}, {"b", 1}}};

/// `digits` / 10^`decimals`, and the text after it in lower case.
struct Quantity {
  std::uint64_t digits = 0;
  std::uint64_t scale = 1;
  std::string unit;
};

std::optional<Quantity> split(std::string_view text) {
  Quantity quantity;
  std::size_t seen = 0;
  bool in_fraction = false;
  std::size_t i = 0;
  for (; i < text.size(); ++i) {
    if (text[i] == '.' && !in_fraction && seen > 0) {
      in_fraction = true;
    } else if (text[i] >= '0' && text[i] <= '9') {
      if (++seen > kDigitsMax) return std::nullopt;
      quantity.digits = quantity.digits * 10 + static_cast<std::uint64_t>(text[i] - '0');
      if (in_fraction) quantity.scale *= 10;
    } else {
      break;
    }
  }
  if (seen == 0 || text[i - 1] == '.') return std::nullopt;
  for (char const c : text.substr(i)) {
    quantity.unit += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return quantity;
}

std::optional<std::uint64_t> factor_of(std::span<const Unit> units, std::string_view name) {
  auto const unit = std::ranges::find(units, name, &Unit::name);
  return unit == units.end() ? std::nullopt : std::optional(unit->factor);
}

/// In the smallest unit; nothing if it is not a whole number or exceeds `most`.
std::optional<std::uint64_t> whole(const Quantity& quantity, std::uint64_t factor,
                                   std::uint64_t most) {
  using Wide = unsigned __int128;
  Wide const value = Wide{quantity.digits} * factor;
  if (value % quantity.scale != 0 || value / quantity.scale > most) return std::nullopt;
  return static_cast<std::uint64_t>(value / quantity.scale);
}

std::unexpected<std::string> wrong(std::string_view text, std::string_view what) {
  constexpr std::size_t kShown = 60;
  return std::unexpected("'" + std::string(text.substr(0, kShown)) + "' " + std::string(what));
}

std::string shortest(std::uint64_t value, std::span<const Unit> units) {
  for (const Unit& unit : units) {
    if (!unit.name.empty() && value % unit.factor == 0) {
      return std::to_string(value / unit.factor) + std::string(unit.name);
    }
  }
  return std::to_string(value);
}

}  // namespace

std::expected<std::uint64_t, std::string> parse_rate(std::string_view text) {
  if (text == "none") return 0;
  auto const quantity = split(text);
  if (!quantity) return wrong(text, "is not a rate: write 9mbit, 400kbit, 400 (kbit/s) or none");
  auto const factor = factor_of(kRates, quantity->unit);
  if (!factor) {
    return wrong(text,
                 "has no known unit of rate: use bit, kbit, mbit, gbit or tbit (per second, "
                 "multiples of 1000); kbps is ambiguous and not accepted");
  }
  auto const rate = whole(*quantity, *factor, kRateMaxBps);
  if (!rate) return wrong(text, "is not a whole number of bit/s up to 1 Tbit/s");
  if (*rate == 0) {
    return wrong(text, "is not a rate: write none for no limit, or outage= or loss=100% to block");
  }
  return *rate;
}

std::expected<nanoseconds, std::string> parse_time(std::string_view text, nanoseconds most) {
  auto const quantity = split(text);
  auto const factor = quantity ? factor_of(kTimes, quantity->unit) : std::nullopt;
  if (!factor) return wrong(text, "is not a time: write 170ms, 1.5s, 20us, or 170 (ms)");
  auto const time = whole(*quantity, *factor, static_cast<std::uint64_t>(most.count()));
  if (!time) return wrong(text, "is not a whole number of ns up to " + time_text(most));
  return nanoseconds(static_cast<std::int64_t>(*time));
}

std::expected<double, std::string> parse_share(std::string_view text) {
  auto const quantity = split(text);
  bool const zero = quantity && quantity->digits == 0 && quantity->unit.empty();
  if (!zero && (!quantity || quantity->unit != "%")) {
    return wrong(text, "is not a percentage: write 1% or 0.25%");
  }
  double const percent =
      static_cast<double>(quantity->digits) / static_cast<double>(quantity->scale);
  if (percent > 100) return wrong(text, "is more than 100%");
  return percent / 100;
}

std::expected<Amount, std::string> parse_amount(std::string_view text) {
  constexpr std::string_view kFits =
      "is not a queue length: write 100p, 64kb, 64kib, 1500b or 50ms";
  auto const quantity = split(text);
  if (!quantity || quantity->unit.empty()) return wrong(text, kFits);
  Amount amount{.kind = Amount::Kind::packets, .value = 0};
  std::optional<std::uint64_t> value;
  if (quantity->unit == "p") {
    value = whole(*quantity, 1, kQueuePacketsMax);
    if (!value) return wrong(text, "is not a whole number of packets up to 1048576");
  } else if (auto const bytes = factor_of(kBytes, quantity->unit)) {
    amount.kind = Amount::Kind::bytes;
    value = whole(*quantity, *bytes, kQueueBytesMax);
    if (!value) return wrong(text, "is not a whole number of bytes up to 4 GiB");
  } else if (auto const time = factor_of(kTimes, quantity->unit)) {
    amount.kind = Amount::Kind::time_ns;
    value = whole(*quantity, *time, static_cast<std::uint64_t>(kDelayMax.count()));
    if (!value) return wrong(text, "is not a whole number of ns up to 1 hour");
  } else {
    return wrong(text, kFits);
  }
  amount.value = *value;
  if (amount.value == 0) return wrong(text, "must be above 0");
  return amount;
}

std::string rate_text(std::uint64_t rate_bps) {
  return rate_bps == 0 ? "none" : shortest(rate_bps, kRates);
}

std::string time_text(nanoseconds time) {
  return time.count() == 0 ? "0ms" : shortest(static_cast<std::uint64_t>(time.count()), kTimes);
}

}  // namespace reprise
