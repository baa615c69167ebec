// One view: what it was, its shares, and its waterfall.
import { put } from '../page/elements.js';
import { msText } from '../page/format.js';

import { CallWaterfall } from './call_waterfall.js';
import { putKindLink, putStack } from './controls.js';
import { callTree, sharesOfPoint, tagsText } from './explanation.js';
import { loadPlace } from './place.js';
import { percentText, whenText } from './words.js';

export class PointView {
  constructor(parent, explanation) {
    this.explanation = explanation;
    this.box = parent.append('div').attr('class', 'point').attr('role', 'region')
      .attr('aria-label', 'The chosen view').attr('tabindex', -1).attr('hidden', '');
  }

  show(point) {
    this.box.attr('hidden', null).selectAll('*').remove();
    const { inputs, names } = this.explanation;
    put(this.box, 'h3', '', `View ${point.index + 1}: ${msText(point.window_us / 1000)}`);
    put(this.box, 'p', 'address', names[point.page]);
    const started = whenText(point.started_unix_ms);
    put(this.box, 'p', 'said', [started && `${started} UTC`, tagsText(point.tags),
      `load ${point.load} of ${inputs[point.input].name}`].filter(Boolean).join(' · '));
    const detailed = loadPlace(this.explanation, point);
    if (detailed) {
      put(put(this.box, 'p', '', ''), 'a', '', 'This load in detail').attr('href', detailed);
    }
    const shares = sharesOfPoint(this.explanation, point);
    putStack(this.box, this.explanation, shares);
    const list = this.box.append('ul').attr('class', 'legend').attr('aria-label', 'Even shares');
    for (const share of shares) {
      const item = list.append('li');
      putKindLink(item, this.explanation.kindNamed.get(share.kind));
      item.node().append(` ${msText(share.us / 1000)} (${percentText(share.percent)})`);
    }
    if (point.calls === null) {
      put(this.box, 'p', 'hint', 'The explanation holds no calls for this view: it holds those of '
        + 'the first 200 views with at most 2,000 calls each.');
    } else {
      this.putWaterfall(point);
    }
    this.box.node().scrollIntoView({ block: 'nearest' });
    this.box.node().focus({ preventScroll: true });
  }

  putWaterfall(point) {
    const calls = callTree(this.explanation, point);
    const controls = this.box.append('div').attr('class', 'controls');
    if (calls.some(({ depth }) => depth > 0)) {
      const label = controls.append('label').attr('class', 'check');
      const box = label.append('input').attr('type', 'checkbox').property('checked', true);
      label.node().append('calls inside others');
      box.node().addEventListener('change',
        () => this.waterfall.setCalls(calls, box.node().checked));
    }
    const zoom = controls.append('span').attr('class', 'zoom').attr('role', 'group')
      .attr('aria-label', 'Zoom');
    for (const [text, title, factor] of [
           ['−', 'Zoom out', 2], ['+', 'Zoom in', 0.5], ['Fit', 'Whole view', Infinity]]) {
      put(zoom, 'button', '', text).attr('type', 'button').attr('title', title)
        .node().addEventListener('click', () => this.waterfall.zoom(factor));
    }
    put(controls, 'span', 'hint', 'Pale: from start to end. Solid: its own even share. Line: its '
      + 'own part of the critical chain. Calls inside it have their own.');
    this.waterfall = new CallWaterfall(this.box, (call) => this.describe(call));
    this.details = this.box.append('div').attr('class', 'details').attr('aria-live', 'polite');
    this.describe(null);
    this.waterfall.setView(point.window_us / 1000, calls);
  }

  describe(call) {
    this.details.selectAll('*').remove();
    this.details.classed('empty', !call);
    if (!call) {
      put(this.details, 'p', 'hint', 'Choose a call to see its details.');
      return;
    }
    put(this.details, 'h3', 'url', call.name);
    const facts = this.details.append('dl');
    const fact = (name, text) => {
      put(facts, 'dt', '', name);
      return put(facts, 'dd', '', text);
    };
    putKindLink(fact('Kind'), call.kind);
    fact('Time', `${msText(call.start)} to ${msText(call.end)}, ${msText(call.end - call.start)}`);
    const both = (own, all) =>
      msText(own) + (call.inside > 0 ? `; ${msText(all)} with those inside` : '');
    fact('Even share', both(call.own, call.allOwn));
    fact('Critical chain', both(call.chain, call.allChain));
    if (call.inside > 0) fact('Calls inside', String(call.inside));
  }
}
