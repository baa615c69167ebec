// The list of loads; the selected one is shown below.
import { select } from 'd3-selection';

import { put, section } from './elements.js';
import { bytesText, countText, msText } from './format.js';
import { configurationName } from './model.js';
import { moved, Rows } from './rows.js';

const TEXTS = { ms: msText, count: countText, bytes: bytesText };

const rowId = (load) => `load-row-${load.index}`;

export class LoadList {
  /** `choose(load)` is called with the load to show. */
  constructor(model, choose) {
    this.model = model;
    this.choose = choose;
    this.columns = model.metrics.filter((metric) => metric.column !== '');
    this.part = section('loads', 'Loads');
    this.grid = this.part.append('div')
                  .attr('class', 'load-list')
                  .attr('role', 'grid')
                  .attr('tabindex', 0)
                  .attr('aria-label', 'Loads; arrow keys choose the load shown below');
    const scroller = this.grid.append('div').attr('class', 'scroller');
    const head = scroller.append('div').attr('class', 'head').attr('role', 'row');
    put(head, 'div', 'title', 'Load').attr('role', 'columnheader');
    for (const { column, key } of this.columns) {
      put(head, 'div', key, column).attr('role', 'columnheader');
    }
    this.rows = new Rows(scroller.node(), {
      height: () => 30,
      draw: (element, load) => this.draw(element, load),
    });
    this.rows.inner.node().addEventListener('click', (event) => {
      const row = event.target.closest('.row');
      if (row) this.choose(this.rows.items[row.getAttribute('aria-rowindex') - 1]);
    });
    this.grid.node().addEventListener('keydown', (event) => {
      const { items, page } = this.rows;
      const to = moved(event.key, items.indexOf(this.chosen), items.length, page);
      if (to === null || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      this.choose(items[to]);
    });
  }

  show(loads) {
    this.part.attr('hidden', this.model.loads.length < 2 ? '' : null);
    this.grid.attr('aria-rowcount', loads.length);
    this.rows.show(loads);
  }

  mark(load) {
    this.chosen = load;
    this.rows.inner.selectAll('.row').attr(
      'aria-selected', (position) => String(this.rows.items[position] === load));
    const at = this.rows.items.indexOf(load);
    this.grid.attr('aria-activedescendant', at < 0 ? null : rowId(load));
    if (at >= 0) this.rows.reveal(at);
  }

  draw(element, load) {
    const row = select(element).attr('id', rowId(load))
      .attr('aria-selected', String(load === this.chosen))
      .classed('failed', !['loaded', 'recorded'].includes(load.outcome))
      .classed('odd', load.index % 2 === 1);
    put(row, 'div', 'title', this.title(load)).attr('role', 'gridcell');
    for (const { key, unit } of this.columns) {
      put(row, 'div', key, TEXTS[unit](load.metrics?.[key] ?? null)).attr('role', 'gridcell');
    }
  }

  title(load) {
    const input = this.model.inputs[load.input];
    const several = this.model.inputs.length > 1;
    const name = input.kind === 'archive' ? `Session ${load.run}` : `Run ${load.run ?? '?'}`;
    return [several && input.name, name, configurationName(load), load.warm_up && 'warm-up',
      !['loaded', 'recorded'].includes(load.outcome) && load.outcome, load.started,
      input.kind === 'archive' && load.url].filter(Boolean).join(' · ');
  }
}
