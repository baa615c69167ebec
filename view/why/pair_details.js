// The details of one request in A and in B.
import { put } from '../page/elements.js';
import { bytesText, msText, signedMs } from '../page/format.js';
import { PHASES, phasesOf } from '../page/phases.js';

import { factsThatDiffer } from './report.js';
import { effectText } from './words.js';

const FACTS = [
  ['URL', ({ url }) => url],
  ['Status', ({ status }) => String(status)],
  ['Protocol', ({ protocol }) => protocol],
  ['Priority', ({ priority }) => priority],
  ['On the wire', ({ encodedBytes }) => bytesText(encodedBytes)],
  ['Cache', ({ fromCache }) => (fromCache ? 'answered by the browser’s cache' : 'not used')],
];

/** Fills the panel under the rows; `chooseCause(cause)` lights up another cause. */
export function showPair(panel, row, report, chooseCause) {
  panel.selectAll('*').remove();
  panel.classed('empty', !row);
  if (!row) {
    put(panel, 'p', 'hint', 'Choose a request to compare its times in A and in B.');
    return;
  }
  put(put(panel, 'h3', ''), 'span', 'url', row.url);
  const columns = panel.append('div').attr('class', 'columns');
  putTimes(columns, row, report.end);
  const facts = columns.append('dl');
  for (const [name, ofA, ofB] of factsThatDiffer(row, FACTS)) {
    put(facts, 'dt', '', name);
    put(facts, 'dd', '', `${ofB || 'unknown'} instead of ${ofA || 'unknown'}`);
  }
  for (const cause of row.causes) {
    put(facts, 'dt', '', report.causes.includes(cause) ? `Cause ${cause.number}` : 'Differs');
    put(put(facts, 'dd', ''), 'button', 'link', cause.title).attr('type', 'button')
      .node().addEventListener('click', () => chooseCause(cause));
    put(facts, 'dd', 'said', effectText(cause, report.unit));
  }
}

function putTimes(columns, { a, b }, end) {
  const table = columns.append('table').attr('class', 'phases');
  put(table, 'caption', '', 'Where the time went');
  const head = table.append('thead').append('tr');
  for (const name of ['', 'A', 'B', 'B − A']) put(head, 'th', 'number', name).attr('scope', 'col');
  const took = (request, phase) => (request ? phasesOf(request, end) : [])
    .filter(({ name }) => name === phase)
    .reduce((sum, each) => sum + each.end - each.start, 0);
  const line = (title, swatch, ofA, ofB) => {
    const row = table.append('tr');
    const cell = row.append('th').attr('scope', 'row');
    if (swatch) put(cell, 'span', `swatch ${swatch}`);
    put(cell, 'span', '', title);
    put(row, 'td', 'number', a ? msText(ofA) : '–');
    put(row, 'td', 'number', b ? msText(ofB) : '–');
    const isKnown = a && b && ofA !== null && ofB !== null;
    put(row, 'td', 'number', isKnown ? signedMs(ofB - ofA) : '');
  };
  line('Started at', '', a?.start, b?.start);
  for (const { name, title } of PHASES) {
    const [ofA, ofB] = [took(a, name), took(b, name)];
    if (ofA > 0 || ofB > 0) line(title, name, ofA, ofB);
  }
  line('Ended at', '', a?.end, b?.end);
}
