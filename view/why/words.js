// The report in words. Pure.
import { bytesText, counted, countText, msText } from '../page/format.js';

/** A value of the metric; `isChange`: with its sign. */
export function valueText(value, unit, isChange = false) {
  if (value === null) return '–';
  const size = Math.abs(value);
  const text = { ms: msText(size), bytes: bytesText(Math.round(size)), count: countText(size),
    score: size.toFixed(3) }[unit];
  if (value < 0) return `−${text}`;
  return isChange && value > 0 ? `+${text}` : text;
}

/** "+300 ms", or with an interval "+300 ms (+280 ms to +320 ms)". */
export function effectText({ estimate, low, high }, unit) {
  const text = valueText(estimate, unit, true);
  if (low === null) return text;
  return `${text} (${valueText(low, unit, true)} to ${valueText(high, unit, true)})`;
}

/** The heading of the page. What made B slower does not explain that it is faster, or as fast. */
export function headline({ causes, total, unexplained, isMeasured, metric, unit }) {
  if (isMeasured && total.low < 0 && total.high > 0) {
    return `The loads do not show that B differs from A (${metric}): ${effectText(total, unit)}`;
  }
  const than = total.estimate < 0 ? 'faster' : 'slower';
  const what = isMeasured ? ` (${metric})` : '';
  if (total.estimate === 0) return `B takes as long as A${what}`;
  const by = `B is ${valueText(Math.abs(total.estimate), unit)} ${than} than A${what}`;
  const explains = ({ estimate }) => estimate * total.estimate > 0;
  const sizeOf = ({ estimate }) => Math.abs(estimate);
  const largest = causes.filter(explains).sort((a, b) => sizeOf(b) - sizeOf(a))[0];
  if (largest) {
    return `${by}. Largest cause, ${valueText(sizeOf(largest), unit)}: ${largest.title}`;
  }
  return !isMeasured && explains(unexplained) ? `${by}: between requests`
    : `${by}: no cause could be shown`;
}

/** How it was found out. */
export function scope({ names, loads, isMeasured, isInterrupted, reprise }) {
  const how = isMeasured
    ? `measured by ${counted(loads, 'load')} of A, B and pages between them`
    : 'by the critical chains of both timelines';
  const ended = isInterrupted ? ' · interrupted: more loads would tell more' : '';
  return `A: ${names.a} · B: ${names.b} · ${how}${ended} · made by reprise ${reprise}`;
}

/** What a step from A to B is, for people. */
export function stepName({ kind, cause }, { names, others, isMeasured }) {
  return {
    a: `A: ${names.a}`, b: `B: ${names.b}`, cause: cause?.title,
    unexplained: isMeasured ? 'Unexplained' : 'Between requests',
    others: isMeasured
      ? `${counted(others.length, 'difference')} without an effect that could be shown`
      : `${others.length} more with little change`,
  }[kind];
}

/** The heading of the list of them. */
export function othersTitle({ isMeasured }) {
  return isMeasured ? 'Differences without an effect that could be shown' : 'Little change';
}
