// The shares of the views of each day, or of its slowest ones, as stacked columns.
import { axisLeft } from 'd3-axis';
import { scaleLinear } from 'd3-scale';
import { clientPoint } from 'd3-selection';

import { choice, put, section, table } from '../page/elements.js';
import { counted, shown } from '../page/format.js';

import { drawAtWidth, makeSlider, putLegend } from './controls.js';
import { dayText, percentText, roughTime, topShares, trendNote } from './words.js';

const HEIGHT = 260;
const LEFT = 46;
const TOP = 8;
const BOTTOM = 24;
const DAY_MS = 86_400_000;
const DAY_WIDTH_MAX = 80;
const LABEL = 76; // pixels of a day's name
const EMPTY_MAX = 4; // columns for each day with views

/** How many days after the first the last one is. */
const daysApart = (trend) =>
  Math.round((Date.parse(trend.at(-1).day) - Date.parse(trend[0].day)) / DAY_MS);

/**
 * The days with `place`, in days since the first: a day without views stays empty. If most days
 * would be empty, the places of those with views follow each other. Pure.
 */
export function placed(trend) {
  const isSparse = daysApart(trend) > EMPTY_MAX * trend.length;
  return trend.map((each, at) =>
    ({ ...each, place: isSparse ? at : daysApart([trend[0], each]) }));
}

/** The parts of a day's column from the bottom, in the order of `kinds`. Pure. */
export function layers(kinds, day, scale) {
  const shares = new Map(day.shares.map((share) => [share.kind, share]));
  let from = 0;
  return kinds.map((kind) => {
    const share = shares.get(kind.name);
    const size = (scale === 'time' ? share?.us : share?.percent) ?? 0;
    const layer = { kind, from, to: from + size };
    from += size;
    return layer;
  }).filter((layer) => layer.to > layer.from);
}

export class Trend {
  constructor(explanation) {
    const { trend, ranked: kinds } = explanation;
    this.part = section('trend', 'Day by day');
    this.part.attr('hidden', trend.length === 0 ? '' : null);
    if (trend.length === 0) return;
    this.kinds = kinds;
    this.days = placed(trend);
    this.scale = 'time';
    put(this.part, 'p', 'said', trendNote(explanation));
    const controls = this.part.append('div').attr('class', 'controls');
    choice(controls, 'trend-scale', 'Height of the columns',
      [['time', 'Time'], ['percent', 'Percent']], this.scale, (scale) => {
        this.scale = scale;
        this.redraw();
      });
    putLegend(controls, kinds);
    this.svg = this.part.append('svg').attr('class', 'trend').attr('height', HEIGHT);
    this.line = put(this.part, 'p', 'readout', 'Point at a day, or choose one by the arrow keys.');
    this.slider = makeSlider(this.svg, { label: 'Days of the trend', count: () => this.days.length,
      text: (at) => this.text(this.days[at]), move: (at) => this.mark(at) });
    this.redraw = drawAtWidth(this.svg, (width) => this.draw(width));
    this.svg.node().addEventListener('pointermove', (event) => this.point(event));
    this.putTable();
  }

  text({ day, views, window_us: window, shares }) {
    return `${day}: ${roughTime(window.mean)}, ${counted(views, 'view')}; ${topShares(shares, 5)}`;
  }

  draw(width) {
    const last = this.days.at(-1).place;
    const all = this.days.map((day) => layers(this.kinds, day, this.scale));
    const top = this.scale === 'percent' ? 100
      : Math.max(...all.map((each) => each.at(-1)?.to ?? 0), 1);
    const right = LEFT + Math.min(width - LEFT, (last + 1) * DAY_WIDTH_MAX);
    this.x = scaleLinear().domain([0, last + 1]).range([LEFT, right]);
    const y = scaleLinear().domain([0, top]).range([HEIGHT - BOTTOM, TOP]);
    const wide = this.x(1) - this.x(0);
    const gap = wide > 6 ? Math.min(wide * 0.16, 6) : 0;
    this.svg.append('g').attr('class', 'axis').attr('transform', `translate(${LEFT},0)`)
      .attr('aria-hidden', true)
      .call(axisLeft(y).ticks(5).tickSizeInner(LEFT - right).tickSizeOuter(0)
        .tickFormat((value) => (this.scale === 'percent' ? `${value} %` : roughTime(value))));
    const every = Math.max(1, Math.ceil(LABEL / wide));
    this.days.forEach((day, at) => {
      const column = this.svg.append('g').attr('class', 'day');
      for (const { kind, from, to } of all[at]) {
        column.append('rect').attr('class', kind.colour).attr('x', this.x(day.place) + gap / 2)
          .attr('width', Math.max(wide - gap, 0.5))
          .attr('y', y(to)).attr('height', y(from) - y(to));
      }
      if (day.place % every !== 0) return;
      put(this.svg, 'text', 'day-name', dayText(day.day, daysApart(this.days)))
        .attr('y', HEIGHT - 6).attr('x', Math.min(this.x(day.place + 0.5), width - 20));
    });
    if (this.marked !== undefined) this.mark(this.marked);
  }

  mark(at) {
    this.marked = at;
    this.svg.selectAll('.day').classed('marked', (day, place) => place === at);
    this.line.text(shown(this.text(this.days[at])));
  }

  point(event) {
    if (!this.x) return;
    const place = Math.floor(this.x.invert(clientPoint(this.svg.node(), event)[0]));
    const at = this.days.findIndex((day) => day.place === place);
    if (at >= 0 && at !== this.marked) this.slider.go(at);
  }

  putTable() {
    const more = this.part.append('details').attr('class', 'figures');
    put(more, 'summary', '', 'All figures');
    const share = (kind) => (day) => {
      const found = day.shares.find((each) => each.kind === kind.name);
      return found ? percentText(found.percent) : '–';
    };
    table(more, 'Even shares by day', [
      { name: 'Day', text: ({ day }) => day },
      { name: 'Views', text: ({ views }) => views.toLocaleString('en'), number: true },
      { name: 'Mean', text: ({ window_us: window }) => roughTime(window.mean), number: true },
      ...this.kinds.map((kind) => ({ name: kind.name, text: share(kind), number: true })),
    ], this.days);
  }
}
