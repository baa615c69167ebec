// Elements of the page. All text is inserted as text, never as markup.
import { select } from 'd3-selection';

import { shown } from './format.js';

/** Adds a child with this text to `parent` (a selection). */
export function put(parent, tag, className, text) {
  const made = parent.append(tag);
  if (className) made.attr('class', className);
  if (text !== undefined) made.text(shown(text));
  return made;
}

/** A section of the page with a heading; a further call with the same id empties it. */
export function section(id, title) {
  const page = select('#page');
  let found = page.select(`#${id}`);
  if (found.empty())
    found = page.append('section').attr('id', id).attr('aria-labelledby', `${id}-title`);
  found.selectAll('*').remove();
  put(found, 'h2', '', title).attr('id', `${id}-title`);
  return found;
}

/** A figure; its caption is its name for screen readers, too. */
export function putFigure(parent, className, caption) {
  const made = parent.append('figure').attr('class', className).attr('aria-label', shown(caption));
  put(made, 'figcaption', '', caption);
  return made;
}

/** A table that scrolls if it is wider than the page. `columns`: [{ name, text, number }]. */
export function table(parent, caption, columns, rows) {
  const box = parent.append('div').attr('class', 'table').attr('tabindex', 0).attr('role', 'region')
    .attr('aria-label', caption);
  const made = box.append('table');
  put(made, 'caption', '', caption);
  made.append('thead').append('tr').selectAll('th').data(columns)
    .join('th')
    .attr('scope', 'col')
    .classed('number', (column) => column.number)
    .text((column) => shown(column.name));
  made.append('tbody').selectAll('tr').data(rows).join('tr')
    .selectAll('td')
    .data((row) => columns.map((column) => ({ column, text: column.text(row) })))
    .join('td')
    .classed('number', (cell) => cell.column.number)
    .text((cell) => shown(cell.text));
  return made;
}

/** A choice among few: `options` are [value, text]; `change(value)` is called with another one. */
export function choice(parent, name, label, options, chosen, change) {
  const box = parent.append('div').attr('class', 'choice').attr('role', 'radiogroup')
    .attr('aria-label', label);
  for (const [value, text] of options) {
    const option = box.append('label');
    const button = option.append('input').attr('type', 'radio').attr('name', name)
      .attr('value', value).property('checked', value === chosen);
    put(option, 'span', '', text);
    button.node().addEventListener('change', () => change(value));
  }
  return box;
}

/** Moves labels of an axis inside `from` to `to`. */
export function keepInside(axis, scale, from, to) {
  const half = 30; // of the longest label, in pixels
  axis.selectAll('.tick text').attr('text-anchor', (value) => {
    if (scale(value) - from < half) return 'start';
    return to - scale(value) < half ? 'end' : 'middle';
  });
}
