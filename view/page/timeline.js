// Rows on a time axis, of which one can be chosen and any part of the time looked at closely.
import { axisTop } from 'd3-axis';
import { scaleLinear } from 'd3-scale';

import { keepInside, put } from './elements.js';
import { msText, shown } from './format.js';
import { moved, Rows } from './rows.js';
import { tickText, ticksOf } from './ticks.js';

const NARROW = 720; // below this width, name and bar are stacked
const ZOOM = 2;
const INSTANT = 0.003; // share of the width: shorter bars become a mark

const percent = (share) => `${(share * 100).toFixed(3)}%`;

/**
 * A subclass has draw(element, item, position), which fills a row, and may have marks() and
 * drawFlags(scale, width). Items have `index`, and `start` in ms since the start of the axis.
 */
export class Timeline {
  /**
   * `label` names the grid to screen readers, `idPrefix` its rows, `columns` are [class, heading]
   * left of the time. Calls `choose(item)` with the selected row or null, `hover(item, event)` with
   * the row under the pointer, and `onRange` with the visible time. `heights` of a row in pixels:
   * on a wide and on a narrow page.
   */
  constructor(parent, { label, idPrefix, columns, choose, hover, heights = [26, 44] }) {
    this.choose = choose;
    this.idPrefix = idPrefix;
    this.grid = parent.append('div').attr('class', 'waterfall').attr('role', 'grid')
      .attr('tabindex', 0).attr('aria-label', label);
    this.scroller = this.grid.append('div').attr('class', 'scroller');
    this.makeHead(columns);
    this.rows = new Rows(this.scroller.node(), {
      height: () => heights[this.isNarrow() ? 1 : 0],
      draw: (element, item, position) => this.draw(element, item, position),
    });
    this.lines = this.rows.inner.append('div').attr('class', 'lines').attr('aria-hidden', true);
    this.chosen = null;
    this.onRange = () => {};
    this.listen(hover);
    new ResizeObserver(() => this.drawAxis()).observe(this.grid.node());
  }

  isNarrow() {
    return this.grid.node().clientWidth < NARROW;
  }

  makeHead(columns) {
    const head = this.scroller.append('div').attr('class', 'head').attr('role', 'row');
    for (const [name, text] of columns) put(head, 'div', name, text).attr('role', 'columnheader');
    const time = head.append('div').attr('class', 'time').attr('role', 'columnheader')
      .attr('aria-label', 'Time');
    this.axis = time.append('svg').attr('class', 'axis').attr('aria-hidden', true);
  }

  listen(hover) {
    this.grid.node().addEventListener('keydown', (event) => this.onKey(event));
    const itemAt = (target) => {
      const row = target.closest?.('.row');
      return row ? this.rows.items[row.getAttribute('aria-rowindex') - 1] : null;
    };
    const { inner } = this.rows;
    inner.node().addEventListener('click', (event) => {
      const item = itemAt(event.target);
      if (item) this.select(item === this.chosen ? null : item);
    });
    inner.node().addEventListener('pointermove', (event) => {
      if (event.pointerType === 'mouse') hover(itemAt(event.target), event);
    });
    inner.node().addEventListener('pointerleave', (event) => hover(null, event));
  }

  onKey(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const { items } = this.rows;
    const at = items.indexOf(this.chosen);
    if (event.key === 'Escape') this.select(null);
    else if (event.key === '+' || event.key === '=') this.zoom(1 / ZOOM);
    else if (event.key === '-') this.zoom(ZOOM);
    else if (event.key === '0') this.zoom(Infinity);
    else if (event.key === 'ArrowLeft') this.pan(-0.25);
    else if (event.key === 'ArrowRight') this.pan(0.25);
    else {
      const to = moved(event.key, at, items.length, this.rows.page);
      if (to === null) return;
      this.select(items[to]);
      this.rows.reveal(to);
    }
    event.preventDefault();
  }

  select(item) {
    this.chosen = item;
    this.rows.inner.selectAll('.row').attr('aria-selected',
      (position) => String(this.rows.items[position] === item));
    const at = this.rows.items.indexOf(item);
    this.grid.attr('aria-activedescendant', at < 0 ? null : this.rowId(item));
    this.choose(item);
  }

  rowId(item) {
    return `${this.idPrefix}-${item.index}`;
  }

  /** The whole time, in ms. */
  setEnd(end) {
    this.end = end;
    this.range = [0, end];
    this.chosen = null;
  }

  showItems(items) {
    this.grid.attr('aria-rowcount', items.length);
    this.scroller.node().scrollTop = 0;
    this.rows.show(items);
    this.drawAxis();
  }

  share(time) {
    return (time - this.range[0]) / (this.range[1] - this.range[0]);
  }

  zoom(factor) {
    const [from, to] = this.range;
    const middle = this.chosen ? Math.min(Math.max(this.chosen.start, from), to) : (from + to) / 2;
    const width = Math.min(Math.max((to - from) * factor, 1), this.end);
    this.moveTo(middle - width / 2, width);
  }

  pan(share) {
    const width = this.range[1] - this.range[0];
    this.moveTo(this.range[0] + width * share, width);
  }

  moveTo(from, width) {
    const start = Math.min(Math.max(from, 0), this.end - width);
    this.range = [start, start + width];
    this.rows.redraw();
    this.drawAxis();
  }

  drawAxis() {
    if (!this.range) return;
    const width = this.axis.node().clientWidth;
    const scale = scaleLinear().domain(this.range).range([0, width]);
    const count = Math.max(2, Math.floor(width / 90));
    const ticks = ticksOf(scale, count, 'ms');
    this.axis.selectAll('*').remove();
    this.axis.append('g').attr('transform', 'translate(0,22)')
      .call(axisTop(scale).tickValues(ticks).tickSizeOuter(0).tickFormat(tickText('ms', ticks)));
    keepInside(this.axis, scale, 0, Infinity);
    const marks = [
      ...ticks.map((time) => ({ time, kind: 'tick' })),
      ...this.marks(),
    ].filter(({ time }) => time >= this.range[0] && time <= this.range[1]);
    this.drawFlags(scale, width);
    this.lines.selectAll('.line').data(marks).join('div')
      .attr('class', (mark) => `line ${mark.kind}`)
      .style('left', (mark) => percent(this.share(mark.time)));
    this.onRange(this.range);
  }

  /** Lines over all rows: [{ time, kind }]. */
  marks() {
    return [];
  }

  drawFlags() {}

  /** A part of a row's bar, cut off outside the range: labels may stick out, bars may not. */
  drawPart(bar, className, start, end) {
    const inside = (time) => Math.min(Math.max(this.share(time), 0), 1);
    if (this.share(end) < 0 || this.share(start) > 1) return;
    bar.append('rect').attr('class', `phase ${className}`).attr('x', percent(inside(start)))
      .attr('width', percent(inside(end) - inside(start)));
  }

  /** A mark, if the bar from `start` to `end` is too short to be visible. */
  drawInstant(bar, className, start, end) {
    if (this.share(end) - this.share(start) < INSTANT) {
      this.drawPart(bar, `instant ${className}`, end, end);
    }
  }

  /** How long it took, behind the bar. */
  drawTook(bar, start, end) {
    const share = this.share(end);
    if (share < 0 || share > 1) return;
    bar.append('text').attr('class', 'took').attr('x', percent(share)).attr('dx', 5)
      .attr('y', '50%').attr('dy', '.35em').text(msText(end - start));
  }

  /** A line in a row's bar; times in ms, heights as in CSS. */
  drawLine(bar, className, [from, to], [y1, y2]) {
    const [x1, x2] = [this.share(from), this.share(to)];
    if (x2 < 0 || x1 > 1) return;
    bar.append('line').attr('class', className).attr('y1', y1).attr('y2', y2)
      .attr('x1', percent(Math.max(x1, 0))).attr('x2', percent(Math.min(x2, 1)));
  }
}

/** The times of a row's bar, for screen readers. An end that an archive lacks is not known. */
export function barText(start, end, isArchive = false) {
  const from = start === null ? 'start not known' : `starts at ${msText(start)}`;
  if (end !== null && start !== null) return shown(`${from}, takes ${msText(end - start)}`);
  return shown(`${from}, ${isArchive ? 'end not known' : 'never ended'}`);
}
