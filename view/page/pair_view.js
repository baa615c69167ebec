// Two loads side by side: a row for each request, the bar of one load above that of the other.
import { select } from 'd3-selection';

import { putServersOfTwo } from '../trench/servers.js';

import { put, section } from './elements.js';
import { counted, hostOf, nameOf, signedMs } from './format.js';
import { configurationName, requestsOf } from './model.js';
import { pairsOf, shiftOf } from './pairs.js';
import { phasesOf } from './phases.js';
import { tracesOf } from './servers.js';
import { barText, Timeline } from './timeline.js';

/** Empty if not known. */
const shiftText = (ms) => (ms === null ? '' : signedMs(ms));

function stateOf(pair) {
  if (!pair.b) return 'only A';
  if (!pair.a) return 'only B';
  return pair.moved ? 'moved' : '';
}

class PairedWaterfall extends Timeline {
  constructor(parent) {
    super(parent, {
      label: 'Requests of both loads; arrow keys choose one',
      idPrefix: 'pair',
      columns: [['name', 'Request'], ['state', 'Change'], ['shift', 'Start'], ['shift', 'End']],
      choose: () => {},
      hover: () => {},
      heights: [36, 52],
    });
    this.grid.classed('paired', true);
  }

  draw(element, pair, position) {
    const request = pair.a ?? pair.b;
    const row = select(element).attr('id', this.rowId(pair))
      .attr('aria-selected', String(pair === this.chosen))
      .classed('odd', position % 2 === 1);
    const name = put(row, 'div', 'name').attr('role', 'gridcell');
    put(name, 'span', 'path', nameOf(request.url));
    put(name, 'span', 'host', hostOf(request.url));
    const state = stateOf(pair);
    put(row, 'div', 'state', state).attr('role', 'gridcell').classed('changed', state !== '');
    for (const field of ['start', 'end']) {
      put(row, 'div', 'shift', shiftText(shiftOf(pair, field))).attr('role', 'gridcell');
    }
    const bars = row.append('div').attr('class', 'bars').attr('role', 'gridcell');
    for (const side of ['a', 'b']) this.drawSide(bars, side, pair[side]);
  }

  drawSide(bars, side, request) {
    const bar = bars.append('svg').attr('class', `bar side-${side}`);
    const says = request ? barText(request.start, request.end, this.isArchive[side])
      : 'not requested';
    bar.attr('role', 'img').attr('aria-label', `${side.toUpperCase()}: ${says}`);
    if (!request) return;
    const phases = phasesOf(request, this.end);
    for (const { name, start, end } of phases) this.drawPart(bar, name, start, end);
    const end = phases.at(-1)?.end ?? request.end;
    if (end === null || request.start === null) return;
    this.drawInstant(bar, phases.at(-1)?.name ?? '', request.start, end);
    this.drawTook(bar, request.start, end);
  }
}

function titleOf(model, load) {
  const input = model.inputs[load.input];
  const noun = input.kind === 'archive' ? 'session' : 'run';
  return [input.name, `${noun} ${load.run ?? '?'}`, configurationName(load)].filter(Boolean)
    .join(' · ');
}

export class PairView {
  constructor(model) {
    this.model = model;
  }

  /** Shows two of `loads`: at first the first of each of two files, else the first two. */
  show(loads) {
    const part = section('pair', 'Two loads side by side');
    part.attr('hidden', loads.length < 2 ? '' : null);
    if (loads.length < 2) return;
    const usual = loads.filter((load) => !load.warm_up);
    const first = usual[0] ?? loads[0];
    const others = loads.filter((load) => load !== first);
    this.chosen = [first, others.find((load) => load.input !== first.input && !load.warm_up)
      ?? others.find((load) => !load.warm_up) ?? others[0]];
    const form = part.append('div').attr('class', 'controls');
    ['A', 'B'].forEach((name, at) => this.putChoice(form, name, at, loads));
    const only = form.append('label').attr('class', 'check');
    const box = only.append('input').attr('type', 'checkbox');
    only.node().append(' only what moved, or is in one load alone');
    box.node().addEventListener('change', () => {
      this.onlyChanged = box.node().checked;
      this.list();
    });
    this.onlyChanged = false;
    this.count = put(form, 'output', 'count', '');
    this.waterfall = new PairedWaterfall(part);
    this.servers = part.append('div').attr('class', 'servers-of-two');
    this.draw();
  }

  putChoice(form, name, at, loads) {
    const choice = put(form, 'label', '', `${name} `).append('select');
    choice.selectAll('option').data(loads).join('option').attr('value', (load) => load.index)
      .property('selected', (load) => load === this.chosen[at])
      .text((load) => titleOf(this.model, load));
    choice.node().addEventListener('change', () => {
      this.chosen[at] = this.model.loads[choice.node().value];
      this.draw();
    });
  }

  draw() {
    const [a, b] = this.chosen.map((load) => requestsOf(this.model, load));
    this.pairs = pairsOf(a, b);
    const ends = [...a, ...b].map((request) => request.end ?? request.start ?? 0);
    const [isArchiveA, isArchiveB] = this.chosen.map(
      (load) => this.model.inputs[load.input].kind === 'archive');
    this.waterfall.isArchive = { a: isArchiveA, b: isArchiveB };
    this.waterfall.setEnd(ends.reduce((end, each) => Math.max(end, each), 1) * 1.02);
    this.list();
    this.putServers(tracesOf(a), tracesOf(b));
  }

  putServers(a, b) {
    this.servers.selectAll('*').remove();
    if (a.length === 0 || b.length === 0) return;
    put(this.servers, 'h3', 'trench-title', 'What the servers did in A and in B');
    const [ofA, ofB] = this.chosen.map((load) => ({ too_large: load.traces_left_out }));
    putServersOfTwo(this.servers, 'pair-servers', a, b, { a: ofA, b: ofB });
  }

  list() {
    const changed = this.pairs.filter((pair) => stateOf(pair) !== '');
    this.waterfall.showItems(this.onlyChanged ? changed : this.pairs);
    this.count.text(`${counted(this.pairs.length, 'request')}, ${changed.length} moved or in one load alone`);
  }
}
