// Combines the parts of the page. The model is in the document; nothing is fetched.
import { select } from 'd3-selection';

import { showDistributions } from './distributions.js';
import { put } from './elements.js';
import { counted, shown } from './format.js';
import { LoadView } from './load.js';
import { LoadList } from './loads.js';
import { readModel } from './model.js';
import { PairView } from './pair_view.js';
import { fragmentOf, placeAt } from './place.js';
import { showServers } from './servers.js';
import { groupsOf, isMeasured } from './statistics.js';
import { showTables } from './tables.js';
import { showVerdict } from './verdict.js';

class Page {
  constructor(model) {
    this.model = model;
    this.pages = [...new Set(model.loads.map((load) => load.url))];
    this.putTop();
    showVerdict(model);
    this.distributions = select('#page').append('section').attr('id', 'distributions');
    this.list = new LoadList(model, (load) => this.choose(load));
    this.view = new LoadView(model);
    showServers([]); // its place, above the pair
    this.pair = new PairView(model);
    // A link to another place on this page.
    window.addEventListener('hashchange', () => {
      const place = placeAt(model, window.location.hash);
      if (place) this.go(place);
    });
  }

  putTop() {
    const { inputs, loads, reprise } = this.model;
    const top = select('#top');
    const names = inputs.map((input) => input.name).join(', ');
    document.title = `${names} – reprise`;
    put(top, 'h1', '', names);
    for (const input of inputs) put(top, 'p', 'said', this.describe(input));
    const sessions = loads.filter((load) => inputs[load.input].kind === 'archive').length;
    const held = [[loads.length - sessions, 'load'], [sessions, 'session']]
                   .filter(([count]) => count > 0)
                   .map(([count, noun]) => counted(count, noun))
                   .join(', ');
    put(top, 'p', 'said', `${held || 'Nothing to show: no loads'} · made by reprise ${reprise}`);
    if (this.model.explanation) {
      put(put(top, 'p', 'said', ''), 'a', '', 'Where the time goes')
        .attr('href', this.model.explanation);
    }
    if (this.pages.length < 2) return;
    const choice = put(top, 'label', 'pages', 'Page ').append('select');
    choice.selectAll('option').data(this.pages).join('option').attr('value', (url) => url)
      .text(shown);
    choice.node().addEventListener('change', () => this.showPage(choice.node().value));
  }

  describe(input) {
    const several = this.model.inputs.length > 1 ? `${input.name}: ` : '';
    if (input.kind === 'archive')
      return `${several}recorded exchanges, ${(input.size_bytes / 1e6).toFixed(1)} MB`;
    const { browser, archive, cpu, cores } = input.settings;
    return several + [
      browser, archive ? `from ${archive}` : 'from the network',
      cpu && `${cpu}${cores ? `, ${cores} cores` : ''}`
    ].filter(Boolean).join(' · ');
  }

  showPage(url) {
    this.shownUrl = url;
    select('#top select').property('value', url);
    const loads = this.model.loads.filter((load) => load.url === url);
    const results = loads.filter((load) => this.model.inputs[load.input].kind === 'result');
    showDistributions(
      this.model.metrics, groupsOf(results, this.model.inputs), (load) => this.choose(load));
    this.list.show(loads);
    this.pair.show(loads);
    this.choose(loads.find(isMeasured) ?? loads[0]);
  }

  /** Shows a place (place.js). */
  go({ load, request }) {
    if (load.url !== this.shownUrl) this.showPage(load.url);
    if (load !== this.view.load) this.choose(load);
    if (request !== null) this.view.choose(request);
  }

  choose(load) {
    window.history.replaceState(null, '', fragmentOf(load));
    this.list.mark(load);
    this.showLoad(load);
  }

  showLoad(load) {
    this.view.show(load);
    showServers(this.view.shown.requests, (request) => this.view.jumpTo(request));
    showTables(load, this.view.shown);
  }
}

function start() {
  const began = performance.now();
  const model = readModel(document.getElementById('model').textContent);
  const page = new Page(model);
  const asked = placeAt(model, window.location.hash);
  if (asked) page.go(asked);
  else if (model.loads.length > 0) page.showPage(model.loads[0].url);
  performance.measure('reprise-draw', { start: began });
}

start();
