// Summarises several loads. Pure. Verdicts are made by `reprise compare`.
import { deviation, mean, median, quantileSorted } from 'd3-array';

import { configurationName } from './model.js';

/** Only complete loads count, and not the first of a configuration, which warms up. */
export function isMeasured(load) {
  return load.outcome === 'loaded' && !load.warm_up;
}

/**
 * Loads of one page in groups with equal conditions: [{ name, loads, measured }]. A name contains
 * only the conditions that differ between groups.
 */
export function groupsOf(loads, inputs) {
  const groups = new Map();
  for (const load of loads) {
    const key = JSON.stringify([load.input, configurationName(load)]);
    if (!groups.has(key))
      groups.set(key, { input: load.input, configuration: load.configuration ?? {}, loads: [] });
    groups.get(key).loads.push(load);
  }
  const all = [...groups.values()];
  const varies = (value) => new Set(all.map(value)).size > 1;
  const parts = ['browser', 'protocol', 'link', 'cache'].filter(
    (part) => varies((g) => g.configuration[part]));
  const inputsVary = varies((group) => group.input);
  return all.map((group) => {
    const words = parts
                    .map((part) => (part === 'link' && group.configuration.link === 'none'
                             ? 'no link'
                             : group.configuration[part]))
                    .filter(Boolean);
    if (inputsVary) words.unshift(inputs[group.input].name);
    return {
      name: words.join(' · ') || 'all loads',
      loads: group.loads,
      measured: group.loads.filter(isMeasured),
    };
  });
}

/**
 * An interval that contains the median with 95 % confidence, for any distribution: two of the
 * sorted values, selected by the binomial distribution. Null for fewer than 6 values.
 */
export function medianInterval(sorted) {
  const n = sorted.length;
  if (n < 6) return null;
  let rank = 0;
  if (n > 500) {
    rank = Math.floor(n / 2 - 0.98 * Math.sqrt(n));
  } else {
    let term = 0.5 ** n;
    for (let below = term; below <= 0.025; rank += 1) {
      term *= (n - rank) / (rank + 1);
      below += term;
    }
  }
  return [sorted[rank - 1], sorted[n - rank]];
}

/** Null if no load has the metric. CV is the coefficient of variation, null for fewer than two. */
export function summaryOf(loads, key) {
  const values = loads.map((load) => load.metrics?.[key]).filter((value) => Number.isFinite(value))
    .sort((a, b) => a - b);
  if (values.length === 0) return null;
  const average = mean(values);
  return {
    n: values.length,
    median: median(values),
    interval: medianInterval(values),
    cv: values.length > 1 && average > 0 ? deviation(values) / average : null,
    lowest: values[0],
    lower: quantileSorted(values, 0.25),
    upper: quantileSorted(values, 0.75),
    highest: values.at(-1),
  };
}
