#include "tools/link/link_plot.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/xml.h"

namespace reprise {
namespace {

using Span = LinkTimeline::Span;

// All in user units, which are pixels unless the viewer scales.
constexpr double kWidth = 960;
constexpr double kHeight = 640;
constexpr double kPanelWidth = 390;
constexpr double kPanelHeight = 130;
constexpr double kLeft = 70;
constexpr double kColumn = 480;
constexpr double kTop = 84;
constexpr double kRow = 186;
constexpr double kTextDrop = 4;  ///< from the middle of a line of text to its base
constexpr double kDropMark = 6;
constexpr double kTicksMax = 5;

constexpr std::string_view kStyle = R"(<style>
svg{--back:#fff;--ink:#1f2328;--soft:#59636e;--grid:#d8dee4;--line:#0969da;--bad:#cf222e}
@media(prefers-color-scheme:dark){svg{--back:#0d1117;--ink:#e6edf3;--soft:#9198a1;--grid:#30363d;
--line:#4493f8;--bad:#f85149}}
text{font:12px system-ui,sans-serif;fill:var(--soft)}
.title{font-size:15px;font-weight:600;fill:var(--ink)}.head{font-weight:600;fill:var(--ink)}
.end{text-anchor:end}.middle{text-anchor:middle}.bad{fill:var(--bad)}
.back{fill:var(--back)}.grid{stroke:var(--grid);fill:none}
.line{stroke:var(--line);stroke-width:1.25;fill:none}
.area{fill:var(--line);fill-opacity:.25;shape-rendering:crispEdges}
.limit{stroke:var(--soft);stroke-dasharray:4 3;fill:none}.drop{stroke:var(--bad);fill:none}
</style>
)";

struct Unit {
  double size;
  const char* name;
};
constexpr Unit kBytes[] = {{1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "bytes"}};
constexpr Unit kRates[] = {{1e9, "Gbit/s"}, {1e6, "Mbit/s"}, {1e3, "kbit/s"}, {1, "bit/s"}};
constexpr Unit kDelays[] = {{1e3, "s"}, {1, "ms"}, {1e-3, "\u00b5s"}};
constexpr Unit kTimes[] = {{3600, "h"}, {60, "min"}, {1, "s"}, {1e-3, "ms"}};

/// One of the three rows.
struct Quantity {
  const char* name;
  std::span<const Unit> units;
  double (*line)(const Span&);
  double (*top)(const Span&);  ///< of the area
  double (*bottom)(const Span&);
  bool (*is_there)(const Span&);
};

constexpr Quantity kQuantities[] = {
    {"Queue, mean", kBytes, [](const Span& span) { return span.queue_bytes; },
     [](const Span& span) { return span.queue_bytes; }, [](const Span&) { return 0.0; },
     [](const Span&) { return true; }},
    {"Delay, mean and largest", kDelays, [](const Span& span) { return span.delay_mean_ms; },
     [](const Span& span) { return span.delay_max_ms; },
     [](const Span& span) { return span.delay_mean_ms; },
     [](const Span& span) { return span.packets > 0; }},
    {"Rate", kRates, [](const Span& span) { return span.rate_bps; },
     [](const Span& span) { return span.rate_bps; }, [](const Span&) { return 0.0; },
     [](const Span&) { return true; }}};

template <class... T>
void print(std::string& out, const char* format, T... values) {
  char text[256];
  std::snprintf(text, sizeof text, format, values...);
  out += text;
}

/// From zero to a round number that is `largest` or above, in steps of 1, 2 or 5.
class Axis {
 public:
  Axis(double largest, std::span<const Unit> units) : unit_(units.back()) {
    if (!(largest > 0)) largest = unit_.size;
    for (const Unit& unit : units) {
      if (largest < unit.size) continue;
      unit_ = unit;
      break;
    }
    double const rough = largest / unit_.size / kTicksMax;
    double const power = std::pow(10, std::floor(std::log10(rough)));
    for (double const factor : {1.0, 2.0, 5.0, 10.0}) {
      step_ = factor * power;
      // Not a fifth and a bit, because of how numbers are kept.
      if (step_ >= rough * (1 - 1e-9)) break;
    }
    ticks_ = static_cast<int>(std::ceil(largest / unit_.size / step_ - 1e-9));
  }

  const char* unit() const { return unit_.name; }
  int ticks() const { return ticks_; }
  /// In the axis's unit.
  double at(int tick) const { return step_ * tick; }
  /// 0 to 1.
  double share(double value) const { return value / unit_.size / (step_ * ticks_); }

 private:
  Unit unit_;
  double step_ = 1;
  int ticks_ = 1;
};

/// One quantity of one direction.
class Panel {
 public:
  Panel(std::string& out, const Quantity& quantity, const LinkPlot::Direction& direction,
        double left, double top)
      : out_(out),
        quantity_(quantity),
        direction_(direction),
        left_(left),
        bottom_(top + kPanelHeight),
        time_(seconds() * static_cast<double>(spans().size()), kTimes),
        values_(largest(), quantity.units) {}

  void draw() {
    draw_axes();
    if (spans().empty()) {
      print(out_, "<text class=\"middle\" x=\"%.1f\" y=\"%.1f\">no packets</text>\n",
            left_ + kPanelWidth / 2, bottom_ - kPanelHeight / 2);
      return;
    }
    draw_area();
    draw_line();
    if (is(kQuantities[0])) draw_drops();
    if (is(kQuantities[2]) && direction_.rate_limit_bps > 0) {
      print(out_, "<path class=\"limit\" d=\"M%.1f %.1fh%.1f\"/>\n", left_,
            y(direction_.rate_limit_bps), kPanelWidth);
    }
  }

 private:
  const std::vector<Span>& spans() const { return direction_.timeline.spans; }
  bool is(const Quantity& quantity) const { return &quantity_ == &quantity; }
  double seconds() const {
    return std::chrono::duration<double>(direction_.timeline.width).count();
  }
  double x(std::size_t index) const {
    return left_ + time_.share(seconds() * static_cast<double>(index)) * kPanelWidth;
  }
  double y(double value) const { return bottom_ - values_.share(value) * kPanelHeight; }

  double largest() const {
    double most = is(kQuantities[2]) ? direction_.rate_limit_bps : 0;
    for (const Span& span : spans()) most = std::max(most, quantity_.top(span));
    return most;
  }

  void draw_axes() {
    print(out_, "<text class=\"head\" x=\"%.1f\" y=\"%.1f\">%s (%s)</text>\n", left_,
          bottom_ - kPanelHeight - 10, quantity_.name, values_.unit());
    for (int tick = 0; tick <= values_.ticks(); ++tick) {
      double const height = bottom_ - kPanelHeight * tick / values_.ticks();
      print(out_, "<path class=\"grid\" d=\"M%.1f %.1fh%.1f\"/>", left_, height, kPanelWidth);
      print(out_, "<text class=\"end\" x=\"%.1f\" y=\"%.1f\">%.6g</text>\n", left_ - 6,
            height + kTextDrop, values_.at(tick));
    }
    for (int tick = 0; tick <= time_.ticks(); ++tick) {
      double const across = left_ + kPanelWidth * tick / time_.ticks();
      print(out_, "<text class=\"middle\" x=\"%.1f\" y=\"%.1f\">%.6g%s%s</text>\n", across,
            bottom_ + 15, time_.at(tick), tick == time_.ticks() ? " " : "",
            tick == time_.ticks() ? time_.unit() : "");
    }
  }

  void draw_line() {
    out_ += "<path class=\"line\" d=\"";
    bool drawing = false;
    for (std::size_t i = 0; i < spans().size(); ++i) {
      bool const was_drawing = std::exchange(drawing, quantity_.is_there(spans()[i]));
      if (!drawing) continue;
      double const height = y(quantity_.line(spans()[i]));
      if (was_drawing) {
        print(out_, "V%.1f", height);
      } else {
        print(out_, "M%.1f %.1f", x(i), height);
      }
      print(out_, "H%.1f", x(i + 1));
    }
    out_ += "\"/>\n";
  }

  void draw_area() {
    out_ += "<path class=\"area\" d=\"";
    for (std::size_t i = 0; i < spans().size(); ++i) {
      if (!quantity_.is_there(spans()[i])) continue;
      double const top = y(quantity_.top(spans()[i]));
      double const bottom = y(quantity_.bottom(spans()[i]));
      if (top == bottom) continue;
      print(out_, "M%.2f %.1fH%.2fV%.1fH%.2fz", x(i), bottom, x(i + 1), top, x(i));
    }
    out_ += "\"/>\n";
  }

  void draw_drops() {
    double const top = bottom_ - kPanelHeight;
    std::uint64_t drops = 0;
    std::string marks;
    for (std::size_t i = 0; i < spans().size(); ++i) {
      drops += spans()[i].drops;
      if (spans()[i].drops > 0) print(marks, "M%.1f %.1fv%.1f", x(i), top, kDropMark);
    }
    if (drops == 0) return;
    out_ += "<path class=\"drop\" d=\"" + marks + "\"/>\n";
    print(out_, "<text class=\"end bad\" x=\"%.1f\" y=\"%.1f\">%llu dropped</text>\n",
          left_ + kPanelWidth, top - 10, static_cast<unsigned long long>(drops));
  }

  std::string& out_;
  const Quantity& quantity_;
  const LinkPlot::Direction& direction_;
  double left_;
  double bottom_;
  Axis time_;
  Axis values_;
};

}  // namespace

std::string to_svg(const LinkPlot& plot) {
  std::string out;
  print(out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
        "viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n",
        kWidth, kHeight, kWidth, kHeight);
  auto const title = xml_escaped(plot.title);
  out += "<title>" + title + "</title>\n";
  out += kStyle;
  out += "<rect class=\"back\" width=\"100%\" height=\"100%\"/>\n";
  print(out, "<text class=\"title\" x=\"%.1f\" y=\"28\">", kLeft);
  out += title + "</text>\n";
  const struct {
    const char* name;
    const LinkPlot::Direction& direction;
  } columns[] = {{"Down, to the client", plot.down}, {"Up, from the client", plot.up}};
  double left = kLeft;
  for (auto const& column : columns) {
    print(out, "<text class=\"head\" x=\"%.1f\" y=\"50\">%s</text>\n", left, column.name);
    double top = kTop;
    for (const Quantity& quantity : kQuantities) {
      Panel(out, quantity, column.direction, left, top).draw();
      top += kRow;
    }
    left += kColumn;
  }
  return out + "</svg>\n";
}

}  // namespace reprise
