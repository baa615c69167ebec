// Both waterfalls on one time axis, a row a request: A above, B below.
import { select } from 'd3-selection';

import { put } from '../page/elements.js';
import { bytesText, hostOf, msText, nameOf, signedMs } from '../page/format.js';
import { shiftOf } from '../page/pairs.js';
import { phasesOf } from '../page/phases.js';
import { barText, Timeline } from '../page/timeline.js';

export class Pairs extends Timeline {
  /** `choose(row)` is called with the selected row or null. */
  constructor(parent, report, choose) {
    super(parent, {
      label: 'Requests of A and B; arrow keys choose one',
      idPrefix: 'pair',
      columns: [['name', 'Request'], ['size', 'Size'], ['change', 'End']],
      choose,
      hover: () => {},
      heights: [38, 60],
    });
    this.grid.classed('pairs', true);
    this.lit = new Set();
    this.setEnd(report.end);
  }

  /** Lights up these rows; none: all are alike. */
  light(rows) {
    this.lit = new Set(rows);
    this.grid.classed('some-lit', rows.length > 0);
    this.rows.redraw();
    this.drawAxis();
    const first = this.rows.items.findIndex((row) => this.lit.has(row));
    if (first >= 0) this.rows.reveal(first);
  }

  draw(element, row, position) {
    const { a, b } = row;
    const line = select(element).attr('id', this.rowId(row))
      .attr('aria-selected', String(row === this.chosen))
      .classed('odd', position % 2 === 1)
      .classed('lit', this.lit.has(row));
    const name = put(line, 'div', 'name').attr('role', 'gridcell');
    const { type } = b ?? a;
    put(name, 'span', `type ${/^[A-Za-z]+$/.test(type) ? type : 'Other'}`).attr('title', type);
    put(name, 'span', 'path', nameOf(row.url));
    if (!a || !b) put(name, 'span', 'only', a ? 'only A' : 'only B');
    put(name, 'span', 'host', hostOf(row.url));
    put(line, 'div', 'size', sizeText(row)).attr('role', 'gridcell');
    put(line, 'div', 'change', changeText(row)).attr('role', 'gridcell');
    const bar = line.append('svg').attr('class', 'bar').attr('role', 'gridcell')
      .attr('aria-label', lanesText(row));
    this.drawLane(bar, a, 'of-a', '25%');
    this.drawLane(bar, b, 'of-b', '75%');
  }

  drawLane(bar, request, lane, y) {
    if (!request) return;
    for (const phase of phasesOf(request, this.end)) {
      this.drawPart(bar, `${phase.name} ${lane}`, phase.start, phase.end);
    }
    const { start, end } = request;
    if (start === null || end === null) return;
    this.drawInstant(bar, lane, start, end);
    const share = this.share(end);
    if (share < 0 || share > 1) return;
    put(bar, 'text', `took ${lane}`, msText(end - start))
      .attr('x', `${(share * 100).toFixed(3)}%`).attr('dx', 5).attr('y', y).attr('dy', '.35em');
  }
}

function lanesText({ a, b }) {
  return ['A', 'B'].map((side, at) => {
    const request = [a, b][at];
    return `${side}: ${request ? barText(request.start, request.end) : 'not requested'}`;
  }).join('; ');
}

function sizeText({ a, b }) {
  const [before, after] = [a, b].map((of) => (of ? bytesText(of.encodedBytes) : ''));
  return before === after || !before || !after ? after || before : `${before} → ${after}`;
}

/** How much later it ends in B; empty if it does not end in both. */
export function changeText(row) {
  const by = shiftOf(row, 'end');
  return by === null || Math.abs(by) < 1 ? '' : signedMs(by);
}
