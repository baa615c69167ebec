// The waterfall of one view: one row per call, those inside it below and indented.
import { select } from 'd3-selection';

import { put } from '../page/elements.js';
import { hostOf, msText, nameOf, shown } from '../page/format.js';
import { barText, Timeline } from '../page/timeline.js';

const INDENT = 14; // pixels a level
const DEPTH_MAX = 8; // deeper ones are indented no further

export class CallWaterfall extends Timeline {
  /** `choose(call)` is called with the selected call or null. */
  constructor(parent, choose) {
    super(parent, {
      label: 'Calls of the view; arrow keys choose one',
      idPrefix: 'call',
      columns: [['name', 'Call'], ['own', 'Even share'], ['all', 'With inside'],
        ['along', 'Chain']],
      choose,
      hover: () => {},
    });
    this.grid.classed('call-tree', true);
  }

  /** `window` in ms; `calls` as callTree() has them. */
  setView(window, calls) {
    this.window = window;
    this.setEnd(calls.reduce((end, call) => Math.max(end, call.end), Math.max(window, 1)) * 1.02);
    this.setCalls(calls, true);
  }

  /** With the calls inside others, or without them: then the outer calls have their shares. */
  setCalls(calls, isNested) {
    this.isNested = isNested;
    this.showItems(isNested ? calls : calls.filter(({ depth }) => depth === 0));
  }

  marks() {
    return [{ time: this.window, kind: 'mark Load' }];
  }

  draw(element, call, position) {
    const row = select(element).attr('id', this.rowId(call))
      .attr('aria-selected', String(call === this.chosen))
      .attr('aria-level', call.depth + 1)
      .classed('odd', position % 2 === 1);
    const name = put(row, 'div', 'name').attr('role', 'gridcell');
    name.style('padding-left', `${8 + INDENT * Math.min(call.depth, DEPTH_MAX)}px`);
    put(name, 'span', `swatch ${call.kind.colour}`).attr('title', shown(call.kind.name));
    put(name, 'span', 'unseen', call.kind.name);
    const isUrl = hostOf(call.name) !== '';
    put(name, 'span', 'path', isUrl ? nameOf(call.name) : call.name);
    if (isUrl) put(name, 'span', 'host', hostOf(call.name));
    const own = this.isNested ? call.own : call.allOwn;
    const chain = this.isNested ? call.chain : call.allChain;
    put(row, 'div', 'own', msText(own)).attr('role', 'gridcell');
    put(row, 'div', 'all', call.inside > 0 ? msText(call.allOwn) : '').attr('role', 'gridcell');
    put(row, 'div', 'along', chain > 0 ? msText(chain) : '').attr('role', 'gridcell');
    const bar = row.append('svg').attr('class', 'bar').attr('role', 'gridcell')
      .attr('aria-label', barText(call.start, call.end));
    const { colour } = call.kind;
    this.drawPart(bar, `whole ${colour}`, call.start, call.end);
    this.drawPart(bar, colour, call.start, call.start + own);
    this.drawInstant(bar, colour, call.start, call.end);
    if (chain > 0) {
      this.drawLine(bar, 'chain', [call.start, call.start + chain], ['92%', '92%']);
    }
    this.drawTook(bar, call.start, call.end);
  }
}
