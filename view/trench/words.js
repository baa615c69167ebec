// What the graph of a trace says, and of the difference of two. Pure.
import { counted, countText, msText, shown, signedMs } from '../page/format.js';
import { pointName, standingOut } from './tree.js';

const DIFFERS_SHARE = 0.1; // of the graph, for a change to stand out
const LISTED_MAX = 3; // of each kind

const lineText = ({ line }) => (line < 0 ? 'line unknown' : `line ${line}`);
const nodeText = ({ point }) =>
  (point.isHost ? point.method : `${pointName(point)}, ${lineText(point)}`);
const callsOf = ({ isHost }, hits) => counted(hits, isHost ? 'request' : 'call');

/** What B has more or less: { kind, node }, the largest change by itself first. */
function changesOf({ nodes, size }) {
  const largest = (kind, sign) =>
    nodes.filter((node) => node.own * sign > 0 && node.own * sign >= size * DIFFERS_SHARE)
      .sort((a, b) => sign * (b.own - a.own)).slice(0, LISTED_MAX).map((node) => ({ kind, node }));
  return [...largest('longer', 1), ...largest('shorter', -1)];
}

/** Of a trace. */
export const TRACE = {
  said: ({ ms, calls, points }) => `${msText(ms)} in ${counted(calls, 'call')} of `
    + `${counted(points.length, 'code point')}, by the server’s clock`,
  standingOut,
  kinds: {
    wide: ['Wide', 'takes long, and calls nothing that is traced'],
    deep: ['Deep', 'the end of many calls inside each other'],
    inset: ['Inset', 'takes long by itself, beside what it calls'],
  },
  mark({ kind, node: { own, ms, depth } }, tree) {
    if (kind === 'deep') return `${counted(depth + 1, 'row')} down`;
    const time = kind === 'inset' ? own : ms;
    return `${msText(time)}, ${Math.round(100 * time / tree.ms)} %`;
  },
  time: msText,
  calls: ({ point, hits }) => (hits === 1 ? '' : ` in ${callsOf(point, hits)}`),
  describe: (node) => `${nodeText(node)}: ${msText(node.ms)} in ${callsOf(node.point, node.hits)}`
    + `${node.point.isHost ? '' : `, ${msText(node.own)} of its own`}`,
  barClass: () => '',
  listed: (points) => points.filter(({ isHost }) => !isHost),
  columns: [
    ['Line', ({ line }) => (line < 0 ? 'unknown' : String(line))],
    ['Calls', ({ hits }) => countText(hits)],
    ['Time', ({ ms }) => msText(ms)],
    ['Own', ({ own }) => msText(own)],
  ],
};

/** Of all requests of a load. */
export const WHOLE = {
  ...TRACE,
  said({ ms, roots }) {
    const requests = counted(roots.reduce((sum, { hits }) => sum + hits, 0), 'request');
    const hosts = counted(roots.length, 'host');
    return `${msText(ms)} for ${requests} to ${hosts}, by the servers’ clocks`;
  },
};

/** "60.0 ms longer in B, 2 calls more", with what each has. */
function changeText({ point, ms, hits, own, a, b }) {
  const parts = [ms === 0 ? 'as long in B'
    : `${msText(Math.abs(ms))} ${ms < 0 ? 'shorter' : 'longer'} in B`];
  if (hits !== 0) parts.push(`${callsOf(point, Math.abs(hits))} ${hits < 0 ? 'fewer' : 'more'}`);
  if (!point.isHost) parts.push(`${signedMs(own)} of its own`);
  const each = [['A', a], ['B', b]].map(([side, has]) =>
    `${side} ${msText(has.ms)} in ${callsOf(point, has.hits)}`);
  return `${parts.join(', ')} (${each.join(', ')})`;
}

/** Of a difference, B - A. */
export const DIFFERENCE = {
  ...TRACE,
  said({ nodes, ms, size }) {
    if (size === 0) return 'A’s servers and B’s take the same time in every method.';
    const sumOf = (sign) => Math.abs(nodes.reduce(
      (sum, { own }) => sum + (own * sign > 0 ? own : 0), 0));
    const all = ms === 0 ? 'B’s servers take as long as A’s'
      : `B’s servers take ${msText(Math.abs(ms))} ${ms < 0 ? 'less' : 'more'} than A’s`;
    return `${all}: ${msText(sumOf(1))} more in some methods, ${msText(sumOf(-1))} less in others`;
  },
  standingOut: changesOf,
  kinds: {
    longer: ['Longer in B', 'takes longer in B by itself'],
    shorter: ['Shorter in B', 'takes less time in B by itself'],
  },
  mark: ({ node: { own } }) => signedMs(own),
  time: signedMs,
  calls: ({ point, hits }) => (hits === 0 ? ''
    : `, ${hits < 0 ? '−' : '+'}${callsOf(point, Math.abs(hits))}`),
  describe(node) {
    const { point, a, b } = node;
    const [side, only] = a.isThere ? ['A', a] : ['B', b];
    return `${nodeText(node)}: ${a.isThere && b.isThere ? changeText(node)
      : `only in ${side}, ${msText(only.ms)} in ${callsOf(point, only.hits)}`}`;
  },
  barClass(ms) {
    if (ms === 0) return 'even';
    return ms < 0 ? 'less' : 'more';
  },
  listed: (points) => points.filter(({ hits, ms, own, isHost }) =>
    !isHost && (hits !== 0 || ms !== 0 || own !== 0)),
  columns: [
    ['Calls', ({ hits }) => (hits > 0 ? '+' : '') + countText(hits)],
    ['Own A', ({ ownOfA }) => msText(ownOfA)],
    ['Own B', ({ ownOfB }) => msText(ownOfB)],
    ['B − A', ({ own }) => signedMs(own)],
  ],
};

/**
 * What is missing in the traces of `side`, "A" or "B"; empty if nothing is. `skipped`: how many
 * traces, by why.
 */
export function skippedText(side, { too_large: large = 0, unreadable = 0, missing = 0 } = {}) {
  const parts = [[large, 'too large for the page'], [unreadable, 'unreadable'],
    [missing, 'not fetched']].filter(([count]) => count > 0);
  if (parts.length === 0) return '';
  const whys = parts.map(([count, why]) => `${countText(count)} ${why}`).join(', ');
  return `Server traces of ${side} are skipped: ${whys}.`;
}

/** Whether traces of A or of B are skipped, for whatever reason: then there is no difference. */
export function isIncomplete({ a, b } = {}) {
  return [a, b].some((skipped) => skippedText('', skipped) !== '');
}

/** What a bar's label says in so many pixels. */
export function labelText(node, words, pixels) {
  const { point, ms } = node;
  if (pixels < 18) return '';
  if (pixels < 90) return point.isHost ? '' : point.letter;
  const letter = point.isHost ? '' : `${point.letter} `;
  const time = words.time(ms) + words.calls(node);
  return pixels < 200 ? letter + time : shown(`${letter}${point.method} · ${time}`);
}
