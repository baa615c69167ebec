// The way from A to B: a step for each cause, which chooses it.
import { scaleLinear } from 'd3-scale';

import { put, section } from '../page/elements.js';
import { shown } from '../page/format.js';

import { stepsOf } from './report.js';
import { effectText, othersTitle, stepName, valueText } from './words.js';

const percent = (share) => `${(share * 100).toFixed(3)}%`;

export class Causes {
  /** `choose(cause)` is called with a cause, or null for none. */
  constructor(report, choose) {
    this.report = report;
    this.choose = choose;
    this.chosen = null;
    const part = section('causes', 'From A to B');
    put(part, 'p', 'said', report.isMeasured
      ? 'What each difference costs, measured by putting it back into A; the thin line is its '
        + 'interval. Choose one to light up its requests.'
      : 'What costs more in B: the parts of what the page waited for. Choose one to light up its '
        + 'requests.');
    this.list = part.append('ol').attr('class', 'steps');
    const steps = stepsOf(report);
    this.scale = this.scaleOf(steps);
    for (const step of steps) this.putStep(step);
    for (const pair of report.pairs) put(part, 'p', 'said pair', pair);
    this.putOthers(part);
    this.putNotMeasured(part);
  }

  /** Over all steps with their intervals; from zero if the base is not much larger than they. */
  scaleOf(steps) {
    const ends = steps.filter(({ kind }) => kind !== 'a' && kind !== 'b')
      .flatMap(({ from, to, effect }) => [from, to, from + (effect.low ?? 0),
        from + (effect.high ?? 0)]);
    const { base, total } = this.report;
    const all = [base, base + total.estimate, ...ends];
    const [least, most] = [Math.min(...all), Math.max(...all)];
    const from = least > 4 * (most - least) ? least - (most - least) / 2 : Math.min(0, least);
    return scaleLinear().domain([from, most + (most - from) / 50]).range([0, 1]).clamp(true);
  }

  putStep(step) {
    const { report } = this;
    const item = this.list.append('li').attr('class', `step ${step.kind}`);
    const head = step.kind === 'cause' ? this.button(item, step.cause) : item.append('div');
    head.classed('step-head', true);
    put(head, 'span', 'step-number', step.kind === 'cause' ? step.cause.number : '');
    put(head, 'span', 'step-name', stepName(step, report));
    put(head, 'span', 'step-took', step.effect ? effectText(step.effect, report.unit)
      : valueText(step.to, report.unit));
    this.putBar(head, step);
    if (step.kind === 'cause') this.putDifferences(item, step.cause);
  }

  putBar(parent, { kind, from, to, effect }) {
    const bar = parent.append('svg').attr('class', 'step-bar').attr('aria-hidden', true);
    const [left, right] = [this.scale(Math.min(from, to)), this.scale(Math.max(from, to))];
    bar.append('rect').attr('class', `${kind} ${to < from ? 'less' : 'more'}`)
      .attr('x', percent(left)).attr('width', percent(right - left));
    if (!effect || effect.low === null) return;
    bar.append('line').attr('class', 'interval').attr('y1', '50%').attr('y2', '50%')
      .attr('x1', percent(this.scale(from + effect.low)))
      .attr('x2', percent(this.scale(from + effect.high)));
  }

  button(parent, cause) {
    const button = parent.append('button').attr('type', 'button').attr('aria-pressed', 'false')
      .attr('data-cause', cause.number);
    button.node().addEventListener('click', () => {
      this.mark(this.chosen === cause ? null : cause);
      this.choose(this.chosen);
    });
    return button;
  }

  putDifferences(parent, { others, differences }) {
    const box = parent.append('div').attr('class', 'step-differences').attr('hidden', '');
    if (others.length > 0) {
      put(box, 'p', 'hint', 'Not told apart from:');
      const list = box.append('ul');
      for (const title of others) put(list, 'li', '', title);
    }
    const list = box.append('dl');
    for (const { kind, where, what } of differences) {
      put(list, 'dt', '', kind);
      const dd = put(list, 'dd', '', what);
      put(dd, 'span', 'host', ` ${shown(where)}`);
    }
  }

  putOthers(part) {
    const { others, unit } = this.report;
    if (others.length === 0) return;
    const box = part.append('details').attr('class', 'others');
    put(box, 'summary', '', othersTitle(this.report));
    const list = box.append('ul');
    for (const cause of others) {
      const button = this.button(list.append('li'), cause).classed('link', true);
      put(button, 'span', '', cause.title);
      if (cause.others.length > 0) put(button, 'span', '', ` and ${cause.others.length} more`);
      put(button, 'span', 'host', ` ${effectText(cause, unit)}`);
    }
  }

  putNotMeasured(part) {
    const { notMeasured } = this.report;
    if (notMeasured.length === 0) return;
    const box = part.append('details').attr('class', 'others');
    put(box, 'summary', '', 'Differences that a replay of A cannot have');
    const list = box.append('ul');
    for (const title of notMeasured) put(list, 'li', '', title);
  }

  /** Shows `cause` as the chosen one; null: none. */
  mark(cause) {
    this.chosen = cause;
    const part = this.list.node().parentNode;
    for (const button of part.querySelectorAll('button[data-cause]')) {
      const isChosen = cause !== null && Number(button.dataset.cause) === cause.number;
      button.setAttribute('aria-pressed', String(isChosen));
      const differences = button.parentNode.querySelector('.step-differences');
      if (differences) differences.hidden = !isChosen;
      if (isChosen) button.closest('details')?.setAttribute('open', '');
    }
  }
}
