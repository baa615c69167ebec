// The panel: requests with a trace on the left, the graph of the chosen one on the right. Requests
// come from the developer tools; nothing is asked of servers, but for traces that responses have
// only a URL of, from their own origin, when they are chosen.
import { select } from 'd3-selection';

import { put } from '../../view/page/elements.js';
import { counted, hostOf, msText, nameOf } from '../../view/page/format.js';
import { parseJson, readFields } from '../../view/trench/fields.js';
import { TrenchGraph } from '../../view/trench/graph.js';
import { treeOf } from '../../view/trench/tree.js';
import { fetchTrace } from './fetch_trace.js';

const KEPT_MAX = 500; // requests
const { devtools } = globalThis.chrome; // in Firefox, too: with callbacks

class Panel {
  constructor() {
    this.requests = [];
    this.lastId = 0;
    const bar = select('#requests').append('div').attr('class', 'requests-head');
    this.count = put(bar, 'span', 'says', '');
    put(bar, 'button', '', 'Clear').attr('type', 'button').node()
      .addEventListener('click', () => this.clear());
    this.list = select('#requests').append('ul');
    this.main = select('#page');
  }

  /** Also the beginning. */
  clear() {
    this.requests = [];
    this.show(null);
  }

  /** `entry` of a HAR, as the developer tools have it. */
  add(entry) {
    const { url: requestUrl, method } = entry.request;
    const request = { id: this.lastId += 1, url: requestUrl, method, tree: null, error: '' };
    try {
      const { url, json } = readFields(entry.response.headers);
      if (url === null && json === null) return;
      if (json === null) request.traceUrl = ownUrl(url, requestUrl);
      else request.tree = treeOf(json);
    } catch (error) {
      request.error = error.message;
    }
    this.requests.push(request);
    if (this.requests.length > KEPT_MAX) this.requests.shift();
    if (this.chosen === null) this.show(request);
    else this.drawList();
  }

  drawList() {
    this.count.text(counted(this.requests.length, 'request'));
    const panel = this;
    this.list.selectAll('li').data(this.requests, (request) => request.id).join('li')
      .classed('failed', (request) => request.error !== '')
      .each(function fill(request) {
        const item = select(this);
        item.selectAll('*').remove();
        const button = put(item, 'button', '', `${request.method} ${nameOf(request.url)}`)
          .attr('type', 'button').attr('aria-current', String(request === panel.chosen));
        put(button, 'span', 'says', `${hostOf(request.url)} · ${stateOf(request)}`);
        button.node().addEventListener('click', () => panel.show(request));
      });
  }

  show(request) {
    this.chosen = request;
    this.drawList();
    this.main.selectAll('*').remove();
    if (!request) {
      put(this.main, 'p', 'hint', 'Requests whose servers send Banky-Trace fields appear here. '
        + 'Reload the page to see those of its start.');
      return;
    }
    put(this.main, 'h1', '', `${request.method} ${request.url}`);
    if (request.error) put(this.main, 'p', 'failure', `Its trace cannot be read: ${request.error}`);
    else if (request.tree) new TrenchGraph(this.main, request.tree);
    else this.fetch(request);
  }

  fetch(request) {
    put(this.main, 'p', 'hint', 'Fetching the trace…');
    fetchTrace(devtools.inspectedWindow, request.traceUrl, (text, why) => {
      try {
        if (why) throw new Error(why);
        request.tree = treeOf(parseJson(text));
      } catch (error) {
        request.error = error.message;
      }
      if (this.chosen === request) this.show(request);
      else this.drawList();
    });
  }
}

function stateOf({ error, tree }) {
  if (error) return 'trace cannot be read';
  return tree ? msText(tree.ms) : 'trace at its URL';
}

/** The URL of a trace, which must be of the origin of its request. */
function ownUrl(url, requestUrl) {
  const resolved = new URL(url, requestUrl);
  if (resolved.origin !== new URL(requestUrl).origin || resolved.origin === 'null') {
    throw new Error(`its URL is of another origin: ${resolved.href}`);
  }
  return resolved.href;
}

const panel = new Panel();
devtools.network.onRequestFinished.addListener((entry) => panel.add(entry));
// The developer tools answer in order, so from then on they report each request. Those that they
// reported before are in the answer, too.
devtools.network.getHAR(({ entries }) => {
  panel.clear();
  entries.forEach((entry) => panel.add(entry));
});
