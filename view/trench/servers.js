// What the servers of a load did, or of two loads and their difference.
import { choice, put } from '../page/elements.js';
import { counted } from '../page/format.js';
import { TrenchGraph } from './graph.js';
import { differenceTree, wholeTree } from './whole.js';
import { DIFFERENCE, isIncomplete, skippedText, WHOLE } from './words.js';

/** The graph of one load's traces (whole.js); `goTo(request)` follows links to their requests. */
export function putServers(parent, traces, goTo = null) {
  const tree = wholeTree(traces);
  if (tree.unread > 0) {
    put(parent, 'p', 'failure', `${counted(tree.unread, 'server trace')} cannot be read.`);
  }
  new TrenchGraph(parent, tree, { words: WHOLE, whole: 'Whole load', goTo });
}

/** Says which traces are skipped, if any, and that there is no difference without them. */
function putSkipped(parent, skipped) {
  if (!isIncomplete(skipped)) return false;
  const texts = [skippedText('A', skipped.a), skippedText('B', skipped.b)].filter(Boolean);
  put(parent, 'p', 'failure', [...texts, 'Without them, no difference is drawn.'].join(' '));
  return true;
}

function putDifference(parent, a, b) {
  const tree = differenceTree(a, b);
  const skipped = { a: { unreadable: tree.unreadOfA }, b: { unreadable: tree.unreadOfB } };
  if (putSkipped(parent, skipped)) return;
  if (tree.size === 0) {
    put(parent, 'p', 'said', DIFFERENCE.said(tree));
    return;
  }
  const legend = parent.append('ul').attr('class', 'legend').attr('aria-label', 'Colours');
  for (const [kind, text] of [['more', 'longer in B'], ['less', 'shorter in B'],
    ['even', 'as long: longer and shorter calls in it']]) {
    const item = legend.append('li');
    put(item, 'span', `swatch ${kind}`).attr('aria-hidden', true);
    put(item, 'span', '', text);
  }
  new TrenchGraph(parent, tree, { words: DIFFERENCE, whole: 'Whole difference' });
}

/**
 * The difference of two loads' traces, and each load's graph; `name` is that of the choice.
 * `skipped`: of a and b, how many traces are not in the page, by why (words.js).
 */
export function putServersOfTwo(parent, name, a, b, skipped = {}) {
  const hasDifference = !putSkipped(parent, skipped) && a.length > 0 && b.length > 0;
  const graphs = { difference: (box) => putDifference(box, a, b), a: (box) => putServers(box, a),
    b: (box) => putServers(box, b) };
  const options = [['difference', 'B − A'], ['a', 'A'], ['b', 'B']];
  const sides = options.filter(([side]) => side === 'difference'
    ? hasDifference : { a, b }[side].length > 0);
  if (sides.length === 0) return;
  const controls = parent.append('div').attr('class', 'controls');
  const box = parent.append('div');
  const show = (which) => {
    box.selectAll('*').remove();
    graphs[which](box);
  };
  if (sides.length > 1) choice(controls, name, 'Graph', sides, sides[0][0], show);
  else put(controls, 'span', 'hint', `Only ${sides[0][1]} has traces of servers.`);
  show(sides[0][0]);
}
