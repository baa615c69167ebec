// A long list with only its visible part in the document.
import { select } from 'd3-selection';

const MARGIN = 6; // rows drawn above and below the visible part

export class Rows {
  /**
   * `scroller` is the element that scrolls; `height` of a row is called at each change, since it
   * may depend on the page's width. `draw(element, item, position)` fills a new element.
   */
  constructor(scroller, { height, draw }) {
    this.scroller = scroller;
    this.height = height;
    this.draw = draw;
    this.items = [];
    this.inner = select(scroller).append('div').attr('class', 'rows').attr('role', 'rowgroup');
    scroller.addEventListener('scroll', () => this.soon());
    new ResizeObserver(() => this.soon()).observe(scroller);
  }

  show(items) {
    this.items = items;
    this.redraw();
  }

  /** Redraws all rows, for changes other than those of items. */
  redraw() {
    this.inner.selectAll('.row').remove();
    this.update();
  }

  soon() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      this.update();
    });
  }

  update() {
    const height = this.height();
    if (height !== this.drawnHeight) this.inner.selectAll('.row').remove();
    this.drawnHeight = height;
    const { scrollTop, clientHeight } = this.scroller;
    const first = Math.max(0, Math.floor(scrollTop / height) - MARGIN);
    const end =
      Math.min(this.items.length, Math.ceil((scrollTop + clientHeight) / height) + MARGIN);
    const positions = [];
    for (let position = first; position < end; position += 1) positions.push(position);
    const { draw, items } = this;
    this.inner.style('height', `${items.length * height}px`)
      .selectAll('.row')
      .data(positions, (position) => position)
      .join((enter) => enter.append('div')
        .attr('class', 'row')
        .attr('role', 'row')
        .attr('aria-rowindex', (position) => position + 1)
        .style('top', (position) => `${position * height}px`)
        .style('height', `${height}px`)
        .each(function fill(position) { draw(this, items[position], position); }));
  }

  /** Scrolls as little as necessary. */
  reveal(position) {
    const height = this.height();
    const { scrollTop, clientHeight } = this.scroller;
    if (position * height < scrollTop) this.scroller.scrollTop = position * height;
    const bottom = (position + 1) * height - clientHeight + this.inner.node().offsetTop;
    if (bottom > scrollTop) this.scroller.scrollTop = bottom;
    this.update();
  }

  /** The number of rows visible at once. */
  get page() {
    return Math.max(1, Math.floor(this.scroller.clientHeight / this.height()) - 1);
  }
}

/** Moves `position` among `count` rows by a key; null for keys with another purpose. */
export function moved(key, position, count, page) {
  const to = {
    ArrowDown: position + 1,
    ArrowUp: position < 0 ? 0 : position - 1,
    PageDown: position + page,
    PageUp: position - page,
    Home: 0,
    End: count - 1,
  }[key];
  return to === undefined || count === 0 ? null : Math.min(Math.max(to, 0), count - 1);
}
