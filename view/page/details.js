// The details of one request, for the panel and for the tooltip.
import { put } from './elements.js';
import { bytesText, hostOf, msText, nameOf } from './format.js';
import { putActions, putHeads } from './heads.js';
import { PHASES, phasesOf, waitPartsOf } from './phases.js';
import { TrenchGraph } from '../trench/graph.js';
import { treeOf } from '../trench/tree.js';
import { statusText } from './waterfall.js';

const DEPENDENCIES_SHOWN = 20; // of the requests that wait for a document there are many

/** Fills the panel under the waterfall. `goTo(request)` shows another request. */
export function showDetails(panel, request, load, goTo) {
  panel.selectAll('*').remove();
  panel.classed('empty', !request);
  if (!request) {
    put(panel, 'p', 'hint', 'Choose a request to see its details.');
    return;
  }
  const heading = put(panel, 'h3', '', `${request.method} `);
  put(heading, 'span', 'url', request.url);
  if (request.failure) put(panel, 'p', 'failure', request.failure);
  putActions(panel, load.load, request);
  const columns = panel.append('div').attr('class', 'columns');
  putFacts(columns, request, load, goTo);
  putPhases(columns, request, load);
  putHeads(panel, request);
  putTrace(panel, request);
}

function putTrace(panel, { trace }) {
  if (trace === null) return;
  put(panel, 'h3', 'trench-title', 'What the server did');
  if (typeof trace === 'string') {
    put(panel, 'p', 'failure', `Its trace cannot be read: ${trace}`);
  } else {
    new TrenchGraph(panel, treeOf(trace));
  }
}

/** Pure. Empty for an end that an archive lacks: it is not known. */
export function endText({ end }, isArchive) {
  if (end !== null) return msText(end);
  return isArchive ? '' : 'never';
}

function putFacts(columns, request, load, goTo) {
  const facts = columns.append('dl');
  const fact = (name, text) => {
    if (text === '' || text === null || text === '–') return null;
    put(facts, 'dt', '', name);
    return put(facts, 'dd', '', text);
  };
  fact('Exchange', request.number === null ? '' : `${request.number} of the archive`);
  fact('Status', statusText(request));
  fact('Protocol', request.protocol);
  fact('Type', [request.type, request.mimeType].filter(Boolean).join(', '));
  fact('On the wire', bytesText(request.encodedBytes));
  fact('Decoded', bytesText(request.decodedBytes));
  fact('Cache', request.fromCache ? 'answered by the browser’s cache' : '');
  fact('Priority', request.priority);
  fact('Rendering', request.isBlocking ? 'nothing is painted before it ended' : '');
  fact('Connection', [request.connection, request.address].filter(Boolean).join(', to '));
  fact('Started at', msText(request.start));
  fact('Ended at', endText(request, load.isArchive));
  const link = load.chain.find((each) => each.request === request);
  const at = load.chain.indexOf(link);
  if (at > 0) {
    const before = load.chain[at - 1].request;
    const dd = fact('Critical chain', `number ${at + 1} of ${load.chain.length}; ${link.why}: `);
    linkTo(dd, before, goTo);
  } else if (at === 0) {
    fact('Critical chain', `number 1 of ${load.chain.length}`);
  }
  const linksTo = (name, of, end) => {
    const dd = of.length > 0 ? fact(name, ' ') : null;
    for (const dependency of of.slice(0, DEPENDENCIES_SHOWN)) {
      const line = put(dd, 'div', '', '');
      linkTo(line, dependency[end], goTo);
      line.node().append(` ${dependency.why}${dependency.tested ? ', tested' : ''}`);
    }
    if (of.length > DEPENDENCIES_SHOWN) put(dd, 'div', '', `and ${of.length - DEPENDENCIES_SHOWN} more`);
  };
  linksTo('Waits for', load.dependencies.filter(({ to }) => to === request), 'from');
  linksTo('Waited for by', load.dependencies.filter(({ from }) => from === request), 'to');
  if (!request.initiator) return;
  const initiator = load.requests.findLast((each) => each.url === request.initiator
    && each.start <= request.start && each !== request);
  if (initiator) linkTo(fact(load.initiatorName, ' '), initiator, goTo);
  else fact(load.initiatorName, request.initiator);
}

function linkTo(parent, request, goTo) {
  put(parent, 'button', 'link', nameOf(request.url)).attr('type', 'button')
    .node().addEventListener('click', () => goTo(request));
}

function putPhases(columns, request, load) {
  const phases = phasesOf(request, load.end);
  const box = columns.append('table').attr('class', 'phases');
  put(box, 'caption', '', 'Where the time went');
  const parts = waitPartsOf(request, phases, load.roundTrips);
  for (const phase of PHASES) {
    const took = phases.filter((each) => each.name === phase.name)
      .reduce((sum, each) => sum + each.end - each.start, 0);
    if (took === 0) continue;
    phaseRow(box, phase.name, phase.title, phase.says, took);
    if (phase.name !== 'wait' || !parts) continue;
    phaseRow(
      box, 'round-trip', '– round trip', 'estimated from the handshake', parts.roundTrip);
    phaseRow(box, 'think', '– think time', 'the rest', parts.think);
  }
  if (phases.length === 0) put(box.append('tr'), 'td', '', 'No times were recorded.');
}

function phaseRow(box, name, title, says, took) {
  const row = box.append('tr').attr('class', name);
  put(row.append('th').attr('scope', 'row'), 'span', `swatch ${name}`).node()
    .parentNode.append(title);
  put(row, 'td', 'says', says);
  put(row, 'td', 'number', msText(took));
}

/** Fills the tooltip. */
export function showTip(tip, request, load, event) {
  tip.classed('shown', Boolean(request));
  if (!request) return;
  tip.selectAll('*').remove();
  put(tip, 'b', '', nameOf(request.url));
  put(tip, 'span', 'host', hostOf(request.url));
  const list = tip.append('table');
  for (const { name, start, end } of phasesOf(request, load.end)) {
    const row = list.append('tr');
    put(row.append('th'), 'span', `swatch ${name}`).node()
      .parentNode.append(PHASES.find((phase) => phase.name === name).title);
    put(row, 'td', 'number', msText(end - start));
  }
  const { innerWidth, innerHeight } = window;
  const { offsetWidth, offsetHeight } = tip.node();
  tip.style('left', `${Math.min(event.clientX + 14, innerWidth - offsetWidth - 8)}px`)
    .style('top', `${Math.min(event.clientY + 16, innerHeight - offsetHeight - 8)}px`);
}
