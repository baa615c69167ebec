// The report in the page (docs/why.md), as objects. Pure.

import { hostOf } from '../page/format.js';

/** `dns_start_ms` becomes `dnsStart`. */
function fieldName(column) {
  return column.replace(/_ms$/, '').replace(/_([a-z])/g, (all, letter) => letter.toUpperCase());
}

function requestOf(packed) {
  if (!packed) return null;
  return Object.fromEntries(Object.entries(packed).map(([key, value]) => [fieldName(key), value]));
}

/**
 * `text` is JSON. Rows are { index, a, b, url, start, causes }, with requests as those of the page
 * of `reprise view`, or null, and the causes that concern them; causes are { number, title, others,
 * differences, estimate, low, high, rows }. `causes` come first in `all`, then `others`, of which
 * no effect could be shown.
 */
export function readReport(text) {
  const packed = JSON.parse(text);
  const rows = packed.rows.map(({ a, b }, index) => {
    const row = { index, a: requestOf(a), b: requestOf(b), causes: [] };
    row.url = (row.b ?? row.a).url;
    row.start = Math.min(row.a?.start ?? Infinity, row.b?.start ?? Infinity);
    return row;
  });
  const effectOf = ({ estimate, low = null, high = null }) => ({ estimate, low, high });
  let number = 0;
  const causeOf = (cause) => {
    number += 1;
    const titles = cause.groups.map(({ title }) => title);
    const made = {
      number, title: titles[0], others: titles.slice(1),
      differences: cause.groups.flatMap(({ differences }) => differences),
      ...effectOf(cause), rows: cause.rows.map((row) => rows[row]),
    };
    for (const row of made.rows) row.causes.push(made);
    return made;
  };
  const causes = packed.causes.map(causeOf);
  const others = packed.no_effect_shown.map(causeOf);
  const [a, b] = packed.sides;
  return {
    reprise: packed.reprise, names: { a, b }, isMeasured: packed.measured,
    isInterrupted: packed.interrupted === true, metric: packed.metric_title, unit: packed.unit,
    base: packed.base, total: effectOf(packed.total), unexplained: effectOf(packed.unexplained),
    rows, causes, others, all: [...causes, ...others],
    pairs: (packed.pairs ?? []).map((pair) => pair.text),
    notMeasured: packed.not_measured.map(({ title }) => title),
    loads: packed.loads.length, end: endOf(rows),
    traces: { a: tracesOf(packed.traces.a), b: tracesOf(packed.traces.b) },
    skipped: packed.traces_skipped,
  };
}

function tracesOf(list) {
  return list.map(({ url, trace }) => ({ host: hostOf(url), trace }));
}

/** The end of the time axis, in ms; what never ended is on it, too. */
function endOf(rows) {
  const last = (request) => request?.end ?? request?.start ?? 0;
  return rows.reduce((end, { a, b }) => Math.max(end, last(a), last(b)), 1) * 1.02;
}

/**
 * The way from A to B: { kind, from, to, cause }: `a` from zero, a step each for the causes and what
 * is unexplained, then `b` from zero. The steps add up to B - A.
 */
export function stepsOf({ base, total, causes, others, unexplained }) {
  const steps = [{ kind: 'a', from: 0, to: base }];
  let now = base;
  const step = (kind, effect, cause) => {
    steps.push({ kind, from: now, to: now + effect.estimate, effect, cause });
    now += effect.estimate;
  };
  for (const cause of causes) step('cause', cause, cause);
  const rest = others.reduce((sum, { estimate }) => sum + estimate, 0);
  if (others.length > 0) step('others', { estimate: rest, low: null, high: null });
  step('unexplained', unexplained);
  steps.push({ kind: 'b', from: 0, to: base + total.estimate });
  return steps;
}

/** The requests that differ, or concern a shown cause. */
export function differs(row, { causes }) {
  return !row.a || !row.b || row.causes.some((cause) => causes.includes(cause));
}

/** What one request has in A and in B: [name, of A, of B], where that differs. */
export function factsThatDiffer({ a, b }, texts) {
  if (!a || !b) return [];
  return texts.map(([name, text]) => [name, text(a), text(b)])
    .filter(([, ofA, ofB]) => ofA !== ofB);
}
