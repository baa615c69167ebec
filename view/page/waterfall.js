// The waterfall of one load: one row per request, its phases as a bar on the load's time axis.
import { select } from 'd3-selection';

import { put } from './elements.js';
import { bytesText, hostOf, msText, nameOf } from './format.js';
import { phasesOf, waitPartsOf } from './phases.js';
import { barText, Timeline } from './timeline.js';

const CONNECTION_COLOURS = 8;
const FLAG_SPACE = 28; // between the names of milestones, in pixels

export class Waterfall extends Timeline {
  /** `choose` and `hover` are those of Timeline. `foot` is an element under the rows. */
  constructor(parent, { choose, hover }) {
    super(parent, {
      label: 'Requests of the load; arrow keys choose one',
      idPrefix: 'request',
      columns: [['name', 'Request'], ['status', 'Status'], ['protocol', 'Protocol'],
        ['size', 'Size'], ['connection', 'Conn.']],
      choose,
      hover,
    });
    this.foot = this.grid.append('div').attr('class', 'foot');
  }

  /** `load`: { requests, milestones, chain, roundTrips, isArchive, end }. */
  setLoad(load) {
    this.load = load;
    this.links = new Map(load.chain.map((link) => [link.request.index, link]));
    this.connections = new Map();
    for (const { connection } of load.requests) {
      if (connection && !this.connections.has(connection)) {
        this.connections.set(connection, this.connections.size);
      }
    }
    this.setEnd(load.end);
  }

  setItems(items, inOrderOfStart) {
    this.positions = new Map(items.map((request, position) => [request.index, position]));
    this.joins = inOrderOfStart ? this.chainJoins() : [];
    this.showItems(items);
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

  marks() {
    return this.load.milestones.map(({ time, short }) => ({ time, kind: `mark ${short}` }));
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
    const row = select(element).attr('id', this.rowId(request))
      .attr('aria-selected', String(request === this.chosen))
      .classed('failed', request.failure !== '' || request.status >= 400)
      .classed('critical', this.links.has(request.index))
      .classed('odd', position % 2 === 1);
    const name = put(row, 'div', 'name').attr('role', 'gridcell');
    put(name, 'span', `type ${typeClass(request.type)}`).attr('title', request.type);
    put(name, 'span', 'path', nameOf(request.url));
    if (request.isBlocking) {
      put(name, 'span', 'is-blocking', 'blocks').attr('title', 'Nothing is painted before it ended');
    }
    if (request.trace) put(name, 'span', 'has-trace', 'trace');
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
      .attr('aria-label', barText(request.start, request.end, this.load.isArchive));
    this.drawBar(bar, request);
    this.drawChain(bar, request, position);
  }

  drawBar(bar, request) {
    const phases = phasesOf(request, this.load.end);
    for (const { name, start, end } of phases) this.drawPart(bar, name, start, end);
    // Even a request that took almost no time must be visible.
    const last = phases.at(-1) ?? { name: '', end: request.start };
    if (last.end !== null) this.drawInstant(bar, last.name, request.start, last.end);
    const parts = waitPartsOf(request, phases, this.load.roundTrips);
    if (parts) {
      const wait = phases.find((phase) => phase.name === 'wait');
      this.drawPart(bar, 'round-trip', wait.start, wait.start + parts.roundTrip);
    }
    if (request.fromCache) bar.classed('cached', true);
    if (request.end === null || request.start === null) return;
    this.drawTook(bar, request.start, request.end);
  }

  drawChain(bar, request, position) {
    const link = this.links.get(request.index);
    if (link) this.drawLine(bar, 'chain', [link.from, link.until], ['92%', '92%']);
    for (const { from, to, time } of this.joins) {
      if (position < from || position > to) continue;
      const [y1, y2] = [position === from ? '92%' : '0%', position === to ? '92%' : '100%'];
      this.drawLine(bar, 'chain join', [time, time], [y1, y2]);
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
