// All calls of the chosen slice: sorted, searched, filtered by kind, and as a file.
import { put, section } from '../page/elements.js';
import { counted, msText, shown } from '../page/format.js';

import { COLUMNS, csvOf, listedCalls } from './calls.js';
import { dropDown, putKind } from './controls.js';
import { percentText } from './words.js';

const FIRST = 25; // rows; more only when asked for
const CALLS_MAX = 500; // of a slice

export class CallsTable {
  constructor(explanation) {
    this.explanation = explanation;
    this.state = { text: '', kind: '', sort: 'us', descending: true };
    this.isWhole = false;
    this.part = section('calls', 'Calls');
    this.said = put(this.part, 'p', 'said', '');
    const controls = this.part.append('div').attr('class', 'controls').attr('role', 'search')
      .attr('aria-label', 'Calls');
    this.find = put(controls, 'label', 'find', 'Search ').append('input').attr('type', 'search')
      .attr('placeholder', 'name, kind or owner').attr('autocomplete', 'off');
    this.find.node().addEventListener('input', () => this.change({ text: this.find.node().value }));
    const kinds = explanation.kinds.map(({ name }) => [name, name]);
    this.kinds = dropDown(controls, 'Kind', [['', 'all'], ...kinds],
      (kind) => this.change({ kind }));
    const sorts = COLUMNS.map(({ key, name }) => [key, name.toLowerCase()]);
    this.sorts = dropDown(controls, 'Sort by', sorts, (sort) => this.sortBy(sort));
    this.sorts.property('value', this.state.sort);
    this.file = put(controls, 'a', 'button', 'Download CSV').attr('download', 'explain-calls.csv');
    this.count = put(controls, 'output', 'count', '');
    this.makeTable();
    this.more = this.part.append('button').attr('type', 'button').attr('class', 'more');
    this.more.node().addEventListener('click', () => {
      this.isWhole = true;
      this.draw();
    });
  }

  makeTable() {
    const made = this.part.append('table').attr('class', 'calls').attr('role', 'table');
    put(made, 'caption', 'unseen', 'Calls of the chosen slice');
    this.heads = made.append('thead').attr('role', 'rowgroup').append('tr').attr('role', 'row')
      .selectAll('th').data(COLUMNS).join('th')
      .attr('scope', 'col').attr('role', 'columnheader')
      .classed('number', ({ isText }) => !isText);
    this.heads.append('button').attr('type', 'button').text(({ name }) => name)
      .each(function listen({ key }) { this.dataset.key = key; });
    this.heads.node().parentNode.addEventListener('click', (event) => {
      const key = event.target.closest('button')?.dataset.key;
      if (key) this.sortBy(key, true);
    });
    this.body = made.append('tbody').attr('role', 'rowgroup');
  }

  /** Numbers begin with the largest, texts with the first; `again` turns the order round. */
  sortBy(sort, again = false) {
    const isSame = again && sort === this.state.sort;
    const first = !COLUMNS.find(({ key }) => key === sort).isText;
    this.change({ sort, descending: isSame ? !this.state.descending : first });
  }

  show(slice) {
    this.slice = slice;
    const most = slice.calls.length >= CALLS_MAX ? `: the ${CALLS_MAX} with the largest share` : '';
    this.said.text(`Times are the mean of a view; calls and the longest are over all${most}.`);
    this.draw();
  }

  /** Lists the calls of one kind. */
  showKind(kind) {
    this.find.property('value', '');
    this.kinds.property('value', kind.name);
    this.change({ text: '', kind: kind.name });
    this.part.node().scrollIntoView();
    this.kinds.node().focus({ preventScroll: true });
  }

  change(to) {
    Object.assign(this.state, to);
    this.draw();
  }

  draw() {
    const { sort, descending } = this.state;
    const calls = listedCalls(this.slice.calls, this.state);
    this.sorts.property('value', sort);
    this.heads.attr('aria-sort', ({ key }) =>
      (key !== sort ? null : (descending && 'descending') || 'ascending'));
    this.count.text(calls.length === this.slice.calls.length ? counted(calls.length, 'call')
      : `${calls.length} of ${counted(this.slice.calls.length, 'call')}`);
    const rows = this.isWhole ? calls : calls.slice(0, FIRST);
    this.most = Math.max(...calls.flatMap((call) => [call.us, call.chain_us]), 1);
    this.body.selectAll('*').remove();
    for (const call of rows) this.putRow(call);
    if (calls.length === 0) {
      put(this.body.append('tr').attr('role', 'row'), 'td', 'hint', 'No call fits.')
        .attr('role', 'cell').attr('colspan', COLUMNS.length);
    }
    this.more.attr('hidden', rows.length === calls.length ? '' : null)
      .text(`Show all ${calls.length}`);
    this.putFile(calls);
  }

  putRow(call) {
    const kind = this.explanation.kindNamed.get(call.kind);
    const row = this.body.append('tr').attr('role', 'row');
    const cell = (className) => row.append('td').attr('class', className).attr('role', 'cell');
    putKind(cell('of-kind'), kind);
    const name = cell('called');
    put(name, 'span', 'name', call.name);
    if (call.detail) put(name, 'span', 'host', call.detail);
    const measure = (className, us, text) => {
      const box = cell(`number ${className}`);
      put(box, 'span', '', text);
      if (us === 0) return;
      put(box.append('span').attr('class', 'groove').attr('aria-hidden', true), 'span', kind.colour)
        .style('width', `${(100 * us) / this.most}%`);
    };
    measure('even', call.us, `${msText(call.us / 1000)} · ${percentText(call.percent)}`);
    measure('along', call.chain_us, msText(call.chain_us / 1000));
    put(cell('number times'), 'span', '', call.count.toLocaleString('en'));
    put(cell('number longest'), 'span', '', msText(call.longest_us / 1000));
  }

  /** The file is made of the listed calls, in their order. */
  putFile(calls) {
    const old = this.file.attr('href');
    if (old) URL.revokeObjectURL(old);
    const file = new Blob([csvOf(calls)], { type: 'text/csv;charset=utf-8' });
    this.file.attr('href', URL.createObjectURL(file))
      .attr('aria-label', shown(`Download ${counted(calls.length, 'call')} as CSV`));
  }
}
