// The slices side by side; the chosen one is what the page explains.
import { choice, put, section } from '../page/elements.js';
import { counted, shown } from '../page/format.js';

import { putLegend, putStack } from './controls.js';
import { sliceName } from './explanation.js';
import { roughTime, sliceText, topShares } from './words.js';

const FIRST = 16; // more only when asked for

export class Slices {
  /** `choose(slice)` explains another slice. */
  constructor(explanation, choose) {
    this.explanation = explanation;
    this.choose = choose;
    this.scale = 'time';
    this.count = FIRST;
    this.part = section('slices', 'Compared');
    const isAlone = explanation.slices.length < 2;
    this.part.attr('hidden', isAlone ? '' : null);
    if (isAlone) return;
    put(this.part, 'p', 'said', `By ${explanation.by.join(' and ')}, the most views first. The `
      + 'chosen one is explained in the rest of the page.');
    const controls = this.part.append('div').attr('class', 'controls');
    choice(controls, 'slice-scale', 'Length of the bars',
      [['time', 'Time'], ['percent', 'Percent']], this.scale, (scale) => {
        this.scale = scale;
        this.draw();
      });
    putLegend(controls, explanation.ranked);
    this.list = this.part.append('div').attr('class', 'slices').attr('role', 'radiogroup')
      .attr('aria-label', 'Slice');
    this.more = this.part.append('button').attr('type', 'button');
    this.more.node().addEventListener('click', () => {
      this.count = Infinity;
      this.draw();
    });
    this.draw();
  }

  draw() {
    const { slices } = this.explanation;
    const longest = Math.max(...slices.map((slice) => slice.window_us.mean), 1);
    this.list.selectAll('*').remove();
    for (const slice of slices.slice(0, this.count)) {
      const row = this.list.append('label').attr('class', 'slice');
      const button = row.append('input').attr('type', 'radio').attr('name', 'slice')
        .attr('value', slice.index).attr('aria-label', shown(sliceText(slice)))
        .property('checked', slice === this.chosen);
      button.node().addEventListener('change', () => this.choose(slice));
      put(row, 'span', 'name', sliceName(slice));
      put(row, 'span', 'took', roughTime(slice.window_us.mean));
      const share = this.scale === 'time' ? slice.window_us.mean / longest : 1;
      putStack(row.append('span').attr('class', 'stage'), this.explanation, slice.shares)
        .style('width', `${100 * share}%`);
      put(row, 'span', 'host', `${counted(slice.views, 'view')} · ${topShares(slice.shares)}`);
    }
    this.more.attr('hidden', slices.length <= this.count ? '' : null)
      .text(`Show all ${slices.length}`);
  }

  show(slice) {
    this.chosen = slice;
    if (!this.list) return;
    this.list.selectAll('input').property('checked', function isChosen() {
      return Number(this.value) === slice.index;
    });
  }
}
