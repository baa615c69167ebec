// The charts under the waterfall, on its time axis.
import { max } from 'd3-array';
import { scaleLinear } from 'd3-scale';
import { area, curveStepAfter } from 'd3-shape';

import { put } from './elements.js';
import { bytesText, counted, msText, rateText } from './format.js';
import { estimatedRate, firstPacket, inFlight, linkSeries } from './network.js';

const HEIGHT = 58;
const TOP = 6;

/** [{ title, says, points, limit, text }] for a load prepared by load.js. */
export function chartsOf(load, shown) {
  const { requests, end, isArchive } = shown;
  const first = firstPacket(requests);
  const link = load.link ?? null;
  // The link's record begins with the replay's first load, which filled the cache.
  const timeline = load.configuration?.cache === 'warm' ? null : link?.timeline;
  const rate = linkSeries(timeline, 'down', 'rate_bps', first);
  const queue = linkSeries(timeline, 'down', 'queue_bytes', first);
  const limit = link?.down_bps ?? null;
  const drops = (timeline?.down?.drops ?? []).reduce((sum, count) => sum + count, 0);
  const charts = [];
  if (rate) {
    charts.push({
      title: 'Link rate, down', says: 'measured by the link', points: rate, limit, text: rateText,
    });
  } else {
    charts.push({
      title: 'Download rate',
      says: 'estimated: each response spread evenly from first to last byte',
      points: estimatedRate(requests, end),
      limit,
      text: rateText,
    });
  }
  if (queue) {
    charts.push({
      title: 'Link queue, down',
      says: drops > 0 ? `${counted(drops, 'packet')} dropped` : 'nothing dropped',
      points: queue,
      text: bytesText
    });
  }
  charts.push({
    title: 'Requests in flight',
    says: queue || isArchive ? '' : 'the link’s queue is not in the result',
    points: inFlight(requests, end),
    text: (value) => String(value),
  });
  const tasks = load.visuals?.long_tasks ?? [];
  if (tasks.length > 0) {
    charts.push({
      title: 'Long tasks',
      says: `${counted(tasks.length, 'task')} of 50 ms or more on the main thread`,
      points: [{ time: 0, value: 0 }, ...tasks.flatMap(
        ([from, to]) => [{ time: from, value: to - from }, { time: to, value: 0 }])],
      text: msText,
    });
  }
  return charts;
}

/** Draws the charts into `parent`; returns a function that redraws them for another time range. */
export function putCharts(parent, charts) {
  const drawn = charts.map((chart) => {
    const row = parent.append('div').attr('class', 'chart');
    const label = put(row, 'div', 'label');
    put(label, 'b', '', chart.title);
    put(label, 'span', '', chart.says);
    if (chart.limit) put(label, 'span', 'limit', `dashed: the link’s ${rateText(chart.limit)}`);
    const svg =
      row.append('svg')
        .attr('class', 'series')
        .attr('role', 'img')
        .attr('height', HEIGHT)
        .attr('aria-label',
          `${chart.title}, at most ${chart.text(max(chart.points, (point) => point.value) ?? 0)}`);
    return { chart, svg };
  });
  return (range) => drawn.forEach(({ chart, svg }) => draw(chart, svg, range));
}

function draw(chart, svg, range) {
  const width = svg.node().clientWidth;
  const largest = max([chart.limit ?? 0, ...chart.points.map((point) => point.value)]);
  const x = scaleLinear().domain(range).range([0, width]);
  const y = scaleLinear().domain([0, largest > 0 ? largest : 1]).range([HEIGHT - 1, TOP]);
  svg.selectAll('*').remove();
  const shape = area()
                  .curve(curveStepAfter)
                  .x((point) => x(point.time))
                  .y0(HEIGHT)
                  .y1((point) => y(point.value));
  svg.append('path').attr('class', 'area').attr('d', shape(inRange(chart.points, range)));
  if (chart.limit) {
    svg.append('line')
      .attr('class', 'limit')
      .attr('x2', width)
      .attr('y1', y(chart.limit))
      .attr('y2', y(chart.limit));
  }
  if (largest > 0) put(svg, 'text', 'most', chart.text(largest)).attr('x', 4).attr('y', TOP + 13);
}

/** The points in the range, with one more on either side. */
function inRange(points, [from, to]) {
  const first = points.findLastIndex((point) => point.time <= from);
  const end = points.findIndex((point) => point.time > to);
  return points.slice(Math.max(first, 0), end < 0 ? undefined : end + 1);
}
