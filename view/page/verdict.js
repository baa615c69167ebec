// The verdict about the two results on the page.
import { put, section, table } from './elements.js';
import { counted } from './format.js';
import { valueText } from './distributions.js';

const SAYS = {
  same: 'Same: every difference is below the minimum effect.',
  different: 'Different: B is not like A.',
  undecided: 'Undecided: the loads show neither that B differs from A, nor that it is the same.',
};

function signed(metric, value) {
  if (value === null) return '–';
  return `${value < 0 ? '−' : '+'}${valueText(metric, Math.abs(value))}`;
}

function rangeText({ metric, low, high }) {
  return low === null || high === null ? 'too few loads'
    : `${signed(metric, low)} to ${signed(metric, high)}`;
}

/** Why a page is undecided however little its loads vary; empty if it need not be. */
export function reasonOf(page) {
  if (page.few_count) return 'so many loads failed that the others cannot be called the same';
  return page.metrics.length === 0 ? 'no load has a value of what is compared' : '';
}

/** Shows `model.comparison` (MODEL.md), if it has one. */
export function showVerdict(model) {
  const { comparison, inputs, metrics } = model;
  if (!comparison) return;
  const part = section('verdict', 'Verdict');
  put(part, 'p', 'said',
    `A is ${inputs[0].name}, B is ${inputs[1].name}; ${comparison.source}.`);
  for (const text of comparison.refusals) {
    put(part, 'p', 'failure', `A and B cannot be compared: ${text}`);
  }
  if (comparison.refusals.length > 0) return;
  put(part, 'p', `verdict ${comparison.verdict}`, SAYS[comparison.verdict]);
  const byKey = new Map(metrics.map((metric) => [metric.key, metric]));
  for (const page of comparison.pages) {
    const rows = page.metrics.map((each) => ({ ...each, metric: byKey.get(each.field) }));
    const of = (field) => (row) => (row[field] === null ? 'none' : valueText(row.metric, row[field]));
    const loads = ['a', 'b'].map((side) => `${side.toUpperCase()} ${counted(page[side].loads, 'load')}`
      + (page[side].failed > 0 ? `, ${page[side].failed} failed` : ''));
    const why = comparison.verdict === 'undecided' ? reasonOf(page) : '';
    if (why) put(part, 'p', 'hint', `${page.title}: ${why}`);
    if (rows.length === 0) continue;
    table(part, `${page.title} – ${loads.join(', ')}`, [
      { name: 'Metric', text: (row) => row.metric.name },
      { name: 'Median A', text: of('median_a'), number: true },
      { name: 'Median B', text: of('median_b'), number: true },
      { name: 'B − A', text: (row) => signed(row.metric, row.shift), number: true },
      { name: 'Interval', text: rangeText, number: true },
      { name: 'p', text: ({ p }) => (p === null ? '–' : p < 0.001 ? '< 0.001' : p.toFixed(3)),
        number: true },
      { name: 'Verdict', text: (row) => row.verdict },
    ], rows);
  }
  for (const text of comparison.remarks) put(part, 'p', 'hint', text);
}
