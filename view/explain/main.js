// Combines the parts of the page. The explanation is in the document; nothing is fetched.
import { select } from 'd3-selection';

import { put, section, table } from '../page/elements.js';
import { shown } from '../page/format.js';

import { Bottlenecks } from './bottlenecks.js';
import { CallsTable } from './calls_table.js';
import { dropDown } from './controls.js';
import { Costs } from './costs.js';
import { readExplanation, sliceName } from './explanation.js';
import { Fixes } from './fixes.js';
import { placeOf } from './place.js';
import { Scatter } from './scatter.js';
import { Slices } from './slices.js';
import { Trend } from './trend.js';
import { headline, scope } from './words.js';

class Page {
  constructor(explanation) {
    this.explanation = explanation;
    const top = select('#top');
    this.which = put(top, 'p', 'which', '');
    this.heading = put(top, 'h1', '', '');
    put(top, 'p', 'said', `${scope(explanation)} · made by reprise ${explanation.reprise}`);
    this.bar = select('body').insert('nav', '#page').attr('class', 'bar')
      .attr('aria-label', 'Parts of the page');
    if (explanation.slices.length === 0) return;
    const byKind = (kind) => this.calls.showKind(kind);
    this.bottlenecks = new Bottlenecks(explanation);
    this.fixes = new Fixes(explanation, byKind);
    this.costs = new Costs();
    this.slices = new Slices(explanation, (slice) => this.show(slice));
    this.trend = new Trend(explanation);
    this.calls = new CallsTable(explanation);
    this.scatter = new Scatter(explanation);
    showLosses(explanation);
    this.putBar();
    this.show(explanation.slices[0]);
    window.addEventListener('hashchange', () => this.go());
    this.go();
  }

  /** The way to the parts, and the slice that they show. */
  putBar() {
    if (this.explanation.slices.length > 1) {
      const options = this.explanation.slices.map((slice) => [slice.index, sliceName(slice)]);
      this.choice = dropDown(this.bar, 'Slice', options,
        (index) => this.show(this.explanation.slices[index]));
    }
    const links = this.bar.append('ul');
    select('#page').selectAll('section').each(function link() {
      const part = select(this);
      if (part.attr('hidden') !== null) return;
      put(links.append('li'), 'a', '', part.select('h2').text()).attr('href', `#${this.id}`);
    });
  }

  show(slice) {
    this.which.text(this.choice ? shown(sliceName(slice)) : '');
    this.heading.text(shown(headline(slice)));
    document.title = `${shown(headline(slice))} – reprise`;
    this.choice?.property('value', slice.index);
    const { bottlenecks, fixes, costs, slices, calls, scatter } = this;
    for (const part of [bottlenecks, fixes, costs, slices, calls, scatter]) part.show(slice);
  }

  /** Opens the place that the address names. */
  go() {
    const { kind, point } = placeOf(this.explanation, window.location.hash);
    if (kind) this.fixes.open(kind);
    if (point) this.scatter.open(point);
  }
}

function showLosses({ losses }) {
  const part = section('losses', 'Not explained');
  part.attr('hidden', losses.length === 0 ? '' : null);
  put(part, 'p', 'said', 'Data that the inputs could not give.');
  table(part, 'Losses', [
    { name: 'What', text: ({ what }) => what },
    { name: 'Count', text: ({ count }) => count.toLocaleString('en'), number: true },
  ], losses);
}

function start() {
  const began = performance.now();
  const page = new Page(readExplanation(document.getElementById('model').textContent));
  if (page.explanation.slices.length === 0) page.heading.text(headline());
  performance.measure('reprise-draw', { start: began });
}

start();
