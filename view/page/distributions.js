// Several loads side by side: one strip of dots per group and metric, and a table of all figures.
import { extent } from 'd3-array';
import { axisBottom } from 'd3-axis';
import { scaleLinear } from 'd3-scale';

import { keepInside, put, putFigure, section, table } from './elements.js';
import { bytesText, counted, msText } from './format.js';
import { summaryOf } from './statistics.js';
import { tickText, ticksOf } from './ticks.js';

const ROW = 46; // pixels of a group in a strip plot
const DOT = 3.4;
const COLOURS = 8;

const percentText = (share) =>
  (share === null ? '–' : `${(share * 100).toFixed(share < 0.1 ? 2 : 1)} %`);

/** The text of a metric's value. */
export function valueText(metric, value) {
  if (metric.unit === 'ms') return msText(value);
  if (metric.unit === 'bytes') return bytesText(value);
  return Number.isInteger(value) ? String(value) : value.toFixed(metric.unit === 'count' ? 1 : 3);
}

/**
 * `allMetrics` are the model's. `choose(load)` is called with the load of a dot. Shows nothing for
 * fewer than two loads.
 */
export function showDistributions(allMetrics, groups, choose) {
  const measured = groups.reduce((sum, group) => sum + group.measured.length, 0);
  const part = section('distributions', 'Distributions');
  part.attr('hidden', measured < 2 ? '' : null);
  if (measured < 2) return () => {};
  const metrics = allMetrics.map((metric) => {
    const summaries = groups.map((group) => summaryOf(group.measured, metric.key));
    return { metric, summaries };
  }).filter(({ summaries }) => summaries.some((summary) => summary !== null));
  put(part, 'p', 'said', `${counted(measured, 'load')}, one dot each; the line is the median, the band `
    + 'its 95 % interval (with six loads or more). To test a difference, use reprise compare.');
  const redraws = [];
  const grid = part.append('div').attr('class', 'panels');
  for (const { metric, summaries } of metrics) {
    // A metric with equal values in all loads needs no chart; the table has it.
    const values =
      summaries.filter(Boolean).flatMap((summary) => [summary.lowest, summary.highest]);
    if (new Set(values).size > 1) redraws.push(putPanel(grid, metric, groups, summaries, choose));
  }
  putTable(part, groups, metrics);
  return () => redraws.forEach((redraw) => redraw());
}

function putPanel(grid, metric, groups, summaries, choose) {
  const panel = putFigure(grid, 'panel', metric.name);
  const medians = groups.map(({ name }, at) => `${name} median ${
    summaries[at] ? valueText(metric, summaries[at].median) : 'unknown'}`);
  const svg = panel.append('svg').attr('role', 'group').attr('height', groups.length * ROW + 22)
    .attr('aria-label', `${metric.name}: ${medians.join(', ')}`);
  const redraw = () => {
    const width = svg.node().clientWidth;
    if (width === 0) return;
    svg.selectAll('*').remove();
    const [low, high] =
      extent(groups.flatMap((group) => valuesOf(group, metric).map(([, value]) => value)));
    const scale = scaleLinear().domain([low, high]).range([8, width - 8]);
    const ticks = ticksOf(scale, Math.max(2, Math.floor(width / 110)), metric.unit);
    const axis = svg.append('g')
                   .attr('class', 'axis')
                   .attr('transform', `translate(0,${groups.length * ROW})`)
                   .call(axisBottom(scale).tickValues(ticks).tickSizeOuter(0)
                     .tickFormat(tickText(metric.unit, ticks)));
    keepInside(axis, scale, 0, width);
    groups.forEach((group, at) => putStrip(svg, metric, group, summaries[at], at, scale, choose));
  };
  new ResizeObserver(redraw).observe(svg.node());
  return redraw;
}

function valuesOf(group, metric) {
  return group.measured.map((load) => [load, load.metrics?.[metric.key]])
    .filter(([, value]) => Number.isFinite(value));
}

function putStrip(svg, metric, group, summary, at, scale, choose) {
  const strip = svg.append('g')
                  .attr('class', `strip c${at % COLOURS}`)
                  .attr('transform', `translate(0,${at * ROW})`);
  const name = put(strip, 'text', 'name', group.name).attr('x', 2).attr('y', 12);
  if (!summary) {
    name.append('tspan').attr('class', 'figures').attr('dx', 8).text('no value');
    return;
  }
  name.append('tspan').attr('class', 'figures').attr('dx', 8)
    .text(`${valueText(metric, summary.median)}, CV ${percentText(summary.cv)}, n ${summary.n}`);
  if (summary.interval) {
    const [from, to] = summary.interval.map(scale);
    strip.append('rect')
      .attr('class', 'interval')
      .attr('x', from)
      .attr('width', Math.max(to - from, 1))
      .attr('y', 17)
      .attr('height', 22);
  }
  strip.append('line').attr('class', 'median').attr('y1', 17).attr('y2', 39)
    .attr('x1', scale(summary.median)).attr('x2', scale(summary.median));
  strip.selectAll('circle').data(valuesOf(group, metric)).join('circle')
    .attr('r', DOT)
    .attr('cx', ([, value]) => scale(value))
    .attr('cy', (each, i) => 20 + ((i * 0.618034) % 1) * 16)
    .each(function listen([load]) { this.addEventListener('click', () => choose(load)); })
    .append('title')
    .text(([load, value]) => `Run ${load.run}: ${valueText(metric, value)}`);
}

function putTable(part, groups, metrics) {
  const rows = metrics.flatMap(({ metric, summaries }) => groups
    .map((group, at) => ({ metric, group, summary: summaries[at] }))
    .filter((row) => row.summary));
  const of = (field) => (row) => valueText(row.metric, row.summary[field]);
  table(part, 'All figures', [
    { name: 'Metric', text: (row) => row.metric.name },
    { name: 'Loads', text: (row) => row.group.name },
    { name: 'n', text: (row) => String(row.summary.n), number: true },
    { name: 'Median', text: of('median'), number: true },
    { name: '95 % interval', number: true, text: ({ metric, summary }) => (summary.interval
      ? summary.interval.map((value) => valueText(metric, value)).join(' to ') : '–') },
    { name: 'CV', text: (row) => percentText(row.summary.cv), number: true },
    { name: 'Lowest', text: of('lowest'), number: true },
    { name: 'Highest', text: of('highest'), number: true },
  ], rows);
}
