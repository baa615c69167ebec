// How to get the time back, by kind, with the calls that weigh most.
import { put, section } from '../page/elements.js';
import { bytesText, counted, msText } from '../page/format.js';

import { putKind } from './controls.js';
import { percentText } from './words.js';

const OPEN = 3; // kinds that are open at first
const CALLS = 5;

export class Fixes {
  /** `showCalls(kind)` lists all calls of a kind. */
  constructor(explanation, showCalls) {
    this.explanation = explanation;
    this.showCalls = showCalls;
    this.part = section('fixes', 'How to fix it');
    this.box = this.part.append('div').attr('class', 'fixes');
  }

  show(slice) {
    this.box.selectAll('*').remove();
    this.places = new Map();
    slice.shares.forEach((share, rank) => {
      const kind = this.explanation.kindNamed.get(share.kind);
      const place = this.box.append('details').attr('open', rank < OPEN ? '' : null);
      this.places.set(kind, place);
      const head = place.append('summary');
      putKind(head, kind);
      put(head, 'b', 'percent', percentText(share.percent));
      put(head, 'span', 'took', msText(share.us / 1000));
      put(head, 'span', 'chain-took', `critical chain ${percentText(share.chain_percent)}`);
      put(place, 'p', 'fix', kind.fix);
      this.putCalls(place, kind, slice.calls.filter((call) => call.kind === kind.name));
    });
  }

  putCalls(place, kind, calls) {
    if (calls.length === 0) {
      put(place, 'p', 'hint', 'No single call is behind this time.');
      return;
    }
    const list = place.append('ol').attr('class', 'heaviest');
    for (const call of calls.slice(0, CALLS)) {
      const item = list.append('li');
      const line = put(item, 'div', 'line-of-call');
      put(line, 'span', 'name', call.name);
      if (call.detail) put(line, 'span', 'host', call.detail);
      const size = call.bytes > 0 ? `, ${bytesText(call.bytes)}` : '';
      put(item, 'span', 'took', `${msText(call.us / 1000)}, ${percentText(call.percent)}${size}`);
      const groove = item.append('span').attr('class', 'groove').attr('aria-hidden', true);
      put(groove, 'span', kind.colour)
        .style('width', `${(100 * call.us) / Math.max(calls[0].us, 1)}%`);
    }
    if (calls.length <= CALLS) return;
    put(place, 'button', 'link', `All ${counted(calls.length, 'call')} of ${kind.name}`)
      .attr('type', 'button')
      .node().addEventListener('click', () => this.showCalls(kind));
  }

  /** Opens the place of a kind; the section's own if the slice has nothing of it. */
  open(kind) {
    const place = this.places.get(kind);
    if (!place) {
      this.part.node().scrollIntoView();
      return;
    }
    place.attr('open', '');
    place.node().scrollIntoView({ block: 'start' });
    place.select('summary').node().focus({ preventScroll: true });
  }
}
