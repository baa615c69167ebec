// What several sections of the page use.
import { put } from '../page/elements.js';
import { shown } from '../page/format.js';

import { kindPlace } from './place.js';

/** A select; `options` are [value, text]. */
export function dropDown(parent, label, options, change) {
  const made = put(parent, 'label', '', `${label} `).append('select');
  made.selectAll('option').data(options).join('option').attr('value', ([value]) => value)
    .text(([, text]) => shown(text));
  made.node().addEventListener('change', () => change(made.node().value));
  return made;
}

/** A kind's name with its colour. */
export function putKind(parent, kind) {
  const made = put(parent, 'span', 'kind');
  put(made, 'span', `swatch ${kind.colour}`).attr('aria-hidden', true);
  put(made, 'span', '', kind.name);
  return made;
}

/** A kind's name that leads to how to fix it. */
export function putKindLink(parent, kind) {
  return putKind(parent.append('a').attr('href', kindPlace(kind.name)), kind);
}

/** The colours of `kinds`. */
export function putLegend(parent, kinds) {
  const list = parent.append('ul').attr('class', 'legend').attr('aria-label', 'Colours');
  for (const kind of kinds) putKind(list.append('li'), kind);
}

/** Shares as one bar of coloured parts, in the same order in all bars. For the eye only. */
export function putStack(parent, explanation, shares) {
  const bar = parent.append('span').attr('class', 'stacked').attr('aria-hidden', true);
  const sizes = new Map(shares.map(({ kind, us }) => [kind, us]));
  for (const { name, colour } of explanation.ranked) {
    if (!sizes.get(name)) continue;
    put(bar, 'span', colour).style('flex-grow', sizes.get(name)).attr('title', shown(name));
  }
  return bar;
}

/** Calls `draw(width)` when the width of `svg` is known, and at each change. */
export function drawAtWidth(svg, draw) {
  const redraw = () => {
    const width = svg.node().clientWidth;
    if (width === 0) return;
    svg.selectAll('*').remove();
    draw(width);
  };
  new ResizeObserver(redraw).observe(svg.node());
  return redraw;
}

/**
 * Makes `svg` a slider over places 0 to `count()` - 1, for the keyboard and screen readers; `text`
 * describes a place, `move(place)` shows it, `open(place)` follows Enter.
 */
export function makeSlider(svg, { label, count, text, move, open = () => {} }) {
  let at = -1;
  svg.attr('role', 'slider').attr('tabindex', 0).attr('aria-label', label);
  const go = (place) => {
    at = place;
    svg.attr('aria-valuemin', 1).attr('aria-valuemax', count()).attr('aria-valuenow', at + 1)
      .attr('aria-valuetext', shown(text(at)));
    move(at);
  };
  svg.node().addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || count() === 0) return;
    const to = { ArrowRight: at + 1, ArrowUp: at + 1, ArrowLeft: at - 1, ArrowDown: at - 1,
      PageUp: at + 10, PageDown: at - 10, Home: 0, End: count() - 1 }[event.key];
    if (event.key === 'Enter' && at >= 0) open(at);
    else if (to !== undefined) go(Math.min(Math.max(to, 0), count() - 1));
    else return;
    event.preventDefault();
  });
  svg.node().addEventListener('focus', () => { if (at < 0 && count() > 0) go(0); });
  return { go, reset: () => { at = -1; } };
}
