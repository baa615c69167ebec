// Views as points: when, how long, and the kind that weighs most. A point opens its view.
import { axisBottom, axisLeft } from 'd3-axis';
import { scaleLinear, scaleLog, scaleUtc } from 'd3-scale';
import { clientPoint } from 'd3-selection';

import { choice, keepInside, put, section } from '../page/elements.js';
import { counted, msText, shown } from '../page/format.js';

import { drawAtWidth, makeSlider, putKind } from './controls.js';
import { heaviestKind, pointsOf, sharesOfPoint, tagsText } from './explanation.js';
import { pointPlace } from './place.js';
import { PointView } from './point_view.js';
import { DAYS_OF_A_YEAR, dayText, roughTime, topShares, whenText } from './words.js';

const HEIGHT = 320;
const LEFT = 52;
const RIGHT = 10;
const TOP = 10;
const BOTTOM = 26;
const NEAR = 18; // pixels around the pointer
const DAY_MS = 86_400_000;
const DAYS_NAMED = 2; // a longer time has days on its axis, a shorter one hours
const LABEL = 90; // pixels of a time's name
const LONG_LABEL = 150; // of one with its year, at the edge too
const LOG_FROM = 8; // the slowest view as a multiple of the median
const SLOWEST = 5;

/** Of a point, in pixels. */
function radiusOf(count, width) {
  if (count < 500) return 4.5;
  return width < 500 ? 2.5 : 3.5;
}

/** The beginnings of every `step`th day between two times. */
function wholeDays(from, to, step) {
  const days = [];
  for (let day = Math.ceil(from / DAY_MS); day * DAY_MS <= to; day += step) days.push(day * DAY_MS);
  return days;
}

export class Scatter {
  constructor(explanation) {
    this.explanation = explanation;
    const { points } = explanation;
    this.part = section('views', 'Views');
    this.part.attr('hidden', points.length === 0 ? '' : null);
    if (points.length === 0) return;
    this.hidden = new Set();
    this.by = points.some((point) => point.started_unix_ms !== null) ? 'time' : 'rank';
    const sorted = points.map((point) => point.window_us).sort((a, b) => b - a);
    const isLog = sorted[0] > LOG_FROM * sorted[Math.floor(sorted.length / 2)];
    this.scale = isLog ? 'log' : 'linear';
    put(this.part, 'p', 'said', 'One point is one view, in the colour of the kind with its largest '
      + 'share. Choose one to open it; views without a waterfall are hollow.');
    this.putControls();
    this.svg = this.part.append('svg').attr('class', 'scatter').attr('height', HEIGHT);
    this.line = put(this.part, 'p', 'readout', 'Point at a view, or choose one by the arrow keys '
      + 'and Enter.');
    this.views = points;
    this.order();
    this.slider = makeSlider(this.svg, { label: 'Views; Enter opens one',
      count: () => this.listed.length, text: (at) => this.text(this.listed[at]),
      move: (at) => this.mark(this.listed[at]), open: (at) => this.open(this.listed[at]) });
    this.redraw = drawAtWidth(this.svg, (width) => this.draw(width));
    this.svg.node().addEventListener('pointermove', (event) => this.point(event));
    this.svg.node().addEventListener('click', (event) => {
      const near = this.near(event);
      if (near) this.open(near);
    });
    this.putSlowest();
    this.view = new PointView(this.part, explanation);
  }

  putControls() {
    const controls = this.part.append('div').attr('class', 'controls');
    if (this.by === 'time') {
      choice(controls, 'views-by', 'Horizontal axis', [['time', 'By time'], ['rank', 'By rank']],
        this.by, (by) => this.change({ by }));
    }
    choice(controls, 'views-scale', 'Vertical axis', [['linear', 'Linear'], ['log', 'Logarithmic']],
      this.scale, (scale) => this.change({ scale }));
    const list = controls.append('div').attr('class', 'legend').attr('role', 'group')
      .attr('aria-label', 'Kinds that are shown');
    this.counts = new Map();
    for (const kind of this.explanation.ranked) {
      if (!this.explanation.points.some((point) => this.kindOf(point) === kind)) continue;
      const label = list.append('label').attr('class', 'check');
      const box = label.append('input').attr('type', 'checkbox').property('checked', true);
      putKind(label, kind);
      this.counts.set(kind, put(label, 'span', ''));
      box.node().addEventListener('change', () => {
        if (box.node().checked) this.hidden.delete(kind);
        else this.hidden.add(kind);
        this.change({});
      });
    }
  }

  kindOf(point) {
    return heaviestKind(this.explanation, point);
  }

  /** Shows the views of a slice. */
  show(slice) {
    if (!this.svg) return;
    const views = pointsOf(this.explanation, slice);
    this.total.text(`${counted(views.length, 'view')} in the plot`);
    for (const [kind, place] of this.counts) {
      const count = views.filter((point) => this.kindOf(point) === kind).length;
      place.text(`(${count.toLocaleString('en')})`);
    }
    this.change({ views });
  }

  change(to) {
    Object.assign(this, to);
    this.order();
    this.slider.reset();
    this.redraw();
  }

  /** The shown points from left to right. */
  order() {
    const isShown = (point) => !this.hidden.has(this.kindOf(point))
      && (this.by === 'rank' || point.started_unix_ms !== null);
    const key = this.by === 'rank' ? 'window_us' : 'started_unix_ms';
    this.listed = this.views.filter(isShown).sort((a, b) => a[key] - b[key]
      || (this.by === 'rank' ? b.index - a.index : a.index - b.index));
  }

  text(point) {
    return [`View ${point.index + 1}: ${roughTime(point.window_us)}`,
      whenText(point.started_unix_ms), tagsText(point.tags),
      topShares(sharesOfPoint(this.explanation, point))].filter(Boolean).join(', ');
  }

  draw(width) {
    const { points } = this.explanation;
    const right = width - RIGHT;
    const times = this.listed.map((point) => point.started_unix_ms);
    const x = (this.by === 'rank' ? scaleLinear().domain([1, Math.max(this.listed.length, 2)])
      : scaleUtc().domain([times[0] ?? 0, times.at(-1) ?? 1])).range([LEFT + 8, right - 8]);
    const all = points.map((point) => point.window_us);
    const lowest = Math.max(Math.min(...all), 1);
    const highest = Math.max(...all, lowest + 1);
    const y = (this.scale === 'log' ? scaleLog().domain([lowest / 1.2, highest * 1.1])
      : scaleLinear().domain([0, highest])).range([HEIGHT - BOTTOM, TOP]);
    const axes = this.svg.append('g').attr('aria-hidden', true);
    axes.append('g').attr('class', 'axis').attr('transform', `translate(${LEFT},0)`)
      .call(axisLeft(y).tickValues(this.valuesOf(y)).tickSizeInner(LEFT - right).tickSizeOuter(0)
        .tickFormat(roughTime));
    const days = (times.at(-1) - times[0]) / DAY_MS;
    const label = days > DAYS_OF_A_YEAR ? LONG_LABEL : LABEL;
    const count = Math.max(2, Math.floor(width / label));
    const bottom = axisBottom(x).ticks(count).tickSizeOuter(0);
    if (this.by === 'time' && days > DAYS_NAMED) {
      bottom.tickValues(wholeDays(times[0], times.at(-1), Math.ceil(days / count)))
        .tickFormat((time) => dayText(time, days));
    } else if (this.by === 'time') {
      bottom.tickFormat((time) => whenText(time).slice(11, 16));
    }
    keepInside(axes.append('g').attr('class', 'axis')
      .attr('transform', `translate(0,${HEIGHT - BOTTOM})`).call(bottom), x, LEFT, right);
    this.placed = this.listed.map((point, at) => ({
      point,
      x: x(this.by === 'rank' ? at + 1 : point.started_unix_ms),
      y: y(Math.max(point.window_us, this.scale === 'log' ? 1 : 0)),
    }));
    this.svg.append('g').selectAll('circle').data(this.placed).join('circle')
      .attr('class', ({ point }) => `${this.kindOf(point)?.colour ?? ''}`
        + `${point.calls === null ? ' hollow' : ''}`)
      .attr('cx', (each) => each.x).attr('cy', (each) => each.y)
      .attr('r', radiusOf(points.length, width));
    this.ring = this.svg.append('circle').attr('class', 'ring').attr('r', 8).attr('cx', -99);
    if (this.marked) this.putRing(this.marked);
  }

  /** A logarithmic axis has too many values for all to be named. */
  valuesOf(y) {
    if (this.scale === 'linear') return y.ticks(5);
    return y.ticks().filter((value) => /^[125]/.test(String(value)));
  }

  mark(point) {
    this.marked = point;
    this.line.text(shown(this.text(point)));
    this.putRing(point);
  }

  putRing(point) {
    const place = this.placed?.find((each) => each.point === point);
    this.ring?.attr('cx', place?.x ?? -99).attr('cy', place?.y ?? 0);
  }

  near(event) {
    const [x, y] = clientPoint(this.svg.node(), event);
    let [nearest, least] = [null, NEAR];
    for (const each of this.placed ?? []) {
      const distance = Math.hypot(each.x - x, each.y - y);
      if (distance < least) [nearest, least] = [each.point, distance];
    }
    return nearest;
  }

  point(event) {
    const near = this.near(event);
    this.svg.classed('near', near !== null);
    if (near && near !== this.marked) this.slider.go(this.listed.indexOf(near));
  }

  putSlowest() {
    const slowest = [...this.explanation.points].sort((a, b) => b.window_us - a.window_us)
                      .slice(0, SLOWEST);
    const line = put(this.part, 'p', 'slowest', 'The slowest: ');
    slowest.forEach((point, at) => {
      line.node().append(at > 0 ? ', ' : '');
      put(line, 'a', '', msText(point.window_us / 1000)).attr('href', pointPlace(point))
        .attr('aria-label', shown(this.text(point)));
    });
    this.total = put(this.part, 'p', 'unseen', '');
  }

  open(point) {
    this.mark(point);
    this.view.show(point);
    window.history.replaceState(null, '', pointPlace(point));
  }
}
