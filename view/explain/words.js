// The words of the page. Pure.
import { counted } from '../page/format.js';

import { sliceName } from './explanation.js';

/** A time to be read in passing: "3.8 s", "840 ms". */
export function roughTime(us) {
  const ms = us / 1000;
  if (ms < 10) return `${Number(ms.toFixed(1))}\u00a0ms`;
  if (ms < 999.5) return `${Math.round(ms)}\u00a0ms`;
  return `${(ms / 1000).toFixed(ms < 9950 ? 1 : 0)}\u00a0s`;
}

export function percentText(percent) {
  if (percent >= 9.95 || percent === 0) return `${Math.round(percent)}\u00a0%`;
  return percent < 0.05 ? '<\u00a00.1\u00a0%' : `${percent.toFixed(1)}\u00a0%`;
}

/** "a", "a and b", "a, b and c". */
export function listText(texts) {
  return texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(', ')} and ${texts.at(-1)}`;
}

// From this many percent on.
const PARTS = [
  [97, 'Nearly all'], [78, 'Most'], [72, 'Three quarters'], [63, 'Two thirds'],
  [53, 'More than half'], [47, 'Half'],
];
const NAMED_MAX = 3;

/** What to say of a slice: "Half of the 3.8 s go to ads (27 %) and server (23 %)". */
export function headline(slice) {
  if (slice === undefined || slice.views === 0) return 'No views to explain';
  const { mean } = slice.window_us;
  let sum = 0;
  const named = [];
  for (const share of slice.shares) {
    if (sum >= PARTS.at(-1)[0] || named.length === NAMED_MAX || share.us === 0) break;
    named.push(`${share.kind} (${percentText(share.percent)})`);
    sum += share.percent;
  }
  if (mean === 0 || named.length === 0) return 'These views took no time';
  const part = PARTS.find(([from]) => sum >= from)?.[1] ?? percentText(sum);
  return `${part} of the ${roughTime(mean)} go to ${listText(named)}`;
}

/** What was explained. */
export function scope({ inputs, views, views_read: read, where, slowest_percent: slowest }) {
  const files = inputs.length === 1 ? inputs[0].name : counted(inputs.length, 'file');
  return [
    `${counted(views, 'view')} of ${files}`,
    slowest === null ? '' : `the slowest ${slowest} %`,
    where ? `where ${where}` : '',
    read > views ? `${counted(read, 'view')} read` : '',
  ].filter(Boolean).join(' · ');
}

/** What the columns of the trend are. */
export function trendNote({ slowest_percent: slowest }) {
  const views = slowest === null ? 'all views' : `the slowest ${slowest} % of each day’s views`;
  return `Even shares of ${views}, mean of a view.`;
}

/** How to read the costs of one kind of cause: "host", "entity", "script" or "setting". */
export function costsNote(cause) {
  const sums = cause === 'setting'
    ? 'A request counts in full under each of its headers and settings, so that these do not '
      + 'sum to the whole.'
    : 'The causes of one kind add up; another kind divides the same costs otherwise.';
  return `Means of a view. ${sums} Processor time is known where a load was traced.`;
}

/** The largest shares: "ads 27 %, server 23 %". */
export function topShares(shares, count = 3) {
  return shares.filter(({ us }) => us > 0).slice(0, count)
    .map(({ kind, percent }) => `${kind} ${percentText(percent)}`).join(', ');
}

export function sliceText(slice) {
  return `${sliceName(slice)}: ${counted(slice.views, 'view')}, ${roughTime(slice.window_us.mean)}`
    + ` on average; ${topShares(slice.shares)}`;
}

export const DAYS_OF_A_YEAR = 300; // from here on, days are told apart by their year

/** "22 Nov", or "22 Nov 2026" among days so far apart that their year matters. In UTC. */
export function dayText(time, daysApart = 0) {
  return new Date(time).toLocaleDateString('en-GB', { day: 'numeric', month: 'short',
    year: daysApart > DAYS_OF_A_YEAR ? 'numeric' : undefined, timeZone: 'UTC' });
}

/** "2026-11-22 13:04:05" in UTC; empty if it is unknown or no time. */
export function whenText(unixMs) {
  const time = new Date(unixMs ?? NaN);
  return Number.isNaN(time.getTime()) ? '' : time.toISOString().slice(0, 19).replace('T', ' ');
}
