// Draws a trace of a server: bars hang under the bar of their caller.
import { select } from 'd3-selection';

import { put } from '../page/elements.js';
import { counted, countText, msText, shown } from '../page/format.js';
import { byOwn, pointName, standingOut } from './tree.js';

const ROW = 24; // pixels
const BARS_MAX = 3000;
const NARROWEST = 1.5; // pixels; what is narrower is not drawn
const LISTED_MAX = 500;
const GOLDEN = 137.508; // degrees: neighbours in the list differ much in colour
const KINDS = {
  wide: ['Wide', 'takes long, and calls nothing that is traced'],
  deep: ['Deep', 'the end of many calls inside each other'],
  inset: ['Inset', 'takes long by itself, beside what it calls'],
};
let graphs = 0; // on the page; for ids

/** Puts the graph of `tree` (tree.js) into `parent`, a selection. */
export class TrenchGraph {
  constructor(parent, tree) {
    this.tree = tree;
    this.id = `trench-${graphs += 1}`;
    this.focus = null; // the node that fills the width
    this.chosen = null;
    this.point = null;
    this.text = '';
    this.marks = standingOut(tree);
    this.markOf = new Map(this.marks.map(({ kind, node }) => [node, kind]));
    byOwn(tree.points).forEach((point, i) => { point.hue = Math.round(i * GOLDEN) % 360; });
    this.box = parent.append('div').attr('class', 'trench');
    put(this.box, 'p', 'said', `${msText(tree.ms)} in ${counted(tree.calls, 'call')} of `
      + `${counted(tree.points.length, 'code point')}, by the server’s clock`);
    if (tree.nodes.length === 0) return;
    this.putControls();
    this.putMarks();
    const parts = this.box.append('div').attr('class', 'trench-parts');
    const left = parts.append('div').attr('class', 'trench-graph');
    this.putBars(left);
    this.said = left.append('p').attr('class', 'trench-said').attr('aria-live', 'polite');
    this.putPoints(parts);
    this.choose(null);
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(this.bars.node());
  }

  putControls() {
    const form = this.box.append('div').attr('class', 'controls').attr('role', 'search');
    const find = put(form, 'label', 'find', 'Find ').append('input').attr('type', 'search')
      .attr('placeholder', 'class or method').attr('autocomplete', 'off');
    find.node().addEventListener('input', () => this.search(find.node().value));
    this.out = put(form, 'button', 'trench-out', 'Whole request').attr('type', 'button');
    this.out.node().addEventListener('click', () => this.zoom(null));
    this.count = put(form, 'output', 'count', '');
  }

  putMarks() {
    if (this.marks.length === 0) return;
    const list = this.box.append('ul').attr('class', 'trench-marks')
      .attr('aria-label', 'What stands out');
    for (const { kind, node } of this.marks) {
      const [title, says] = KINDS[kind];
      const time = kind === 'inset' ? node.own : node.ms;
      const item = list.append('li').attr('class', kind).attr('title', says);
      put(item, 'b', '', `${title} `);
      put(item, 'button', 'link', pointName(node.point)).attr('type', 'button')
        .node().addEventListener('click', () => this.choose(node));
      put(item, 'span', '', kind === 'deep' ? ` ${counted(node.depth + 1, 'row')} down`
        : ` ${msText(time)}, ${Math.round(100 * time / this.tree.ms)} %`);
    }
  }

  putBars(parent) {
    this.bars = parent.append('div').attr('class', 'trench-bars').attr('role', 'tree')
      .attr('tabindex', 0)
      .attr('aria-label', 'Calls: arrow keys move, Enter zooms in, Escape zooms out');
    this.inner = this.bars.append('div').attr('class', 'trench-inner').attr('role', 'presentation');
    this.bars.node().addEventListener('keydown', (event) => this.key(event));
  }

  putPoints(parent) {
    const { points } = this.tree;
    const box = parent.append('div').attr('class', 'trench-points').attr('tabindex', 0)
      .attr('role', 'region').attr('aria-label', 'Code points');
    const table = box.append('table');
    table.append('thead').append('tr').selectAll('th')
      .data(['', 'Method', 'Line', 'Calls', 'Time', 'Own'])
      .join('th')
      .attr('scope', 'col')
      .classed('number', (name, i) => i > 1)
      .text((name) => name);
    const listed = byOwn(points);
    this.rows = table.append('tbody').selectAll('tr').data(listed.slice(0, LISTED_MAX)).join('tr');
    this.rows.append('td').append('span').attr('class', 'trench-letter')
      .style('--hue', (point) => point.hue).text((point) => point.letter);
    const name = this.rows.append('td').attr('class', 'trench-name');
    name.append('button').attr('type', 'button').attr('class', 'link')
      .text((point) => shown(point.method))
      .on('click', (event, point) => this.choosePoint(point));
    name.append('span').attr('class', 'says').text((point) => shown(point.className));
    const cell = (text) => this.rows.append('td').attr('class', 'number').text(text);
    cell((point) => (point.line < 0 ? 'unknown' : String(point.line)));
    cell((point) => countText(point.hits));
    cell((point) => msText(point.ms));
    cell((point) => msText(point.own));
    if (listed.length > LISTED_MAX) {
      put(box, 'p', 'said', `${countText(listed.length - LISTED_MAX)} more with less time.`);
    }
  }

  /** From where to where the graph shows, as shares of the whole. */
  get range() {
    return this.focus && this.focus.width > 0
      ? [this.focus.left, this.focus.width] : [0, 1];
  }

  /** The nodes to draw: the focus with its callers, and what it calls, as far as one can see it. */
  visible() {
    const [, width] = this.range;
    const least = NARROWEST / Math.max(this.bars.node().clientWidth, 1) * width;
    const found = [];
    for (let node = this.focus?.parent; node; node = node.parent) found.push(node);
    const waiting = this.focus ? [this.focus] : [...this.tree.roots];
    for (let i = 0; i < waiting.length && found.length < BARS_MAX; i += 1) {
      if (waiting[i].width < least) continue;
      found.push(waiting[i]);
      waiting.push(...waiting[i].children);
    }
    return found;
  }

  draw() {
    const [from, width] = this.range;
    const room = this.bars.node().clientWidth;
    const nodes = this.visible();
    const isCaller = (node) => this.focus && node.depth < this.focus.depth;
    const share = (node) => (isCaller(node) ? 1 : node.width / width);
    const rows = nodes.reduce((most, node) => Math.max(most, node.depth + 1), 1);
    this.inner.style('height', `${rows * ROW}px`);
    const graph = this;
    this.inner.selectAll('.trench-bar').data(nodes, (node) => node.index)
      .join((enter) => enter.append('div')
        .attr('role', 'treeitem')
        .attr('id', (node) => `${this.id}-${node.index}`)
        .attr('aria-level', (node) => node.depth + 1)
        .attr('aria-label', (node) => this.describe(node))
        .attr('title', (node) => this.describe(node))
        .style('--hue', (node) => node.point.hue)
        .style('top', (node) => `${node.depth * ROW}px`)
        .on('click', (event, node) => this.choose(node))
        .on('dblclick', (event, node) => this.zoom(node)))
      .attr('class', (node) => `trench-bar ${this.markOf.get(node) ?? ''}`)
      .classed('caller', (node) => isCaller(node))
      .classed('dim', (node) => !this.matches(node))
      .attr('aria-selected', (node) => String(node === this.chosen))
      .style('left', (node) => `${isCaller(node) ? 0 : 100 * (node.left - from) / width}%`)
      .style('width', (node) => `${100 * share(node)}%`)
      .each(function label(node) {
        select(this).text(graph.label(node, share(node) * room));
      });
    this.out.attr('disabled', this.focus ? null : true);
  }

  label({ point, hits, ms }, pixels) {
    if (pixels < 18) return '';
    if (pixels < 90) return point.letter;
    const times = hits === 1 ? '' : ` × ${countText(hits)}`;
    if (pixels < 200) return `${point.letter} ${msText(ms)}${times}`;
    return shown(`${point.letter} ${point.method} · ${msText(ms)}${times}`);
  }

  describe(node) {
    const { point, hits, ms, own } = node;
    const line = point.line < 0 ? 'line unknown' : `line ${point.line}`;
    const mark = this.markOf.has(node) ? `; ${KINDS[this.markOf.get(node)][1]}` : '';
    return shown(`${pointName(point)}, ${line}: ${msText(ms)} in ${counted(hits, 'call')}, `
      + `${msText(own)} of its own${mark}`);
  }

  matches({ point }) {
    if (this.point) return point === this.point;
    return this.text === '' || pointName(point).toLowerCase().includes(this.text);
  }

  search(text) {
    this.text = text.trim().toLowerCase();
    this.point = null;
    this.mark();
  }

  choosePoint(point) {
    this.point = this.point === point ? null : point;
    this.mark();
  }

  /** Shows what was searched for, or whose point was chosen. */
  mark() {
    const found = this.tree.points.filter((point) => this.matches({ point }));
    const isAll = found.length === this.tree.points.length;
    const own = found.reduce((sum, point) => sum + point.own, 0);
    this.count.text(isAll ? '' : `${counted(found.length, 'code point')}, ${msText(own)}`);
    this.rows.classed('dim', (point) => !this.matches({ point }))
      .classed('chosen', (point) => point === this.point);
    this.draw();
  }

  choose(node) {
    this.chosen = node;
    const isHidden = node && this.focus && !isInside(node, this.focus) && !isInside(this.focus, node);
    if (isHidden) this.focus = null;
    this.said.text(node ? this.describe(node)
      : 'Choose a bar: double-click or Enter zooms in, Escape zooms out.');
    this.bars.attr('aria-activedescendant', node ? `${this.id}-${node.index}` : null);
    this.draw();
    if (!node) return;
    const scroller = this.bars.node();
    const top = node.depth * ROW;
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    const over = top + ROW - scroller.clientHeight;
    if (over > scroller.scrollTop) scroller.scrollTop = over;
  }

  zoom(node) {
    this.focus = node;
    this.choose(node);
  }

  key(event) {
    const { chosen } = this;
    const siblings = chosen?.parent?.children ?? this.tree.roots;
    const beside = (step) => siblings[siblings.indexOf(chosen) + step] ?? chosen;
    const widest = (nodes) =>
      nodes.reduce((most, node) => (node.width > (most?.width ?? -1) ? node : most), null);
    const moves = {
      ArrowDown: () => this.choose(chosen ? widest(chosen.children) ?? chosen
        : widest(this.tree.roots)),
      ArrowUp: () => this.choose(chosen?.parent ?? chosen),
      ArrowLeft: () => this.choose(chosen && beside(-1)),
      ArrowRight: () => this.choose(chosen && beside(1)),
      Home: () => this.choose(widest(this.tree.roots)),
      Enter: () => this.zoom(chosen),
      Escape: () => this.zoom(this.focus?.parent ?? null),
    };
    if (!moves[event.key]) return;
    event.preventDefault();
    event.stopPropagation();
    moves[event.key]();
  }
}

function isInside(node, outer) {
  for (let at = node; at; at = at.parent) if (at === outer) return true;
  return false;
}
