// The part of the page that shows one load.
import { select } from 'd3-selection';

import { chainOf, chainTimes } from './chain.js';
import { showDetails, showTip } from './details.js';
import { put, putFigure, section } from './elements.js';
import { csvOf, harOf } from './exports.js';
import { bytesText, countText, counted, hostOf, msText, shown } from './format.js';
import { putFile } from './files.js';
import { putFilmstrip } from './filmstrip.js';
import { configurationName, milestonesOf, requestsOf } from './model.js';
import { listed, SORTS, typesOf } from './order.js';
import { chartsOf, putCharts } from './network_chart.js';
import { PHASES, phasesOf, roundTripsOf } from './phases.js';
import { fragmentOf } from './place.js';
import { Waterfall } from './waterfall.js';

/** The data of a load for the waterfall and the details. */
export function prepare(model, load) {
  const requests = requestsOf(model, load);
  const milestones = milestonesOf(model, load);
  const lastEnd = requests.reduce((end, each) => Math.max(end, each.end ?? each.start ?? 0), 0);
  const seenEnd = Math.max(load.visuals?.visually_complete_ms ?? 0,
    load.visuals?.long_tasks.at(-1)?.[1] ?? 0);
  const last = Math.max(lastEnd, milestones.at(-1)?.time ?? 0, seenEnd, 1);
  const blocking = new Set(load.visuals?.render_blocking);
  for (const request of requests) request.isBlocking = blocking.has(request.url);
  const isArchive = model.inputs[load.input].kind === 'archive';
  return {
    load,
    requests,
    milestones,
    roundTrips: roundTripsOf(requests),
    chain: chainOf(load, requests),
    dependencies: (load.dependencies ?? []).map(
      ([from, to, why, tested]) => ({ from: requests[from], to: requests[to], why, tested })),
    chainEnd: load.metrics?.load_event_ms ?? lastEnd,
    host: hostOf(load.final_url || load.url || ''),
    initiatorName: isArchive ? 'Referrer' : 'Initiator',
    isArchive,
    lastEnd,
    // A little more, so that the end of the last request is visible.
    end: last * 1.02,
  };
}

export class LoadView {
  constructor(model) {
    this.model = model;
    this.state = { text: '', type: '', sort: 'start', chainOnly: false };
    this.tip = select('body').append('div').attr('class', 'tip').attr('aria-hidden', true);
    this.head = section('load', 'Load');
    this.box = this.head.append('div');
  }

  show(load) {
    this.load = load;
    this.shown = prepare(this.model, load);
    this.state.type = '';
    this.head.select('h2').text(`${this.shown.isArchive ? 'Session' : 'Run'} ${load.run ?? ''}`);
    this.box.selectAll('*').remove();
    this.putSummary();
    this.putControls();
    this.putLegend();
    this.waterfall = new Waterfall(this.box, {
      choose: (request) => this.showDetails(request),
      hover: (request, event) => showTip(this.tip, request, this.shown, event),
    });
    this.waterfall.onRange = putCharts(this.waterfall.foot, chartsOf(load, this.shown));
    this.panel = this.box.append('div').attr('class', 'details').attr('aria-live', 'polite');
    this.waterfall.setLoad(this.shown);
    this.list();
    showDetails(this.panel, null, this.shown);
  }

  /** Chooses the request with this index, if there is one. */
  choose(index) {
    const request = this.shown.requests[index];
    if (request) this.goTo(request);
  }

  goTo(request) {
    // A link leads to its row, whatever was filtered.
    if (!this.waterfall.positions.has(request.index)) this.showAll();
    this.waterfall.select(request);
    this.waterfall.rows.reveal(this.waterfall.positions.get(request.index));
  }

  /** As goTo(), from elsewhere on the page. */
  jumpTo(request) {
    this.goTo(request);
    const grid = this.waterfall.grid.node();
    grid.scrollIntoView({ block: 'nearest' });
    grid.focus({ preventScroll: true });
  }

  showDetails(request) {
    window.history.replaceState(null, '', fragmentOf(this.load, request));
    showDetails(this.panel, request, this.shown, (other) => this.goTo(other));
  }

  putSummary() {
    const { load, shown: { milestones, requests, chain, chainEnd, lastEnd, isArchive } } = this;
    put(this.box, 'p', 'address', load.final_url || load.url || '');
    const said = [configurationName(load), load.started && `recorded ${load.started}`,
      load.warm_up && 'warm-up, not counted'].filter(Boolean);
    if (said.length > 0) put(this.box, 'p', 'said', said.join(' · '));
    if (load.outcome && !['loaded', 'recorded'].includes(load.outcome)) {
      put(this.box, 'p', 'failure', `Not loaded (${load.outcome}): ${load.failure}`);
    }
    const tiles = this.box.append('dl').attr('class', 'tiles');
    const tile = (name, text, className) => {
      const made = tiles.append('div').attr('class', className ?? '');
      put(made, 'dt', '', name);
      put(made, 'dd', '', text);
    };
    for (const { name, short, time } of milestones) tile(name, msText(time), `mark ${short}`);
    const { visuals } = load;
    for (const [key, name] of [['speed_index_ms', 'Speed Index'],
      ['visually_complete_ms', 'Visually complete'], ['total_blocking_ms', 'Total blocking time']]) {
      if (visuals?.[key] != null) tile(name, msText(visuals[key]));
    }
    if (isArchive) tile('Last response ended', msText(lastEnd));
    tile('Requests', countText(load.metrics?.request_count ?? requests.length));
    tile('On the wire', bytesText(load.metrics?.encoded_bytes ?? null));
    if (load.metrics?.connection_count != null)
      tile('Connections', countText(load.metrics.connection_count));
    if (load.metrics?.misses != null)
      tile('Misses', countText(load.metrics.misses), load.metrics.misses > 0 ? 'bad' : '');
    for (const [left, what] of [[load.requests_left_out, 'request'],
      [load.traces_left_out, 'server trace'], [load.heads_left_out, 'request and response head']]) {
      if (!(left > 0)) continue;
      put(this.box, 'p', 'failure', `${counted(left, what)} not shown: the page would be too large.`);
    }
    putFilmstrip(this.box, load);
    if (chain.length > 0) this.putChainBar(chain, chainEnd);
  }

  /** What the load waited for, in order, as one bar. */
  putChainBar(chain, end) {
    const times = chainTimes(chain, end, phasesOf);
    const names =
      [...PHASES, { name: 'browser', title: 'Browser' }].filter(({ name }) => times[name] > 0);
    const until = this.load.metrics?.load_event_ms == null ? 'the end of the last request' : 'the load event';
    const figure = putFigure(this.box, 'chain-times', `Critical chain: ${
      counted(chain.length, 'request')} until ${until} at ${msText(end)}. Its time went to`);
    const bar = figure.append('div').attr('class', 'stack').attr('aria-hidden', true);
    const list = figure.append('ul');
    for (const { name, title } of names) {
      bar.append('div').attr('class', name).style('flex-grow', times[name]);
      const item = list.append('li');
      put(item, 'span', `swatch ${name}`);
      item.node().append(`${title} `);
      put(item, 'b', '', msText(times[name]));
    }
  }

  putControls() {
    const form = this.box.append('div').attr('class', 'controls').attr('role', 'search')
      .attr('aria-label', 'Requests');
    const find = put(form, 'label', 'find', 'Filter ').append('input').attr('type', 'search')
      .attr('placeholder', 'search URL, type, status').attr('autocomplete', 'off')
      .attr('value', this.state.text);
    find.node().addEventListener('input', () => this.change({ text: find.node().value }));
    const types = typesOf(this.shown.requests);
    const type = put(form, 'label', '', 'Type ').append('select');
    type.selectAll('option').data([['', this.shown.requests.length], ...types]).join('option')
      .attr('value', (each) => each[0])
      .text(([name, count]) => `${shown(name) || 'all'} (${count})`);
    type.node().addEventListener('change', () => this.change({ type: type.node().value }));
    const sort = put(form, 'label', '', 'Sort by ').append('select');
    sort.selectAll('option').data(SORTS).join('option').attr('value', (each) => each.key)
      .property('selected', (each) => each.key === this.state.sort)
      .text((each) => each.name);
    sort.node().addEventListener('change', () => this.change({ sort: sort.node().value }));
    const only = form.append('label').attr('class', 'check');
    const box =
      only.append('input').attr('type', 'checkbox').property('checked', this.state.chainOnly);
    only.node().append(' critical chain only');
    box.node().addEventListener('change', () => this.change({ chainOnly: box.node().checked }));
    this.filters = { find, type, box };
    const zoom =
      form.append('span').attr('class', 'zoom').attr('role', 'group').attr('aria-label', 'Zoom');
    for (const [text, title, factor] of [
           ['−', 'Zoom out', 2], ['+', 'Zoom in', 0.5], ['Fit', 'Whole load', Infinity]]) {
      put(zoom, 'button', '', text).attr('type', 'button').attr('title', title)
        .node().addEventListener('click', () => this.waterfall.zoom(factor));
    }
    const files = form.append('span').attr('class', 'files').attr('role', 'group')
      .attr('aria-label', 'Save the requests');
    const name = `load-${this.load.index + 1}`;
    putFile(files, 'CSV', `${name}.csv`, 'text/csv', () => csvOf(this.shown.requests));
    putFile(files, 'HAR', `${name}.har`, 'application/json',
      () => JSON.stringify(harOf(this.load, this.shown, this.model.reprise)));
    this.count = put(form, 'output', 'count', '');
  }

  putLegend() {
    const list = this.box.append('ul').attr('class', 'legend').attr('aria-label', 'Colours');
    for (const { name, title } of PHASES) {
      const item = list.append('li');
      put(item, 'span', `swatch ${name}`);
      item.node().append(title);
      if (name !== 'wait' || this.shown.roundTrips.size === 0) continue;
      const part = list.append('li');
      put(part, 'span', 'swatch round-trip');
      part.node().append('– one round trip');
    }
    const chain = list.append('li');
    put(chain, 'span', 'swatch chain');
    chain.node().append('Critical chain');
  }

  showAll() {
    const { find, type, box } = this.filters;
    find.property('value', '');
    type.property('value', '');
    box.property('checked', false);
    this.change({ text: '', type: '', chainOnly: false });
  }

  change(to) {
    Object.assign(this.state, to);
    this.list();
  }

  list() {
    const { requests, chain } = this.shown;
    const only = this.state.chainOnly ? new Set(chain.map((link) => link.request.index)) : null;
    const items = listed(requests, { ...this.state, only });
    this.waterfall.setItems(items, this.state.sort === 'start');
    this.count.text(items.length === requests.length ? counted(items.length, 'request')
      : `${items.length} of ${counted(requests.length, 'request')}`);
  }
}
