// What the servers did in A and in B, where they sent traces.
import { choice } from '../explain/controls.js';
import { put, section, table } from '../page/elements.js';
import { msText } from '../page/format.js';
import { TrenchGraph } from '../trench/graph.js';
import { treeOf } from '../trench/tree.js';
import { longerTrace, pointChanges, wholeTrace } from '../trench/whole.js';

const LISTED_MAX = 20;

export function showServers({ traces: { a, b } }) {
  if (a.length === 0 && b.length === 0) return;
  const part = section('servers', 'What the servers did');
  put(part, 'p', 'said', 'The traces of all requests by host, as they were recorded; calls of one '
    + 'method by one caller are added up.');
  const graphs = { longer: () => longerTrace(a, b), a: () => wholeTrace(a), b: () => wholeTrace(b) };
  const controls = part.append('div').attr('class', 'controls');
  const box = part.append('div');
  const show = (which) => {
    box.selectAll('*').remove();
    new TrenchGraph(box, treeOf(graphs[which]()));
  };
  choice(controls, 'servers', 'Graph', [['longer', 'Longer in B'], ['a', 'A'], ['b', 'B']],
    'longer', show);
  show('longer');
  const changes = pointChanges(a, b);
  if (changes.length === 0) return;
  table(part, 'Own time of methods, the largest change first', [
    { name: 'Method', text: ({ name }) => name },
    { name: 'A', text: (each) => msText(each.a), number: true },
    { name: 'B', text: (each) => msText(each.b), number: true },
    { name: 'B − A', number: true,
      text: (each) => `${each.b < each.a ? '−' : '+'}${msText(Math.abs(each.b - each.a))}` },
  ], changes.slice(0, LISTED_MAX));
}
