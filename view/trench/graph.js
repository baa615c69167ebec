// Draws a trace of a server, or a difference of two: bars hang under the bar of their caller.
import { select } from 'd3-selection';

import { put } from '../page/elements.js';
import { counted, countText, msText, nameOf, shown } from '../page/format.js';
import { byOwn, pointName } from './tree.js';
import { labelText, TRACE } from './words.js';

const ROW = 24; // pixels
const BARS_MAX = 3000;
const NARROWEST = 1.5; // pixels; what is narrower is not drawn
const LISTED_MAX = 500;
const GOLDEN = 137.508; // degrees: neighbours in the list differ much in colour
const LINKS_MAX = 8;
let graphs = 0; // on the page; for ids

/**
 * Puts the graph of `tree` (tree.js) into `parent`, a selection. `words` (words.js) say what it is
 * of, `whole` is what Escape returns to. `goTo(request)` follows a link to one that a node is from.
 */
export class TrenchGraph {
  constructor(parent, tree, { words = TRACE, whole = 'Whole request', goTo = null } = {}) {
    this.tree = tree;
    this.words = words;
    this.goTo = goTo;
    this.id = `trench-${graphs += 1}`;
    this.focus = null; // the node that fills the width
    this.chosen = null;
    this.point = null;
    this.text = '';
    this.marks = words.standingOut(tree);
    this.markOf = new Map(this.marks.map(({ kind, node }) => [node, kind]));
    byOwn(tree.points).forEach((point, i) => { point.hue = Math.round(i * GOLDEN) % 360; });
    this.box = parent.append('div').attr('class', 'trench');
    put(this.box, 'p', 'said', words.said(tree));
    if (tree.nodes.length === 0) return;
    this.putControls(whole);
    this.putMarks();
    const parts = this.box.append('div').attr('class', 'trench-parts');
    const left = parts.append('div').attr('class', 'trench-graph');
    this.putBars(left);
    this.said = left.append('p').attr('class', 'trench-said').attr('aria-live', 'polite');
    this.links = left.append('p').attr('class', 'trench-links');
    this.putPoints(parts);
    this.choose(null);
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(this.bars.node());
  }

  putControls(whole) {
    const form = this.box.append('div').attr('class', 'controls').attr('role', 'search')
      .attr('aria-label', 'Methods');
    const find = put(form, 'label', 'find', 'Find ').append('input').attr('type', 'search')
      .attr('placeholder', 'class or method').attr('autocomplete', 'off');
    find.node().addEventListener('input', () => this.search(find.node().value));
    this.out = put(form, 'button', 'trench-out', whole).attr('type', 'button');
    this.out.node().addEventListener('click', () => this.zoom(null));
    this.count = put(form, 'output', 'count', '');
  }

  putMarks() {
    if (this.marks.length === 0) return;
    const list = this.box.append('ul').attr('class', 'trench-marks')
      .attr('aria-label', 'What stands out');
    for (const { kind, node } of this.marks) {
      const [title, says] = this.words.kinds[kind];
      const item = list.append('li').attr('class', kind).attr('title', says);
      put(item, 'b', '', title);
      item.node().append(' ');
      put(item, 'button', 'link', pointName(node.point)).attr('type', 'button')
        .node().addEventListener('click', () => this.choose(node));
      put(item, 'span', '', ` ${this.words.mark({ kind, node }, this.tree)}`);
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
    const { columns } = this.words;
    const box = parent.append('div').attr('class', 'trench-points').attr('tabindex', 0)
      .attr('role', 'region').attr('aria-label', 'Code points');
    const table = box.append('table').attr('aria-label', 'Code points');
    table.append('thead').append('tr').selectAll('th')
      .data(['', 'Method', ...columns.map(([name]) => name)])
      .join('th')
      .attr('scope', 'col')
      .attr('aria-label', (name) => (name === '' ? 'Letter' : null))
      .classed('number', (name, i) => i > 1)
      .text((name) => name);
    const listed = byOwn(this.words.listed(this.tree.points));
    this.rows = table.append('tbody').selectAll('tr').data(listed.slice(0, LISTED_MAX)).join('tr');
    this.rows.append('td').append('span')
      .attr('class', (point) => `trench-letter ${this.words.barClass(point.own)}`)
      .style('--hue', (point) => point.hue).text((point) => point.letter);
    const name = this.rows.append('td').attr('class', 'trench-name');
    name.append('button').attr('type', 'button').attr('class', 'link')
      .text((point) => shown(point.method))
      .on('click', (event, point) => this.choosePoint(point));
    name.append('span').attr('class', 'says').text((point) => shown(point.className));
    for (const [, text] of columns) this.rows.append('td').attr('class', 'number').text(text);
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
      // The chosen one is drawn even so: a screen reader follows it.
      if (waiting[i].width < least && !isInside(this.chosen, waiting[i])) continue;
      found.push(waiting[i]);
      for (const child of waiting[i].children) waiting.push(child);
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
      .attr('class', (node) => `trench-bar ${this.words.barClass(node.ms)} ${
        this.markOf.get(node) ?? ''}`)
      .classed('caller', (node) => isCaller(node))
      .classed('dim', (node) => !this.matches(node))
      .attr('aria-selected', (node) => String(node === this.chosen))
      .style('left', (node) => `${isCaller(node) ? 0 : 100 * (node.left - from) / width}%`)
      .style('width', (node) => `${100 * share(node)}%`)
      .each(function label(node) {
        select(this).text(labelText(node, graph.words, share(node) * room));
      });
    this.out.attr('disabled', this.focus ? null : true);
  }

  describe(node) {
    const mark = this.markOf.has(node) ? `; ${this.words.kinds[this.markOf.get(node)][1]}` : '';
    return shown(this.words.describe(node) + mark);
  }

  /** The requests that a node is from, the longest time first. */
  putLinks(node) {
    if (!this.goTo) return;
    this.links.selectAll('*').remove();
    const from = [...node?.from ?? []].sort(([, a], [, b]) => b - a);
    for (const [request, ms] of from.slice(0, LINKS_MAX)) {
      const item = this.links.append('span');
      put(item, 'button', 'link', `${request.method} ${nameOf(request.url)}`).attr('type', 'button')
        .attr('title', shown(request.url))
        .node().addEventListener('click', () => this.goTo(request));
      put(item, 'span', 'says', ` ${msText(ms)}`);
    }
    if (from.length > LINKS_MAX) {
      put(this.links, 'span', 'says', `and ${counted(from.length - LINKS_MAX, 'more request')}`);
    }
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
    this.count.text(isAll ? '' : `${counted(found.length, 'code point')}, ${this.words.time(own)}`);
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
    this.putLinks(node);
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
    if (event.ctrlKey || event.altKey || event.metaKey) return;
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
