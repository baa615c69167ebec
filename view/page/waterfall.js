// The waterfall of one load: one row per request, its phases as a bar on the load's time axis.
import { axisTop } from 'd3-axis';
import { scaleLinear } from 'd3-scale';
import { select } from 'd3-selection';

import { keepInside, put } from './elements.js';
import { bytesText, hostOf, msText, nameOf, shown } from './format.js';
import { phasesOf, waitPartsOf } from './phases.js';
import { moved, Rows } from './rows.js';

const NARROW = 720; // below this width, name and bar are stacked
const CONNECTION_COLOURS = 8;
const ZOOM = 2;
const INSTANT = 0.003; // share of the width: shorter bars become a mark
const FLAG_SPACE = 28; // between the names of milestones, in pixels

const percent = (share) => `${(share * 100).toFixed(3)}%`;

export class Waterfall {
  /**
   * Calls `choose(request)` with the selected row or null, `hover(request, event)` with the row
   * under the pointer, and `onRange` with the visible time. `foot` is an element under the rows.
   */
  constructor(parent, { choose, hover }) {
    this.choose = choose;
    this.grid = parent.append('div').attr('class', 'waterfall').attr('role', 'grid')
      .attr('tabindex', 0).attr('aria-label', 'Requests of the load; arrow keys choose one');
    this.scroller = this.grid.append('div').attr('class', 'scroller');
    this.makeHead();
    this.rows = new Rows(this.scroller.node(), {
      height: () => (this.isNarrow() ? 44 : 26),
      draw: (element, request, position) => this.draw(element, request, position),
    });
    this.lines = this.rows.inner.append('div').attr('class', 'lines').attr('aria-hidden', true);
    this.foot = this.grid.append('div').attr('class', 'foot');
    this.chosen = null;
    this.onRange = () => {};
    this.listen(hover);
    new ResizeObserver(() => this.drawAxis()).observe(this.grid.node());
  }

  isNarrow() {
    return this.grid.node().clientWidth < NARROW;
  }

  makeHead() {
    const head = this.scroller.append('div').attr('class', 'head').attr('role', 'row');
    for (const [name, text] of [['name', 'Request'], ['status', 'Status'], ['protocol', 'Protocol'],
      ['size', 'Size'], ['connection', 'Conn.']]) {
      put(head, 'div', name, text).attr('role', 'columnheader');
    }
    const time = head.append('div').attr('class', 'time').attr('role', 'columnheader')
      .attr('aria-label', 'Time');
    this.axis = time.append('svg').attr('class', 'axis').attr('aria-hidden', true);
  }

  listen(hover) {
    this.grid.node().addEventListener('keydown', (event) => this.onKey(event));
    const requestAt = (target) => {
      const row = target.closest?.('.row');
      return row ? this.rows.items[row.getAttribute('aria-rowindex') - 1] : null;
    };
    const { inner } = this.rows;
    inner.node().addEventListener('click', (event) => {
      const request = requestAt(event.target);
      if (request) this.select(request === this.chosen ? null : request);
    });
    inner.node().addEventListener('pointermove', (event) => {
      if (event.pointerType === 'mouse') hover(requestAt(event.target), event);
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

  select(request) {
    this.chosen = request;
    this.rows.inner.selectAll('.row').attr('aria-selected',
      (position) => String(this.rows.items[position] === request));
    const at = this.rows.items.indexOf(request);
    this.grid.attr('aria-activedescendant', at < 0 ? null : `request-${request.index}`);
    this.choose(request);
  }

  /** `load`: { requests, milestones, chain, roundTrips, end }. */
  setLoad(load) {
    this.load = load;
    this.chosen = null;
    this.links = new Map(load.chain.map((link) => [link.request.index, link]));
    this.connections = new Map();
    for (const { connection } of load.requests) {
      if (connection && !this.connections.has(connection)) {
        this.connections.set(connection, this.connections.size);
      }
    }
    this.range = [0, load.end];
  }

  setItems(items, inOrderOfStart) {
    this.positions = new Map(items.map((request, position) => [request.index, position]));
    this.joins = inOrderOfStart ? this.chainJoins() : [];
    this.grid.attr('aria-rowcount', items.length);
    this.scroller.node().scrollTop = 0;
    this.rows.show(items);
    this.drawAxis();
  }

  /** Where the chain moves down from one row to another: [{ from, to, time }]. */
  chainJoins() {
    const joins = [];
    for (let i = 1; i < this.load.chain.length; i += 1) {
      const from = this.positions.get(this.load.chain[i - 1].request.index);
      const to = this.positions.get(this.load.chain[i].request.index);
      if (from !== undefined && to > from) joins.push({ from, to, time: this.load.chain[i].from });
    }
    return joins;
  }

  share(time) {
    return (time - this.range[0]) / (this.range[1] - this.range[0]);
  }

  zoom(factor) {
    const [from, to] = this.range;
    const middle = this.chosen ? Math.min(Math.max(this.chosen.start, from), to) : (from + to) / 2;
    const width = Math.min(Math.max((to - from) * factor, 1), this.load.end);
    this.moveTo(middle - width / 2, width);
  }

  pan(share) {
    const width = this.range[1] - this.range[0];
    this.moveTo(this.range[0] + width * share, width);
  }

  moveTo(from, width) {
    const start = Math.min(Math.max(from, 0), this.load.end - width);
    this.range = [start, start + width];
    this.rows.redraw();
    this.drawAxis();
  }

  drawAxis() {
    if (!this.range) return;
    const width = this.axis.node().clientWidth;
    const scale = scaleLinear().domain(this.range).range([0, width]);
    const count = Math.max(2, Math.floor(width / 90));
    const unit = this.range[1] >= 10_000 ? 1000 : 1;
    this.axis.selectAll('*').remove();
    this.axis.append('g').attr('transform', 'translate(0,22)')
      .call(axisTop(scale).ticks(count).tickSizeOuter(0)
        .tickFormat((value) => (unit === 1000 ? `${value / 1000} s` : `${value} ms`)));
    keepInside(this.axis, scale, 0, Infinity);
    const marks = [
      ...scale.ticks(count).map((time) => ({ time, kind: 'tick' })),
      ...this.load.milestones.map(({ time, short }) => ({ time, kind: `mark ${short}` })),
    ].filter(({ time }) => time >= this.range[0] && time <= this.range[1]);
    this.drawFlags(scale, width);
    this.lines.selectAll('.line').data(marks).join('div')
      .attr('class', (mark) => `line ${mark.kind}`)
      .style('left', (mark) => percent(this.share(mark.time)));
    this.onRange(this.range);
  }

  /** Draws the milestones' flags; with names if there is room, the important ones first. */
  drawFlags(scale, width) {
    const { milestones } = this.load;
    const named = new Map();
    for (const short of ['Load', 'LCP', 'FCP', 'DCL', 'LLT', 'FP']) {
      const time = milestones.find((each) => each.short === short)?.time;
      const hasRoom = (x) => Math.abs(x - scale(time)) > FLAG_SPACE;
      if (time !== undefined && [...named.values()].every(hasRoom)) {
        named.set(short, scale(time));
      }
    }
    for (const { time, short, name } of milestones) {
      const x = scale(time);
      if (x < 0 || x > width) continue;
      const flag = this.axis.append('g').attr('class', `flag ${short}`);
      flag.append('path').attr('d', `M${x.toFixed(1)} 42l-4 -6h8z`);
      put(flag, 'title', '', `${name}: ${msText(time)}`);
      if (named.has(short)) put(flag, 'text', '', short).attr('x', x).attr('y', 33);
    }
  }

  draw(element, request, position) {
    const row = select(element).attr('id', `request-${request.index}`)
      .attr('aria-selected', String(request === this.chosen))
      .classed('failed', request.failure !== '' || request.status >= 400)
      .classed('critical', this.links.has(request.index))
      .classed('odd', position % 2 === 1);
    const name = put(row, 'div', 'name').attr('role', 'gridcell');
    put(name, 'span', `type ${typeClass(request.type)}`).attr('title', request.type);
    put(name, 'span', 'path', nameOf(request.url));
    if (hostOf(request.url) !== this.load.host) put(name, 'span', 'host', hostOf(request.url));
    put(row, 'div', 'status', statusText(request)).attr('role', 'gridcell');
    put(row, 'div', 'protocol', request.protocol).attr('role', 'gridcell');
    put(row, 'div', 'size', request.fromCache ? 'cache' : bytesText(request.encodedBytes))
      .attr('role', 'gridcell');
    const connection = put(row, 'div', 'connection').attr('role', 'gridcell');
    if (request.connection) {
      const number = this.connections.get(request.connection) % CONNECTION_COLOURS;
      put(connection, 'span', `badge c${number}`, request.connection);
    }
    const bar = row.append('svg').attr('class', 'bar').attr('role', 'gridcell')
      .attr('aria-label', barText(request));
    this.drawBar(bar, request);
    this.drawChain(bar, request, position);
  }

  drawBar(bar, request) {
    const phases = phasesOf(request, this.load.end);
    // Cut off what is outside the range: labels may stick out, bars may not.
    const inside = (time) => Math.min(Math.max(this.share(time), 0), 1);
    const rect = (name, start, end) => {
      if (this.share(end) < 0 || this.share(start) > 1) return;
      bar.append('rect').attr('class', `phase ${name}`).attr('x', percent(inside(start)))
        .attr('width', percent(inside(end) - inside(start)));
    };
    for (const { name, start, end } of phases) rect(name, start, end);
    // Even a request that took almost no time must be visible.
    const last = phases.at(-1) ?? { name: '', end: request.start };
    if (last.end !== null && this.share(last.end) - this.share(request.start) < INSTANT) {
      rect(`instant ${last.name}`, last.end, last.end);
    }
    const parts = waitPartsOf(request, phases, this.load.roundTrips);
    if (parts) {
      const wait = phases.find((phase) => phase.name === 'wait');
      rect('round-trip', wait.start, wait.start + parts.roundTrip);
    }
    if (request.fromCache) bar.classed('cached', true);
    if (request.end === null || request.start === null) return;
    const end = this.share(request.end);
    if (end < 0 || end > 1) return;
    bar.append('text').attr('class', 'took').attr('x', percent(end)).attr('dx', 5).attr('y', '50%')
      .attr('dy', '.35em').text(msText(request.end - request.start));
  }

  drawChain(bar, request, position) {
    const link = this.links.get(request.index);
    const line = (className, x1, x2, y1, y2) => {
      if (x2 < 0 || x1 > 1) return;
      bar.append('line').attr('class', className).attr('y1', y1).attr('y2', y2)
        .attr('x1', percent(Math.max(x1, 0))).attr('x2', percent(Math.min(x2, 1)));
    };
    if (link) line('chain', this.share(link.from), this.share(link.until), '92%', '92%');
    for (const { from, to, time } of this.joins) {
      if (position < from || position > to) continue;
      const x = this.share(time);
      line('chain join', x, x, position === from ? '92%' : '0%', position === to ? '92%' : '100%');
    }
  }
}

function typeClass(type) {
  return /^[A-Za-z]+$/.test(type) ? type : 'Other';
}

export function statusText(request) {
  if (request.status) return String(request.status);
  return request.failure ? 'failed' : '–';
}

function barText(request) {
  const start = request.start === null ? 'start not known' : `starts at ${msText(request.start)}`;
  return shown(request.end === null || request.start === null ? `${start}, never ended`
    : `${start}, takes ${msText(request.end - request.start)}`);
}
