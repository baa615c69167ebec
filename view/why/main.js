// Combines the parts of the page. The report is in the document; nothing is fetched.
import { select } from 'd3-selection';

import { put, section } from '../page/elements.js';
import { counted, shown } from '../page/format.js';
import { listed } from '../page/order.js';
import { PHASES } from '../page/phases.js';

import { Causes } from './causes.js';
import { showPair } from './pair_details.js';
import { Pairs } from './pairs.js';
import { differs, readReport } from './report.js';
import { showServers } from './servers.js';
import { headline, scope } from './words.js';

class Page {
  constructor(report) {
    this.report = report;
    const top = select('#top');
    put(top, 'h1', '', headline(report));
    put(top, 'p', 'said', scope(report));
    document.title = `${shown(headline(report))} – reprise`;
    this.causes = new Causes(report, (cause) => this.choose(cause));
    this.putRequests();
    this.list();
    showServers(report);
    window.addEventListener('hashchange', () => this.go());
    this.go();
  }

  putRequests() {
    const part = section('requests', 'Requests of A and B');
    const controls = part.append('div').attr('class', 'controls');
    const find = put(controls, 'label', 'find', 'Find ').append('input').attr('type', 'search');
    const only = controls.append('label').attr('class', 'check');
    const box = only.append('input').attr('type', 'checkbox').attr('id', 'only-different');
    put(only, 'span', '', 'Only what is shown to differ');
    this.count = put(controls, 'span', 'count', '').attr('role', 'status');
    const legend = part.append('ul').attr('class', 'legend').attr('aria-label', 'Colours');
    for (const { name, title } of PHASES) {
      const item = legend.append('li');
      put(item, 'span', `swatch ${name}`).attr('aria-hidden', true);
      put(item, 'span', '', title);
    }
    put(legend, 'li', '', 'A above, B below');
    this.pairs = new Pairs(part, this.report, (row) => this.showRow(row));
    this.panel = part.append('div').attr('class', 'details').attr('aria-live', 'polite');
    this.showRow(null);
    find.node().addEventListener('input', () => {
      this.text = find.property('value');
      this.list();
    });
    box.node().addEventListener('change', () => {
      this.onlyDifferent = box.property('checked');
      this.list();
    });
  }

  list() {
    const { rows } = this.report;
    const found = new Set(
      listed(rows.map(({ a, b, index }) => ({ ...(b ?? a), index })), { text: this.text ?? '' })
        .map(({ index }) => index));
    const items = rows.filter((row) => found.has(row.index)
      && (!this.onlyDifferent || differs(row, this.report)));
    this.pairs.showItems(items);
    this.count.text(items.length === rows.length ? counted(rows.length, 'request')
      : `${items.length} of ${counted(rows.length, 'request')}`);
  }

  choose(cause) {
    this.pairs.light(cause ? cause.rows : []);
    const place = cause ? `#cause=${cause.number}` : '#';
    if (window.location.hash !== place) window.history.replaceState(null, '', place);
  }

  showRow(row) {
    showPair(this.panel, row, this.report, (cause) => {
      this.causes.mark(cause);
      this.choose(cause);
    });
  }

  /** Opens the place that the address names. */
  go() {
    const [, number] = /^#cause=(\d{1,6})$/.exec(window.location.hash) ?? [];
    const cause = this.report.all[number - 1];
    if (!cause) return;
    this.causes.mark(cause);
    this.choose(cause);
  }
}

function start() {
  const began = performance.now();
  const page = new Page(readReport(document.getElementById('model').textContent));
  performance.measure('reprise-draw', { start: began });
  return page;
}

start();
